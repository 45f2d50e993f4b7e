"""Check: whether a scenario can work with the pieces it names, before anything is run.

A misspelt checker, a tool that was renamed or a check that cannot fail would otherwise pass in silence for as long as
the agent behaves. So names are looked up, arguments held against signatures, every constraint's examples executed, and
every other piece called once.
"""

from __future__ import annotations

from pathlib import Path

from fuzzturn.check.arguments import misfits
from fuzzturn.check.case import Case, Checked, with_world
from fuzzturn.check.examples import unfailing, verdicts
from fuzzturn.check.leaks import leaks
from fuzzturn.check.names import tools, unknown_names
from fuzzturn.check.trying import faults
from fuzzturn.document import load
from fuzzturn.document.place import in_file_order
from fuzzturn.errors import InputError
from fuzzturn.registry import Registry
from fuzzturn.scenario_file import load_scenario

__all__ = ["Checked", "check_scenario"]


def check_scenario(path: Path, registry: Registry) -> Checked:
    """Everything that can be said about a scenario file without an agent. An unreadable file is in `errors` too.

    The environment is built once, with seed 0; checkers, milestones, invariants and commitment rules are executed on
    what it shows then.
    """
    try:
        scenario, document = load_scenario(path), load(path)
    except InputError as error:
        return Checked(list(error.problems), [])
    case, unbuilt = with_world(Case(scenario=scenario, document=document, registry=registry))
    rules = (unknown_names, misfits, tools, verdicts, faults)
    errors = [*unbuilt, *(problem for rule in rules for problem in rule(case))]
    return Checked(in_file_order(errors), in_file_order([*unfailing(case), *leaks(case)]))
