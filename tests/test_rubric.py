"""Frozen anchors in memory."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from fuzzturn.rubric import ANCHORS, Rubric

_DATA: dict[str, Any] = {
    "schema": 1,
    "rubric_id": "some-rubric-v1",
    "frozen_on": "2026-03-02",
    "scale": {anchor: f"what {anchor} means" for anchor in ANCHORS},
}


def test_equal_rubrics_have_equal_digests_whatever_the_order_of_their_anchors() -> None:
    backwards = _DATA | {"scale": dict(reversed(_DATA["scale"].items()))}
    assert Rubric(**_DATA).digest == Rubric(**backwards).digest


@pytest.mark.parametrize(
    "change",
    [
        {"rubric_id": "some-rubric-v2"},
        {"frozen_on": "2026-03-03"},
        {"scale": _DATA["scale"] | {"2": "What 2 means"}},
    ],
)
def test_a_change_of_id_date_or_anchor_changes_the_digest(change: dict[str, Any]) -> None:
    assert Rubric(**(_DATA | change)).digest != Rubric(**_DATA).digest


def test_anchors_come_from_four_down_to_nought() -> None:
    assert [score for score, _ in Rubric(**_DATA).anchors()] == [4, 3, 2, 1, 0]
    assert dict(Rubric(**_DATA).anchors())[3] == "what 3 means"


def test_a_rubric_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        Rubric(**_DATA).frozen_on = "2026-03-03"


@pytest.mark.parametrize("change", [{"frozen_on": "March"}, {"rubric_id": "A b"}, {"scale": {"5": "x"}}, {"extra": 1}])
def test_a_rubric_takes_nothing_of_another_shape(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Rubric(**(_DATA | change))
