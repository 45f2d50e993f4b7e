"""My agent in pytest: the script as written, and drawn variations of it. Run `pytest` in the project's folder."""

from __future__ import annotations

from hypothesis import given, settings

from fuzzturn import Variant, play, variants

AGENT = "agents/my_agent.py:build"


def test_the_script_as_written_goes_well() -> None:
    trial = play("lisbon_offsite", agent=AGENT)
    assert trial.failures == ()
    assert trial.measured.goal_reached


@settings(max_examples=20, deadline=None)  # an agent takes as long as it takes
@given(variants("lisbon_offsite"))
def test_no_variation_makes_it_break_a_constraint(variant: Variant) -> None:
    assert play(variant, agent=AGENT).failures == ()
