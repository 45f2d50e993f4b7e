"""Project: the folder fuzzturn works in, its options, and everything in it that has a name.

A project is the nearest parent folder with `[tool.fuzzturn]` in pyproject.toml, or with fuzzturn.toml. What it does
not have itself, the starter that comes with fuzzturn has: the same folders with one worked example.
"""

from __future__ import annotations

from fuzzturn.project.content import starter_root
from fuzzturn.project.lookup import Project, find_project
from fuzzturn.project.settings import OPTIONS

__all__ = ["OPTIONS", "Project", "find_project", "starter_root"]
