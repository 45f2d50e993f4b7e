"""Origins: whether the scenario that an entry was found in still says what it said."""

from __future__ import annotations

from dataclasses import dataclass, field

from fuzzturn.corpus import Entry, script_digest
from fuzzturn.errors import FuzzturnError
from fuzzturn.project import Project
from fuzzturn.scenario_file import load_scenario

__all__ = ["Origins"]


@dataclass(frozen=True)
class Origins:
    """The scenarios of a project, each read once."""

    project: Project
    _digests: dict[str, str | None] = field(default_factory=dict)

    def changed(self, entry: Entry) -> bool | None:
        """None = not known: the entry does not say what it came from, or its scenario cannot be read here."""
        name, then = entry.provenance.scenario, entry.provenance.scenario_digest
        if then is None:
            return None
        if name not in self._digests:
            self._digests[name] = self._digest(name)
        now = self._digests[name]
        return None if now is None else now != then

    def _digest(self, name: str) -> str | None:
        try:
            return script_digest(load_scenario(self.project.find_scenario(name)))
        except FuzzturnError:  # `fuzzturn check` says what is wrong with it
            return None
