"""Law: one changed letter anywhere in a frozen rubric is refused."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzzturn.errors import InputError
from fuzzturn.rubric_file import LOCK, load_lock, load_rubric, verify

_FOLDER = Path(__file__).parents[2] / "rubrics"
_TEXT = (_FOLDER / "orbit-turn-quality-v3.json").read_text()
_LETTERS = [index for index, character in enumerate(_TEXT) if character.isalnum()]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # the file is written anew each time
@given(st.sampled_from(_LETTERS), st.sampled_from(string.ascii_letters + string.digits))
def test_one_changed_letter_anywhere_in_a_rubric_is_refused(tmp_path: Path, place: int, letter: str) -> None:
    changed = _TEXT[:place] + letter + _TEXT[place + 1 :]
    file = tmp_path / "orbit-turn-quality-v3.json"
    file.write_text(changed)
    lock = load_lock(_FOLDER / LOCK)
    if changed == _TEXT:
        assert verify(load_rubric(file), lock).rubric_id == "orbit-turn-quality-v3"
    else:
        with pytest.raises(InputError):
            verify(load_rubric(file), lock)
