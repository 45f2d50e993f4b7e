"""Arguments: whether the `args` of checkers and milestones are those that the functions take, in name and in type."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AnySet
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError

from fuzzturn.check.case import Case
from fuzzturn.document import Address, Document, shown
from fuzzturn.errors import Problem, closest
from fuzzturn.registry import Registered
from fuzzturn.scenario import Constraint

__all__ = ["misfits", "misfits_of"]

_WORDS = {float: "a number", int: "a whole number", str: "a text", bool: "true or false", NoneType: "null"}


def misfits(case: Case) -> Iterator[Problem]:
    """Arguments that a checker or milestone does not take, misses, or takes as another type."""
    for at, constraint, piece in case.constraints():
        yield from misfits_of(case.document, at, piece, constraint.args, given_by_port=2)
        yield from _without_excluding(case, at, constraint, piece)
    for at, milestone, piece in case.milestones():
        yield from misfits_of(case.document, at, piece, milestone.args, given_by_port=1)
    for index, constraint in enumerate(case.scenario.constraints):
        if (when := constraint.when) is not None:
            condition = case.piece("guard", when.check) or case.piece("milestone", when.check)
            if condition is not None:
                at = ("constraints", index, "when")
                yield from misfits_of(case.document, at, condition, when.args, given_by_port=1)


def _without_excluding(case: Case, at: Address, constraint: Constraint, piece: Registered) -> Iterator[Problem]:
    """A checker that cannot leave out the part of its constraint which another one has taken over."""
    root = case.scenario.root(constraint.id)
    parts = [
        other.id
        for other in case.scenario.constraints
        if other.id != constraint.id and case.scenario.root(other.id) == root
        if other.supersedes and other.supersedes.args
    ]
    takes = inspect.signature(piece.function).parameters.values()
    if parts and not any(p.name == "excluding" or p.kind is p.VAR_KEYWORD for p in takes):
        what = f"checker {piece.tag.name!r} takes no argument 'excluding', and {parts[0]!r} supersedes a part of it"
        yield case.document.problem(
            (*at, "checker"), what, "a checker with excluding: a list of such parts as {leg: return}"
        )


def misfits_of(
    document: Document, at: Address, piece: Registered, args: Mapping[str, Any], *, given_by_port: int
) -> Iterator[Problem]:
    """The same for one piece; the port itself gives the first `given_by_port` parameters."""
    own = list(inspect.signature(piece.function).parameters.values())[given_by_port:]
    named = [p for p in own if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)]
    called, at = f"{piece.tag.kind} {piece.tag.name!r}", (*at, "args")
    known = [p.name for p in named]
    if not any(p.kind is p.VAR_KEYWORD for p in own):
        for name in (name for name in args if name not in known):
            what = f"{called} takes no argument {name!r}"
            yield document.problem((*at, name), what, closest(name, known), key=True)
    for name in (p.name for p in named if p.default is p.empty and p.name not in args):
        yield document.problem(at, f"{called} needs the argument {name!r}", f"args: {{{name}: …}}")
    for name, annotation in _annotations(piece).items():
        if name in known and name in args and not _fits(args[name], annotation):
            what = f"{name!r} is {shown(args[name])}"
            yield document.problem((*at, name), what, f"{called} takes {_words(annotation)}")


def _annotations(piece: Registered) -> Mapping[str, Any]:
    """The types of the parameters; none where an annotation names what only a type checker knows."""
    try:
        return get_type_hints(piece.function)
    except (NameError, AttributeError, TypeError, SyntaxError):
        return {}


def _fits(value: Any, annotation: Any) -> bool:
    """As JSON, in which a list may be a tuple or a set. What no adapter exists for fits: nobody can say."""
    try:
        TypeAdapter(annotation).validate_json(json.dumps(value), strict=True)
    except PydanticUserError:
        return True
    except ValidationError:
        return False
    return True


def _words(annotation: Any) -> str:
    origin = get_origin(annotation)
    if origin is Literal:
        return " or ".join(map(repr, get_args(annotation)))
    if origin in (Union, UnionType):
        return " or ".join(map(_words, get_args(annotation)))
    bare = origin or annotation
    if bare in _WORDS or not isinstance(bare, type):
        return _WORDS.get(bare, str(annotation))
    if issubclass(bare, Mapping):
        return "a mapping"
    return "a list" if issubclass(bare, Sequence | AnySet) else bare.__name__
