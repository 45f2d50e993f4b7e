"""Corpus: one shrunk finding as one YAML file that replays without Hypothesis, strategies or the scenario file.

    entry, pieces         what a file says; the registered names that it needs
    load_entry            reading: strict, within limits, held against itself     rules, limits, versions
    save_entry            writing: fixed key order; what was read is written back to the byte
    amend                 one line edited, the rest untouched
    meet, keep_entry      a finding that is found again: new, known, or shorter than before
    twins                 entries that say the same in two files

One file a finding, no index and no counter that two branches share: what each adds merges without a conflict.
"""

from __future__ import annotations

from fuzzturn.corpus.amending import amend
from fuzzturn.corpus.entry import Entry, FingerprintNote, Note, Past, Provenance, RateNote
from fuzzturn.corpus.keeping import Kept, keep_entry, put_in_place
from fuzzturn.corpus.meeting import meet
from fuzzturn.corpus.migrating import migrate
from fuzzturn.corpus.pieces import as_kept, gone_pieces, pieces_of, welcome
from fuzzturn.corpus.reading import entry_files, load_entry, parse_entry
from fuzzturn.corpus.twins import Twin, twins
from fuzzturn.corpus.writing import entry_path, save_entry, write_entry

__all__ = [
    "Entry", "FingerprintNote", "Kept", "Note", "Past", "Provenance", "RateNote", "Twin", "amend", "as_kept",
    "entry_files", "entry_path", "gone_pieces", "keep_entry", "load_entry", "meet", "migrate", "parse_entry",
    "pieces_of", "put_in_place", "save_entry", "twins", "welcome", "write_entry",
]  # fmt: skip
