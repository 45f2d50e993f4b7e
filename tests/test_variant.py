"""Variant: what each kind of edit does to a small script, and what a damaged edit is told."""

import pytest

from fuzzturn.errors import InputError
from fuzzturn.scenario import Scenario
from fuzzturn.tokens import text_tokens
from fuzzturn.variant import (
    END,
    PAD_TOKENS_MIN,
    Drop,
    Edit,
    Insert,
    Move,
    Pad,
    Variant,
    edit_from_json,
    edit_to_json,
    filler,
    said_tokens,
    spoken_key,
    with_tokens,
)

SCRIPT = Scenario.model_validate(
    {
        "schema": 1,
        "scenario": "trip",
        "title": "A trip",
        "environment": "none",
        "goal": {"says": "a trip", "milestones": [{"id": "booked", "check": "booked"}]},
        "constraints": [{"id": "limit", "checker": "no_more_than", "statement": "Not over 450."}],
        "turns": [
            {"id": "ask", "user": "A trip, please."},
            {"id": "limit", "user": "Not over 450.", "states": ["limit"]},
            {"id": "chat", "user": "Nice weather."},
            {"id": "hotel", "user": "And a hotel.", "after": ["ask"]},
            {"id": "book", "user": "Book it.", "after": ["hotel"]},
            {"id": "bye", "user": "Bye."},
        ],
        "assertions": [{"turn": "hotel", "must_not_call": ["cancel"]}],
    },
    strict=False,
)


def _ids(*edits: Edit) -> list[str]:
    return [line.id for line in Variant(SCRIPT, edits).spoken.turns]


def _move(anchor: str, offset: int) -> Move:
    return Move(operator="m", anchor=anchor, offset=offset)


def _drop(anchor: str) -> Drop:
    return Drop(operator="d", anchor=anchor)


def _pad(anchor: str, tokens: int | None = 50) -> Pad:
    return Pad(operator="p", anchor=anchor, tokens=tokens, to=None if tokens else "before")


def _side(anchor: str, *mentions: str) -> Insert:
    return Insert(operator="i", anchor=anchor, name="side", user="By the way?", mentions=mentions)


def test_without_edits_the_script_itself_is_spoken() -> None:
    assert Variant(SCRIPT).spoken == SCRIPT


def test_dropping_a_turn_drops_what_makes_no_sense_without_it() -> None:
    assert _ids(_drop("ask")) == ["limit", "chat", "bye"]


def test_a_dropped_turn_takes_its_assertion_along() -> None:
    assert Variant(SCRIPT, (_drop("hotel"),)).spoken.assertions == ()


def test_a_move_by_two_passes_two_turns_in_either_direction() -> None:
    assert _ids(_move("limit", 2)) == ["ask", "chat", "hotel", "limit", "book", "bye"]
    assert _ids(_move("chat", -2)) == ["chat", "ask", "limit", "hotel", "book", "bye"]


def test_a_move_stops_at_what_the_turn_needs() -> None:
    assert _ids(_move("hotel", -3)) == ["ask", "hotel", "limit", "chat", "book", "bye"]


def test_a_move_stops_at_what_needs_the_turn_and_drags_nothing_along() -> None:
    assert _ids(_move("hotel", 2)) == ["ask", "limit", "chat", "hotel", "book", "bye"]
    assert _ids(_move("ask", 5)) == ["limit", "chat", "ask", "hotel", "book", "bye"]


def test_a_turn_that_moves_later_is_not_pulled_along_by_one_that_needs_it_and_moves_earlier() -> None:
    assert _ids(_move("hotel", 1), _move("book", -4)) == _ids()


def test_places_of_a_move_count_dropped_turns_so_that_dropping_reorders_nothing() -> None:
    assert _ids(_move("limit", 1), _drop("chat")) == ["ask", "limit", "hotel", "book", "bye"]


def test_of_two_moves_of_a_turn_the_last_counts() -> None:
    assert _ids(_move("limit", 2), _move("limit", 1)) == _ids(_move("limit", 1))


def test_extra_turns_stand_before_their_anchor_in_the_order_of_the_edits_and_travel_with_it() -> None:
    assert _ids(_side("limit"), _pad("limit"), _move("limit", 1)) == [
        *("ask", "chat", "side@limit", "pad@limit", "limit", "hotel", "book", "bye")
    ]


def test_the_end_is_an_anchor_too() -> None:
    assert _ids(_pad(END)) == ["ask", "limit", "chat", "hotel", "book", "bye", "pad@end"]


def test_an_edit_at_a_turn_that_is_gone_does_nothing() -> None:
    assert Variant(SCRIPT, (_drop("chat"), _pad("chat"), _side("chat", "yes"), _move("chat", 1))).spoken.assertions == (
        SCRIPT.assertions
    )
    assert _ids(_drop("chat"), _pad("chat"), _side("chat", "yes"), _move("chat", 1)) == _ids(_drop("chat"))


def test_an_inserted_turn_is_no_anchor() -> None:
    extra = Variant(SCRIPT, (_pad("chat"), _side("pad@chat", "yes"))).spoken
    assert [line.id for line in extra.turns] == _ids(_pad("chat"))
    assert extra.assertions == SCRIPT.assertions


def test_an_insert_that_must_be_mentioned_brings_its_assertion() -> None:
    spoken = Variant(SCRIPT, (_side("book", "CX-402"),)).spoken
    assert [(a.turn, a.must_mention_any) for a in spoken.assertions[1:]] == [("side@book", ("CX-402",))]


def test_the_turns_as_spoken_can_be_varied_again_without_an_id_twice() -> None:
    once = Variant(SCRIPT, (_pad("book"), _pad("book", 60))).spoken
    again = Variant(once, (_drop("pad@book"), _pad("book", 70))).spoken
    assert [line.id for line in again.turns][-4:] == ["pad@book.2", "pad@book.3", "book", "bye"]


def test_inserted_names_the_edit_behind_each_extra_turn() -> None:
    pad, side = _pad("book"), _side("ask")
    assert Variant(SCRIPT, (pad, side)).inserted == {"pad@book": pad, "side@ask": side}


def test_two_variants_that_say_the_same_have_one_key_whatever_made_them() -> None:
    other = Pad(operator="another", anchor="book", tokens=50)
    assert Variant(SCRIPT, (_pad("book"),)).key == Variant(SCRIPT, (other, _pad("nowhere"))).key


def test_the_key_of_concrete_edits_is_that_of_the_turns_as_spoken() -> None:
    variant = Variant(SCRIPT, (_pad("book"),))
    assert variant.key == spoken_key(variant.spoken)


def test_a_pad_without_a_size_has_another_key_than_the_text_that_stands_in_for_it() -> None:
    assert Variant(SCRIPT, (_pad("book", None),)).key != Variant(SCRIPT, (_pad("book", PAD_TOKENS_MIN),)).key


def test_a_pad_without_a_size_does_not_count_where_its_anchor_is_gone() -> None:
    assert Variant(SCRIPT, (_drop("chat"), _pad("chat", None))).key == Variant(SCRIPT, (_drop("chat"),)).key


def test_giving_a_pad_its_size_takes_away_the_symbol() -> None:
    assert with_tokens(_pad("book", None), 300) == _pad("book", 300)
    assert with_tokens(_pad("book", None), 1).tokens == PAD_TOKENS_MIN


def test_said_tokens_grow_by_the_size_of_a_pad() -> None:
    assert said_tokens(Variant(SCRIPT, (_pad("book", 321),)).spoken) == said_tokens(SCRIPT) + 321


def test_the_shortest_filler_is_as_long_as_it_must_be() -> None:
    assert text_tokens(filler(1)) == PAD_TOKENS_MIN


@pytest.mark.parametrize(
    "data, told",
    [
        ({"kind": "shout", "operator": "m", "anchor": "ask"}, "insert, pad, drop, move"),
        ({"operator": "m", "anchor": "ask"}, "insert, pad, drop, move"),
        ({"kind": "move", "operator": "m", "anchor": "ask"}, "operator, anchor, offset"),
        ({"kind": "drop", "operator": "m", "anchor": "ask", "offset": 1}, "operator, anchor"),
        ({"kind": "pad"}, "operator, anchor, tokens (optional), to (optional)"),
    ],
)
def test_a_damaged_edit_is_told_what_would_be_accepted(data: dict[str, object], told: str) -> None:
    with pytest.raises(InputError) as refused:
        edit_from_json(data)
    assert told in str(refused.value)
    assert repr(data) in str(refused.value)


def test_an_edit_in_json_leaves_out_what_is_not_set() -> None:
    assert edit_to_json(_move("ask", 0)) == {"kind": "move", "operator": "m", "anchor": "ask", "offset": 0}
    assert edit_to_json(_drop("ask")) == {"kind": "drop", "operator": "d", "anchor": "ask"}
