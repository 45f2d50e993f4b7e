"""CI: results in the forms that continuous integration reads: JUnit XML, one event a line, GitHub's annotations.

Writers only. They know nothing of campaigns or replays: whoever has a result says what it comes to.
"""

from __future__ import annotations

from fuzzturn.ci.events import Events
from fuzzturn.ci.github import annotation, append_summary, from_workspace, summary_table
from fuzzturn.ci.junit import Case, junit
from fuzzturn.ci.places import line_of

__all__ = ["Case", "Events", "annotation", "append_summary", "from_workspace", "junit", "line_of", "summary_table"]
