"""fuzzturn from Python: what a user's own tests stand on."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

import fuzzturn
from fuzzturn.errors import AgentError

AGENT = """
from fuzzturn import Reply
from words import ANSWER


class Rash:
    def __init__(self, environment):
        self.environment = environment

    def reply(self, message):
        if "confirm everything" in message:
            trip = {"destination": "Lisbon", "date": "2026-05-12", "direction": "outbound"}
            rows = self.environment.call("search_flights", **trip)["flights"]
            flight = next(row["flight"] for row in rows if row["fare_eur"] == 610)
            leg = {"flight": flight, "direction": "outbound", "fare_eur": 610}
            self.environment.call("hold_booking", kind="flights", legs=[leg])
        return Reply(ANSWER)


def build(environment, *, mood="calm"):
    return Rash(environment)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose file names an agent of two modules."""
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "rash.py").write_text(AGENT)
    (tmp_path / "agents" / "words.py").write_text("ANSWER = 'CX-402'\n")
    (tmp_path / "fuzzturn.toml").write_text('agent = "agents/rash.py:build"\nagent_option = ["mood=calm"]\n')
    (tmp_path / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "deep")
    return tmp_path


def test_play_plays_the_project_s_own_agent_from_any_folder_of_it(project: Path) -> None:
    trial = fuzzturn.play("lisbon_offsite")
    assert [failure.constraint for failure in trial.failures if failure.constraint] == ["leg_ceiling"]
    assert "no_leg_over" in repr(trial)


def test_play_takes_another_agent_by_name_or_as_a_function(project: Path) -> None:
    assert not fuzzturn.play("lisbon_offsite", agent="orbit").failures

    class Silent:
        def __init__(self, environment: object) -> None: ...

        def reply(self, message: str) -> fuzzturn.Reply:
            return fuzzturn.Reply("CX-402")

    trial = fuzzturn.play("lisbon_offsite", agent=Silent)
    assert not trial.measured.goal_reached


def test_a_test_does_not_pass_because_the_agent_raised() -> None:
    class Broken:
        def __init__(self, environment: object) -> None: ...

        def reply(self, message: str) -> fuzzturn.Reply:
            raise OSError("no route")

    with pytest.raises(AgentError, match="no route"):
        fuzzturn.play("lisbon_offsite", agent=Broken)


@settings(max_examples=15, deadline=None, database=None)
@given(fuzzturn.variants("lisbon_offsite"))
def test_variants_can_be_drawn_in_a_plain_hypothesis_test(variant: fuzzturn.Variant) -> None:
    trial = fuzzturn.play(variant, agent="orbit", options={"compaction": "none"})
    assert not trial.failures
