"""People's labels: read from CSV and YAML with every wrong row at its place, and held against judge and checkers."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answers import always_4, answer, asked, oracle
from fuzzturn.errors import InputError
from fuzzturn.stress.figures import kappa
from fuzzturn.stress.labels import Opinion, agreement, agreement_json, load_labels

KNOWN = ("trip.cap.0.violating", "trip.cap.0.legal", "trip.cap.1.violating", "trip.cap.1.legal")


def wrote(tmp_path: Path, name: str, text: str) -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def complaints(path: Path) -> list[str]:
    with pytest.raises(InputError) as caught:
        load_labels(path, KNOWN)
    assert all(problem.file == str(path) for problem in caught.value.problems)
    return [str(problem).removeprefix(f"{path}:") for problem in caught.value.problems]


@pytest.mark.parametrize(
    "name, text",
    [
        ("l.csv", 'item,label\ntrip.cap.0.violating,violating\n\ntrip.cap.0.legal, legal\r\n"trip.cap.1.legal",3\n'),
        ("l.yaml", "trip.cap.0.violating: violating\ntrip.cap.0.legal: legal\ntrip.cap.1.legal: 3\n"),
    ],
)
def test_labels_are_words_or_scores(tmp_path: Path, name: str, text: str) -> None:
    expected = {"trip.cap.0.violating": "violating", "trip.cap.0.legal": "legal", "trip.cap.1.legal": 3}
    assert load_labels(wrote(tmp_path, name, text), KNOWN) == expected


def test_every_wrong_row_of_a_csv_file_is_told_at_its_place(tmp_path: Path) -> None:
    text = (
        "item,label\ntrip.cap.0.violatin,violating\ntrip.cap.0.legal,fine\ntrip.cap.1.legal,5\ntrip.cap.1.legal\n"
        '"trip.cap.1.legal", 3.5\ntrip.cap.1.legal,4\ntrip.cap.1.legal,4\n"trip,legal\n'
    )
    said = complaints(wrote(tmp_path, "l.csv", text))
    assert [line.split(" ")[0] for line in said] == ["2:1:", "3:18:", "4:18:", "5:1:", "6:21:", "8:1:", "9:1:"]
    assert "did you mean 'trip.cap.0.violating'?" in said[0]
    assert "'fine' is no label; violating, legal, or a score 0, 1, 2, 3 or 4" in said[1]
    assert "has a label already" in said[5]


def test_every_wrong_line_of_a_yaml_file_is_told_at_its_place(tmp_path: Path) -> None:
    text = "trip.cap.0.legal: fine\ntrip.cap.1.legal: 5\ntrip.cap.9.legal: legal\ntrip.cap.0.violating: true\n"
    said = complaints(wrote(tmp_path, "l.yaml", text))
    assert [line.split(" ")[0] for line in said] == ["1:19:", "2:19:", "3:1:", "4:23:"]


@pytest.mark.parametrize(
    "name, text, said",
    [
        ("l.csv", "", "the file is empty"),
        ("l.csv", "trip.cap.0.legal,legal\n", "the head is"),
        ("l.txt", "item,label\n", "no file of labels"),
        ("l.yaml", "- legal\n", "no mapping of items to labels"),
    ],
)
def test_what_is_no_file_of_labels_is_refused(tmp_path: Path, name: str, text: str, said: str) -> None:
    assert said in "".join(complaints(wrote(tmp_path, name, text)))


@given(st.text(alphabet='ab,"\n\r .0\u2028', max_size=60), st.sampled_from(["l.csv", "l.yaml"]))
def test_no_text_is_anything_but_labels_or_an_input_error(
    tmp_path_factory: pytest.TempPathFactory, text: str, name: str
) -> None:
    path = wrote(tmp_path_factory.getbasetemp(), name, text)
    try:
        labels = dict(load_labels(path, KNOWN))
    except InputError as error:
        labels, problems = {}, error.problems
    else:
        problems = ()
    assert labels == {}
    assert all(problem.file == str(path) for problem in problems)


def test_judge_and_checkers_are_held_against_people() -> None:
    labels: dict[str, Opinion] = {"trip.cap.0.violating": "violating", "trip.cap.0.legal": 4, "trip.cap.1.violating": 0,
              "trip.cap.1.legal": "violating"}  # fmt: skip
    found = agreement(labels, asked(oracle, 2))
    assert (found.labelled, found.n, found.scored) == (4, 4, 2)
    assert found.confusion == {"violating/violating": 2, "violating/legal": 1, "legal/violating": 0, "legal/legal": 1}
    assert found.kappa == found.checkers_kappa == 0.5
    assert found.weighted_kappa == 1.0
    assert found.scores == {"0/0": 1, "4/4": 1}
    assert agreement(labels, asked(always_4, 2)).kappa == 0.0
    assert agreement_json(found)["kappa"] == 0.5


def test_an_item_on_which_the_judge_has_no_majority_is_in_no_figure() -> None:
    given_ = [answer(score=4), answer(score=0, sample=1), answer(1, score=None)]
    found = agreement({"trip.cap.0.violating": 0, "trip.cap.1.violating": 0}, given_)
    assert (found.labelled, found.n, found.kappa, found.weighted_kappa) == (2, 0, None, None)


def test_weighted_kappa_forgives_what_is_near() -> None:
    near, far = {(0, 0): 5, (4, 3): 5}, {(0, 0): 5, (4, 0): 5}
    assert kappa(near, furthest=4) == pytest.approx(1 - 5 * 1 * 10 / (5 * 5 * 9 + 5 * 5 * 16 + 5 * 5 * 1), abs=6e-5)
    assert kappa(far, furthest=4) == 0.0
