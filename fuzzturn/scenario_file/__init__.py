"""Scenario file: a scenario as people write it, and the way between that and `fuzzturn.scenario`.

The file is shorter than the model: a turn is named by number or by id, a constraint by its turn or the turn by its
constraints, a statement by `{constraint_id}`. After loading one form of each is left.
"""

from __future__ import annotations

from fuzzturn.scenario_file.loading import load_scenario, parse_scenario
from fuzzturn.scenario_file.writing import scenario_to_data

__all__ = ["load_scenario", "parse_scenario", "scenario_to_data"]
