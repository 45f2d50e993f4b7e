"""Writing: plain data as YAML that a person can read and that `parse` reads back as equal data.

Always PyYAML's own emitter and never libyaml's, so that a file comes out the same on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import yaml

from fuzzturn.document.place import MAX_BYTES, MAX_DEPTH, Address
from fuzzturn.document.scalars import MAX_DIGITS, plain
from fuzzturn.errors import InputError

__all__ = ["dump"]

_WIDTH = 100
_ONLY_ESCAPED = "\x85\u2028\u2029"  # `parse` refuses them raw, the emitter would write them so


def dump(data: object) -> str:
    """YAML in block style, keys in the order given, long texts folded at about 100 columns, no aliases.

    Lists come back as tuples. Raises InputError, naming the place, for what is not JSON-able data: other types,
    keys that are no texts, numbers that are not finite, lone surrogates; and for more than 40 levels or 4 MiB,
    which could be written but not read.
    """
    text: str = yaml.dump(
        _checked(data, ()), Dumper=_Emitter, sort_keys=False, allow_unicode=True, width=_WIDTH,
        default_flow_style=False,
    )  # fmt: skip
    if (size := len(text.encode())) > MAX_BYTES:
        raise InputError(f"the data makes a file of {size} bytes; at most {MAX_BYTES} can be read back")
    return text


class _Emitter(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML's signature
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002 - as above
        super().increase_indent(flow, False)  # list items stand deeper than their key

    def text(self, text: str) -> yaml.ScalarNode:
        return self.represent_scalar("tag:yaml.org,2002:str", text, style=_style(text))


_Emitter.add_representer(str, _Emitter.text)


def _style(text: str) -> str | None:
    """None = unquoted where the emitter finds that possible."""
    if any(character in text for character in _ONLY_ESCAPED):
        return '"'
    if "\n" in text:
        return "|"
    return None if plain(text) == text else "'"


def _checked(data: object, at: Address) -> Any:
    """`data` in the emitter's own types, or InputError."""
    if type(data) is str:
        return _checked_text(data, at)
    if data is None or type(data) in (bool, int, float):
        return _checked_number(data, at)
    if len(at) >= MAX_DEPTH:
        raise _refusal("data", f"nested deeper than {MAX_DEPTH} levels", at[:3])
    if isinstance(data, list | tuple):
        return [_checked(item, (*at, index)) for index, item in enumerate(data)]
    if isinstance(data, Mapping):
        return {_checked_key(key, at): _checked(value, (*at, key)) for key, value in data.items()}
    raise _refusal(repr(data), "not JSON-able data", at)


def _checked_number(number: Any, at: Address) -> Any:
    if isinstance(number, float) and not math.isfinite(number):
        raise _refusal(repr(number), "not a finite number", at)
    if type(number) is int and abs(number) >= 10 ** (MAX_DIGITS - 1):
        raise _refusal("a number", f"longer than {MAX_DIGITS} digits", at)
    return number


def _checked_key(key: object, at: Address) -> str:
    if not isinstance(key, str):
        raise _refusal(f"the key {key!r}", "not a text", at)
    return _checked_text(key, at)


def _checked_text(text: str, at: Address) -> str:
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise _refusal(repr(text[:60]), "a text with half a surrogate pair, which UTF-8 cannot hold", at)
    return text


def _refusal(what: str, why: str, at: Address) -> InputError:
    place = ".".join(str(step) for step in at)
    return InputError(f"{what}{f' at {place}' if place else ''} is {why} and cannot be written as YAML")
