"""Script: the scenario that all agents of this world are spoken to."""

from __future__ import annotations

from pathlib import Path

from fuzzturn.scenario_file import load_scenario

__all__ = ["ROOM"]

ROOM = load_scenario(Path(__file__).with_name("reading_room.yaml"))
"""A reading room is furnished: everything that the operators ask for is in it."""
