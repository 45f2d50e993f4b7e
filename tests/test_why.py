"""Visibility and mechanism: read off what the agent's calls really saw."""

from __future__ import annotations

from typing import Any

import pytest

import kit
from fuzzturn.finding import Failure
from fuzzturn.ledger import Ledger, opening, speak
from fuzzturn.measure import measure
from fuzzturn.scenario import Replaced, Scenario
from fuzzturn.session import Compaction, ModelCall, Session, Turn
from fuzzturn.visibility import visibility
from fuzzturn.why import loss

SCRIPT = kit.scenario()
CAP = SCRIPT.constraint("cap")


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def test_visibility_tells_verbatim_summary_stale_and_absent_apart() -> None:
    summary = "The user wants a lamp. Cap: 50."
    assert visibility(CAP, None, (), Ledger()) == "unknown"
    assert visibility(CAP, [user(f"Look. {kit.CAP}")], (), Ledger()) == "verbatim"
    assert visibility(CAP, [user(summary)], (summary,), Ledger()) == "in_summary"
    assert visibility(CAP, [user(f"Summary: {kit.CAP}")], (f"Summary: {kit.CAP}",), Ledger()) == "in_summary"
    assert visibility(CAP, [user("The lamp costs 500.")], ("The lamp costs 500.",), Ledger()) == "absent"
    assert visibility(CAP, [], (), Ledger()) == "absent"


def test_a_scripted_paraphrase_counts_as_the_statement_and_no_values_count_as_nothing() -> None:
    said = CAP.model_copy(update={"paraphrases": ("Fifty coins is the most.",)})
    assert visibility(said, [user("Fifty coins is the most.")], (), Ledger()) == "verbatim"
    assert visibility(said, [user("Fifty coins is the most.")], ("Fifty coins is the most.",), Ledger()) == "in_summary"
    bare = CAP.model_copy(update={"args": {}})
    assert visibility(bare, [user("The user wants a lamp.")], ("The user wants a lamp.",), Ledger()) == "absent"


def test_a_superseded_version_beside_the_newer_one_is_not_stale() -> None:
    newer = CAP.model_copy(update={"id": "more", "statement": "Make it 80.", "supersedes": Replaced(id="cap")})
    ledger = speak(opening(SCRIPT), SCRIPT, SCRIPT.line("cap"), 2)
    assert visibility(newer, [user(kit.CAP), user("Make it 80.")], (), ledger) == "verbatim"
    assert visibility(newer, [user(kit.CAP)], (), ledger) == "stale"
    assert visibility(newer, [user("nothing of it")], (), ledger) == "absent"


def test_an_escaped_statement_is_still_seen() -> None:
    odd = CAP.model_copy(update={"statement": 'Spend <= 50 & "no" more'})
    assert (
        visibility(odd, [user("<message>Spend &lt;= 50 &amp; &quot;no&quot;\n  more</message>")], (), Ledger())
        == "verbatim"
    )


def test_only_the_superseded_version_in_sight_is_stale() -> None:
    newer = {"id": "more", "checker": "under_cap", "args": {"cap": 80}, "statement": "Make it 80.", "supersedes": "cap"}
    turns = [
        {"id": "cap", "user": kit.CAP, "states": ("cap",)},
        {"id": "more", "user": "Make it 80.", "states": ("more",)},
    ]
    script = kit.scenario(turns, constraints=(SCRIPT.constraints[0].model_dump(by_alias=True), newer))
    ledger = opening(script)
    for n, line in enumerate(script.turns, start=1):
        ledger = speak(ledger, script, line, n)
    assert visibility(script.constraint("more"), [user(kit.CAP)], (), ledger) == "stale"


def session(*compactions: Compaction, seen: list[str]) -> Session:
    """cap, then a turn for each compaction with what its call saw, the last one buying."""
    turns = [Turn(n=1, id="cap", user=kit.CAP, events=(ModelCall([user(kit.CAP)]),), state={"bought": []})]
    for n, (compaction, text) in enumerate(zip(compactions, seen, strict=True), start=2):
        turns.append(
            Turn(n=n, id=f"t{n}", user="x", events=(compaction, ModelCall([user(text)])), state={"bought": []})
        )
    return Session(scenario="lamp", turns=tuple(turns), initial_state={"bought": []})


def lost(played: Session, visible: Any = "absent") -> tuple[str, int | None]:
    script: Scenario = SCRIPT
    measured = measure(script, played, kit.registry())
    failure = Failure(
        kind="violation", turn=len(played.turns), turn_id="x", checker="under_cap", detail="", constraint="cap",
        visibility=visible,
    )  # fmt: skip
    return loss(measured, failure)


READ = (user(kit.CAP),)


def test_lost_by_the_summariser_means_it_read_the_statement() -> None:
    assert lost(session(Compaction("p", 9, 5, READ, "lamp", READ), seen=["lamp"])) == ("lost_by_summariser", 2)


@pytest.mark.parametrize("read", [(), (user("something later"),)])
def test_never_reached_means_the_summariser_did_not_read_it(read: Any) -> None:
    assert lost(session(Compaction("p", 9, 5, READ, "lamp", read), seen=["lamp"])) == ("never_reached_summariser", 2)


def test_a_later_compaction_is_not_blamed_for_what_an_earlier_one_lost() -> None:
    first = Compaction("p", 9, 5, READ, "lamp", READ)
    second = Compaction("p", 9, 5, (user("lamp"),), "shop", ())
    assert lost(session(first, second, seen=["lamp", "shop"])) == ("lost_by_summariser", 2)


def test_a_constraint_that_survived_one_summary_is_lost_at_the_next() -> None:
    kept = f"Summary: {kit.CAP}"
    first = Compaction("p", 9, 5, READ, kept, READ)
    second = Compaction("p", 9, 5, (user(kept),), "lamp", (user(kept),))
    assert lost(session(first, second, seen=[kept, "lamp"])) == ("lost_by_summariser", 3)


def test_what_the_agent_does_not_tell_stays_unknown() -> None:
    assert lost(session(Compaction("p", 9, 5, READ, "lamp", None), seen=["lamp"])) == ("unknown", 2)
    assert lost(session(seen=[])) == ("unknown", None)
    assert lost(session(seen=[]), "unknown") == ("unknown", None)


@pytest.mark.parametrize(
    ("visible", "mechanism"),
    [("verbatim", "visible_ignored"), ("in_summary", "visible_ignored"), ("stale", "stale_version")],
)
def test_a_visible_constraint_was_ignored_and_an_old_version_is_stale(visible: Any, mechanism: str) -> None:
    assert lost(session(seen=[]), visible) == (mechanism, None)
