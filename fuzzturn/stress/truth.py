"""Truth: what the checkers say of the last turn of a session. It is never assumed, and None where they say nothing."""

from __future__ import annotations

from fuzzturn.measure import Measured
from fuzzturn.scenario import ExampleCall, Scenario
from fuzzturn.stress.item import Label

__all__ = ["example_calls", "label_of"]


def label_of(scenario: Scenario, constraint: str, measured: Measured) -> Label | None:
    """Whether the last turn breaks the constraint or another version of it.

    Legal where nothing of the rule binds any more as well. None where a checker had nothing to look at, or where only
    something else is broken.
    """
    root = scenario.root(constraint)
    last = measured.scores[-1].adherence
    if last.failed:
        return "violating" if any(scenario.root(check.constraint) == root for check in last.failed) else None
    family = [check for check in last.checks if scenario.root(check.constraint) == root]
    return "legal" if not family or any(check.result.exercised for check in family) else None


def example_calls(scenario: Scenario, constraint: str) -> tuple[ExampleCall, ...]:
    """Example calls of all versions of the rule, once each: what one of them forbids another allows."""
    root = scenario.root(constraint)
    family = [c for c in scenario.constraints if scenario.root(c.id) == root]
    calls = [call for c in family for call in (*c.examples.failing, *c.examples.passing)]
    return tuple(call for i, call in enumerate(calls) if call not in calls[:i])
