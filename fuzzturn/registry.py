"""Registry: the named pieces of a project. Decorators only tag a function; the project collects the tags.

The shape is pluggy's: no global table, so importing a file twice or loading two projects cannot mix them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from fuzzturn.errors import FuzzturnError, InputError, Problem, UnknownName, blamed

__all__ = ["Registered", "Registry", "Tag", "collect", "tagger"]

_F = TypeVar("_F", bound=Callable[..., Any])
_ATTRIBUTE = "__fuzzturn_tag__"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """What a decorator wrote on a function. `kind` is the decorator's name, `owner` None = nobody named."""

    kind: str
    name: str
    version: int = 1
    owner: str | None = None
    extra: tuple[tuple[str, str], ...] = ()
    """What only this kind of piece has: an operator's effect, a commitment rule's language."""

    def option(self, key: str) -> str | None:
        return dict(self.extra).get(key)


@dataclass(frozen=True, slots=True)
class Registered:
    """A tagged function together with the file that defines it."""

    tag: Tag
    function: Callable[..., Any]
    file: str

    def run(self, *args: Any, **options: Any) -> Any:
        """Call the function. Raises PortError with the place of the fault where the function raises."""
        try:
            return self.function(*args, **options)
        except FuzzturnError:
            raise
        except Exception as error:
            raise blamed(f"{self.tag.kind} {self.tag.name!r}", error) from error

    def digest(self) -> str:
        """First 16 hex of the sha256 of the defining file: notes in a corpus entry which code was meant."""
        return hashlib.sha256(Path(self.file).read_bytes()).hexdigest()[:16]


def tagger(kind: str, name: str, *, version: int = 1, owner: str | None = None, **extra: str) -> Callable[[_F], _F]:
    """A decorator that tags a function and returns it unchanged."""
    if not isinstance(name, str) or not name:
        raise InputError(f'@{kind} was given {name!r}; it takes a name, as in @{kind}("some_name")')
    tag = Tag(kind=kind, name=name, version=version, owner=owner, extra=tuple(sorted(extra.items())))

    def mark(function: _F) -> _F:
        setattr(function, _ATTRIBUTE, tag)
        return function

    return mark


def collect(module: ModuleType) -> Iterator[Registered]:
    """Every function that `module` itself defines and tags, once each, in order of definition."""
    for value in {id(value): value for value in vars(module).values()}.values():
        tag = getattr(value, _ATTRIBUTE, None)
        if isinstance(tag, Tag) and getattr(value, "__module__", None) == module.__name__:
            yield Registered(tag, value, module.__file__ or module.__name__)


class Registry:
    """All pieces by kind and name; frozen once built. A duplicate name is an error that names both files."""

    def __init__(self, pieces: Iterable[Registered] = (), *, fallback: Registry | None = None) -> None:
        self._pieces: dict[tuple[str, str], Registered] = {}
        self._fallback = fallback
        for piece in pieces:
            key = (piece.tag.kind, piece.tag.name)
            if (other := self._pieces.get(key)) is not None:
                clash = f"{piece.tag.kind} {piece.tag.name!r} is defined twice, in {other.file} and in {piece.file}"
                raise InputError(Problem(file=piece.file, what=clash, accepted="rename one of them"))
            self._pieces[key] = piece

    def get(self, kind: str, name: str) -> Registered:
        """The piece of that kind and name. Raises UnknownName with the closest match."""
        if (found := self._pieces.get((kind, name))) is not None:
            return found
        if self._fallback is not None and name in self._fallback.names(kind):
            return self._fallback.get(kind, name)
        raise UnknownName(kind, name, self.names(kind))

    def names(self, kind: str) -> tuple[str, ...]:
        own = {name for of_kind, name in self._pieces if of_kind == kind}
        return tuple(sorted(own | set(self._fallback.names(kind) if self._fallback else ())))

    def of_kind(self, kind: str) -> tuple[Registered, ...]:
        """Every piece of one kind, by name."""
        return tuple(self.get(kind, name) for name in self.names(kind))
