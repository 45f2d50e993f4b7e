"""Strictness: a document held against a pydantic model, its faults said in our words and at their places.

The accepted keys and the wording come from the model itself, so that a field added there is accepted here too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType, UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

from pydantic import BaseModel, StringConstraints, ValidationError
from pydantic.fields import FieldInfo

from fuzzturn.document.place import Address, Document
from fuzzturn.errors import Problem, closest

__all__ = ["complaints", "known_keys", "prune", "shown"]

Model: TypeAlias = type[BaseModel]
Extra: TypeAlias = Mapping[Model, tuple[str, ...]]
_LONGEST = 60


def known_keys(model: Model) -> dict[str, FieldInfo]:
    """The keys of a model as a file writes them, in the model's order."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def prune(
    document: Document, model: Model, extra: Extra = MappingProxyType({}), reserved: Extra = MappingProxyType({})
) -> tuple[Any, list[Problem]]:
    """The document's data without `x-*` keys, and a problem for each unknown key, which is left out as well.

    `extra`: the keys that the file's form of a model has beyond the model's own. `reserved`: keys that are kept, for
    the caller to refuse in its own words, and never proposed.
    """
    problems: list[Problem] = []

    def pruned(data: Any, annotation: Any, at: Address) -> Any:
        expected, _ = _bare(annotation)
        if isinstance(data, tuple) and get_origin(expected) is tuple:
            return tuple(pruned(item, get_args(expected)[0], (*at, index)) for index, item in enumerate(data))
        if not (isinstance(data, dict) and _is_model(expected)):
            return data
        fields = known_keys(expected)
        known = [*fields, *extra.get(expected, ())]
        kept = {*known, *reserved.get(expected, ())}
        problems.extend(_unknown(document, (*at, key), known) for key in data if key not in kept and key[:2] != "x-")
        inner = {key: field.annotation for key, field in fields.items()}
        return {key: pruned(value, inner.get(key, Any), (*at, key)) for key, value in data.items() if key in kept}

    return pruned(document.data, model, ()), problems


def complaints(
    error: ValidationError,
    model: Model,
    document: Document,
    patterns: Mapping[str, str],
    said: Collection[Address] = (),
) -> Iterator[Problem]:
    """What pydantic found, in our words, but for the addresses whose problem is `said` already.

    `patterns` says for each pattern of the model what it matches.
    """
    for found in error.errors(include_url=False, include_context=False):
        at: Address = tuple(found["loc"])
        if at in said or (found["type"] == "too_short" and found["input"]):
            continue  # pydantic counts valid entries only: the invalid ones are reported by themselves
        annotation, metadata = _at(model, at)
        if found["type"] == "extra_forbidden":
            yield _unknown(document, at, [*known_keys(_at(model, at[:-1])[0])])
        elif found["type"] == "missing":
            accepted = f"it takes {_accepted(annotation, metadata, patterns)}"
            yield document.problem(at[:-1], f"{_called(at)} is missing", accepted)
        else:
            accepted = f"accepted: {_accepted(annotation, metadata, patterns)}"
            if accepted.endswith("a text") and isinstance(found["input"], int | float):
                accepted += ", in quotes"
            yield document.problem(at, f"{_called(at)} is {shown(found['input'])}", accepted)


def shown(value: object) -> str:
    """A value as an error quotes it: short, and in the file's words rather than Python's."""
    if value is None or value in ("", ()):
        return "empty"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple | list):
        return "a list"
    if isinstance(value, Mapping):
        return "a mapping"
    quoted = repr(value)
    return quoted if len(quoted) <= _LONGEST else f"{quoted[:_LONGEST]}…"


def _unknown(document: Document, at: Address, known: list[str]) -> Problem:
    return document.problem(at, f"the key {at[-1]!r} is not known here", closest(str(at[-1]), known), key=True)


def _called(at: Address) -> str:
    if not at:
        return "the document"
    return repr(at[-1]) if isinstance(at[-1], str) else f"entry {at[-1] + 1} of {_called(at[:-1])}"


def _is_model(annotation: object) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _bare(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """The annotation without `| None` and Annotated, and the metadata of the latter."""
    if get_origin(annotation) is Annotated:
        inner, *metadata = get_args(annotation)
        bare, more = _bare(inner)
        told = [item.metadata if isinstance(item, FieldInfo) else [item] for item in metadata]
        return bare, (*(item for items in told for item in items), *more)
    if get_origin(annotation) in (Union, UnionType):
        return _bare(next(option for option in get_args(annotation) if option is not type(None)))
    return annotation, ()


def _at(model: Model, at: Address) -> tuple[Any, tuple[Any, ...]]:
    """The annotation and its metadata at an address; Any where the model does not say."""
    annotation: Any = model
    metadata: tuple[Any, ...] = ()
    for step in at:
        if _is_model(annotation):
            field = known_keys(annotation).get(str(step))
            annotation, metadata = (field.annotation, tuple(field.metadata)) if field else (Any, ())
        else:
            annotation = (get_args(annotation) or (Any,))[-1 if isinstance(step, str) else 0]
            metadata = ()
        annotation, more = _bare(annotation)
        metadata = (*metadata, *more)
    return annotation, metadata


def _accepted(annotation: Any, metadata: tuple[Any, ...], patterns: Mapping[str, str]) -> str:
    """What the model takes there."""
    if annotation is str:
        return _accepted_text(metadata, patterns)
    if annotation is int:
        lowest = next((item.ge for item in metadata if hasattr(item, "ge")), None)
        return "a whole number" if lowest is None else f"a whole number from {lowest}"
    if annotation is float:
        return "a number"
    if annotation is bool:
        return "true or false"
    if get_origin(annotation) is Literal:
        return " or ".join(str(option) for option in get_args(annotation))
    if get_origin(annotation) is tuple:
        return "a list with at least one entry" if any(hasattr(item, "min_length") for item in metadata) else "a list"
    return f"a mapping with {', '.join(known_keys(annotation))}" if _is_model(annotation) else "a mapping"


def _accepted_text(metadata: tuple[Any, ...], patterns: Mapping[str, str]) -> str:
    pattern = next((item.pattern for item in metadata if isinstance(item, StringConstraints) and item.pattern), None)
    return "a text" if pattern is None else patterns.get(str(pattern), f"a text that matches {pattern}")
