"""fuzzturn corpus: what is kept, looked at, counted, merged and marked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fuzzturn.cli.options import JsonOption
from fuzzturn.errors import InputError, Problem

if TYPE_CHECKING:
    from fuzzturn.corpus import Entry
    from fuzzturn.project import Project
    from fuzzturn.redaction import Redaction

BAD_INPUT = 2

app = typer.Typer(help="List, show, add, merge and mark the findings that are kept.", no_args_is_help=True)

EntryArgument = Annotated[str, typer.Argument(help="a corpus file or its id")]
EntriesArgument = Annotated[list[str], typer.Argument(help="corpus files, folders or ids")]
FilesArgument = Annotated[list[Path], typer.Argument(help="corpus files, or folders of them")]
GivenArgument = Annotated[
    list[str], typer.Argument(metavar="FILES...", help="corpus files, folders of them, or runs of fuzz: id or folder")
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="only say what would be done")]


@app.callback()
def corpus() -> None:
    """List, show, add, merge and mark the findings that are kept."""


@app.command("list")
def list_(json_file: JsonOption = None) -> int:
    """List the entries: id, status, what is broken, how short, how often seen, how often it fails.

    Example: fuzzturn corpus list --json entries.json
    """
    from fuzzturn.cli.listing import as_row, table
    from fuzzturn.cli.origins import Origins
    from fuzzturn.cli.showing import from_here, harmless
    from fuzzturn.cli.terminal import Terminal
    from fuzzturn.records import SCHEMA, write_json

    terminal, project = Terminal(), _project()
    entries, unreadable = _read(_folder(project))
    origins = Origins(project)
    rows = [as_row(path, entry, origins.changed(entry)) for path, entry in entries.items()]
    for line in table(rows) if rows else ["the corpus is empty"] * (not unreadable):
        terminal.say(harmless(line))
    for error in unreadable.values():
        terminal.error(str(error))
    if json_file is not None:
        wrong = [{"file": from_here(path), "error": str(error)} for path, error in unreadable.items()]
        write_json(json_file, {"schema": SCHEMA, "entries": rows, "unreadable": wrong}, _redaction(project))
    return BAD_INPUT if unreadable else 0


@app.command("show")
def show(entry: EntryArgument) -> int:
    """Show one entry as text: what the user says, what goes wrong, the four signals, why.

    Example: fuzzturn corpus show 1a2b3c4d
    """
    from fuzzturn.cli.origins import Origins
    from fuzzturn.cli.showing import entry_text, from_here
    from fuzzturn.cli.terminal import Terminal
    from fuzzturn.corpus import load_entry

    terminal, project = Terminal(), _project()
    origins = Origins(project)
    for path in _named([entry], _folder(project)):
        kept = load_entry(path)
        changed = bool(origins.changed(kept))
        terminal.say(entry_text(kept, file=from_here(path), width=terminal.width, changed=changed))
    return 0


@app.command("add")
def add(given: GivenArgument) -> int:
    """Put corpus files from elsewhere, or what a run of fuzz found, into this project's corpus.

    A known finding keeps its shorter session. What a run found counts as found again, once.

    Example: fuzzturn corpus add downloads/1a2b3c4d.yaml
    """
    from fuzzturn.cli.adding import Shelf, add_source, sources
    from fuzzturn.cli.terminal import Terminal

    terminal, project = Terminal(), _project()
    shelf = Shelf(_folder(project), project.load_scenarios_content(), _redaction(project))
    refused = [add_source(source, shelf, terminal) for source in sources(given, shelf.corpus.parent)]
    return BAD_INPUT if sum(refused) else 0


@app.command("dedupe")
def dedupe(dry_run: DryRunOption = False) -> int:
    """Merge entries that say the same in several files, with the reason; and say why others that look so are kept.

    Example: fuzzturn corpus dedupe --dry-run
    """
    from fuzzturn.cli.showing import from_here
    from fuzzturn.cli.terminal import Terminal
    from fuzzturn.corpus import put_in_place, twins
    from fuzzturn.report import counted

    terminal, project = Terminal(), _project()
    entries, unreadable = _read(_folder(project))
    plan, total = twins(entries), len(entries)
    for twin in plan:
        path, like = from_here(twin.path), from_here(twin.like)
        if twin.merged is None:
            terminal.say(f"kept {path} beside {like}: {twin.why}")
            continue
        terminal.say(f"{'to merge' if dry_run else 'merged'} {path} into {like}: {twin.why}")
        if not dry_run:
            put_in_place(twin.like, entries[twin.like], twin.merged, redaction=_redaction(project))
            entries[twin.like] = twin.merged
            _remove(twin.path)
    for error in unreadable.values():
        terminal.error(str(error))
    merged = sum(twin.merged is not None for twin in plan)
    done = "to merge" if dry_run else "merged"
    terminal.say(f"{merged} of {counted(total, 'file')} {done}, {counted(len(plan) - merged, 'look-alike')} kept")
    return BAD_INPUT if unreadable else 0


@app.command("prune")
def prune(
    yes: Annotated[bool, typer.Option("--yes", help="remove them; else it is only said what would be removed")] = False,
    dry_run: DryRunOption = False,
) -> int:
    """Remove entries that nothing can play any more, since a name that they need is gone from the project.

    Example: fuzzturn corpus prune --yes
    """
    from fuzzturn.cli.showing import from_here
    from fuzzturn.cli.terminal import Terminal
    from fuzzturn.corpus import gone_pieces

    terminal, project = Terminal(), _project()
    registry = project.load_scenarios_content()
    entries, unreadable = _read(_folder(project))
    gone = {path: why for path, entry in entries.items() if (why := gone_pieces(entry, registry))}
    removing = yes and not dry_run
    for path, why in gone.items():
        terminal.say(f"{'removed' if removing else 'to remove'} {from_here(path)}: {'; '.join(why)}")
        if removing:
            _remove(path)
    for path, error in unreadable.items():
        terminal.error(f"{error}\n{from_here(path)} stays: what cannot be read may still be mended")
    if gone and not removing:
        terminal.say("nothing was removed; --yes removes them")
    elif not gone:
        terminal.say("there is nothing to remove")
    return BAD_INPUT if unreadable else 0


@app.command("mark")
def mark(
    entries: EntriesArgument,
    fixed: Annotated[
        bool | None, typer.Option("--fixed/--open", help="fixed: from now on a replay exits 1 when it fails again")
    ] = None,
) -> int:
    """Mark entries as fixed or open: one line of each file, and nothing else of it.

    Example: fuzzturn corpus mark 1a2b3c4d --fixed
    """
    from fuzzturn.cli.showing import from_here
    from fuzzturn.cli.terminal import Terminal
    from fuzzturn.corpus import amend, load_entry

    if fixed is None:
        raise InputError(Problem(what="nothing is said of what they are", accepted="--fixed or --open"))
    terminal, status = Terminal(), "fixed" if fixed else "open"
    for path in _named(entries, _folder(_project())):
        if load_entry(path).status == status:
            terminal.say(f"{from_here(path)} is marked {status} already")
            continue
        amend(path, "status", status)
        terminal.say(f"{from_here(path)}: {status}")
    return 0


@app.command("migrate")
def migrate(files: FilesArgument) -> int:
    """Rewrite corpus files of an older schema version as this version of fuzzturn has them.

    Example: fuzzturn corpus migrate corpus
    """
    from fuzzturn import __version__
    from fuzzturn.cli.terminal import Terminal
    from fuzzturn.corpus import migrate as rewrite

    terminal, refused = Terminal(), 0
    for path in _files(files):
        try:
            had = rewrite(path, by=__version__)
        except InputError as error:  # the others are migrated all the same
            terminal.error(str(error))
            refused += 1
            continue
        terminal.say(f"{path}: {'is of this version' if had is None else f'migrated from schema {had}'}")
    return BAD_INPUT if refused else 0


def _project() -> Project:
    from fuzzturn.project import find_project

    return find_project()


def _folder(project: Project) -> Path:
    return (project.root or Path.cwd()) / "corpus"


def _redaction(project: Project) -> Redaction:
    from fuzzturn.adapters import project_redaction

    return project_redaction(project.config)


def _files(given: list[Path]) -> list[Path]:
    """The files given, and those in the folders given. Raises InputError where there is nothing of a name."""
    from fuzzturn.corpus import entry_files

    for path in given:
        if not path.exists():
            raise InputError(Problem(file=str(path), what="there is no such file or folder"))
    return [file for path in given for file in (entry_files(path) if path.is_dir() else [path])]


def _named(names: list[str], folder: Path) -> list[Path]:
    from fuzzturn.cli.replaying import entry_paths

    return entry_paths(names, folder)


def _read(folder: Path) -> tuple[dict[Path, Entry], dict[Path, InputError]]:
    """Every entry of a corpus by its file, and what cannot be read."""
    from fuzzturn.corpus import entry_files, load_entry

    entries, unreadable = {}, {}
    for path in entry_files(folder):
        try:
            entries[path] = load_entry(path)
        except InputError as error:
            unreadable[path] = error
    return entries, unreadable


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError as error:
        raise InputError(Problem(file=str(path), what=f"cannot be removed: {error.strerror}")) from error
