"""Corpus: one shrunk finding as one YAML file that replays without Hypothesis, strategies or the scenario file.

    entry, pieces         what a file says; the registered names that it needs
    carried               the model calls in it, which a replay without a model is given
    load_entry            reading: strict, within limits, held against itself     rules, limits, versions
    save_entry            writing: fixed key order; what was read is written back to the byte
    amend                 one line edited, the rest untouched
    meet, keep_entry      a finding that is found again: new, known, or shorter than before
    count_in              a run whose findings are in a corpus already
    twins                 entries that say the same in two files

One file a finding, no index and no counter that two branches share: what each adds merges without a conflict.
"""

from __future__ import annotations

from fuzzturn.corpus.amending import amend
from fuzzturn.corpus.carried import answers_of, notes_of
from fuzzturn.corpus.entry import CallNote, Entry, FingerprintNote, Note, Past, Provenance, RateNote
from fuzzturn.corpus.keeping import Kept, keep_entry, put_in_place
from fuzzturn.corpus.limits import calls_beyond
from fuzzturn.corpus.meeting import meet
from fuzzturn.corpus.migrating import migrate
from fuzzturn.corpus.pieces import as_kept, gone_pieces, pieces_of, script_digest, welcome
from fuzzturn.corpus.reading import entry_files, load_entry, parse_entry
from fuzzturn.corpus.sightings import ENTRIES, count_in, counted_in
from fuzzturn.corpus.twins import Twin, twins
from fuzzturn.corpus.writing import entry_path, save_entry, write_entry

__all__ = [
    "ENTRIES", "CallNote", "Entry", "FingerprintNote", "Kept", "Note", "Past", "Provenance", "RateNote", "Twin",
    "amend", "answers_of", "as_kept", "calls_beyond", "count_in", "counted_in", "entry_files", "entry_path",
    "gone_pieces", "keep_entry", "load_entry", "meet", "migrate", "notes_of", "parse_entry", "pieces_of",
    "put_in_place", "save_entry", "script_digest", "twins", "welcome", "write_entry",
]  # fmt: skip
