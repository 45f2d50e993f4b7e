"""Told: what `stress` found, as a page and as JSON. Whether the judge looks at all comes first."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fuzzturn.replying import clipped
from fuzzturn.report import counted
from fuzzturn.stress.blocks import Blocks, blocks_json
from fuzzturn.stress.budgets import Budgeted, budgets_json
from fuzzturn.stress.claims import claims
from fuzzturn.stress.compared import Comparison, comparison_json
from fuzzturn.stress.figures import Cell, Figures, cell_json
from fuzzturn.stress.item import Answer
from fuzzturn.stress.labels import Agreement, agreement_json
from fuzzturn.stress.page import as_ascii, chance, interval, named, number, sentence, shown, table, wrapped
from fuzzturn.stress.selfcheck import SelfCheck, self_check_json
from fuzzturn.stress.shares import CLUSTERED

__all__ = ["Findings", "told", "told_json"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """All that `stress` found of one judge."""

    judge: str
    check: SelfCheck
    figures: Figures
    answers: Sequence[Answer] = ()
    """All of them, for the JSON, and for why some have no score."""
    compared: Sequence[Comparison] = ()
    """The default arm first in each."""
    budgets: Sequence[Budgeted] = ()
    """Arms in which a block was shown."""
    blocks: Blocks | None = None
    agreement: Agreement | None = None
    stopped: str | None = None
    """How far it came and why no further; None = everything was asked."""
    beside: Sequence[Comparison] = ()
    """The default arm against every other one, for the JSON alone."""
    side_by_side: Sequence[str] = ("default", "block off")
    """Arms of the tables by distance and by kind."""


def told(found: Findings) -> str:
    """The page: plain ASCII, at most 100 columns. What is not ASCII in a name is escaped."""
    sections: list[Iterable[str]] = [wrapped([found.stopped]) if found.stopped else ()]
    sections += [_checked(found), _arms(found.figures), _unscored(found.answers)]
    sections += [_distances(found), _kinds(found), _constraints(found)]
    sections += [_compared(found.compared), _flips(found.figures.overall), _budgets(found.budgets)]
    sections += [_blocks(found.blocks)] if found.blocks else []
    sections += [_agreed(found.agreement)] if found.agreement else []
    unclaimed = claims(found.figures, found.compared)
    sections.append(wrapped(["What cannot be claimed, and what it would take:", *unclaimed]) if unclaimed else ())
    texts = ["\n".join(lines) for lines in map(list, sections) if lines]
    return as_ascii("\n\n".join(texts))


def told_json(found: Findings) -> dict[str, Any]:
    """The same as JSON, schema 1. A share that is not known is null."""
    figures = found.figures
    return {
        "schema": 1,
        "judge": found.judge,
        "stopped": found.stopped,
        "self_check": self_check_json(found.check),
        "overall": cell_json(figures.overall),
        "arms": {name: cell_json(cell) for name, cell in figures.arms.items()},
        "distances": _parts_json(figures.distances),
        "kinds": _parts_json(figures.kinds),
        "polarities": _parts_json(figures.polarities),
        "constraints": _parts_json(figures.constraints),
        "answers": [asdict(answer) for answer in found.answers],
        "compared": [comparison_json(comparison) for comparison in found.compared],
        "beside_default": [comparison_json(comparison) for comparison in found.beside],
        "budgets": budgets_json(found.budgets),
        "blocks": blocks_json(found.blocks) if found.blocks else None,
        "labels": agreement_json(found.agreement) if found.agreement else None,
        "intervals": {"level": 0.95, "items": "Wilson 1927, one observation an item", "over_scenarios": CLUSTERED},
        "not_claimed": claims(figures, found.compared),
    }


def _parts_json(parts: Mapping[str, Mapping[Any, Cell]]) -> dict[str, dict[str, Any]]:
    return {arm: {str(part): cell_json(cell) for part, cell in cells.items()} for arm, cells in parts.items()}


def _checked(found: Findings) -> Iterator[str]:
    check = found.check
    rejected = {"passes": "", "fails": " No figure below means anything.", "undecided": ""}[check.decision]
    p = "" if check.p is None else f" (a coin does as well with p {chance(check.p)})"
    yield from wrapped([f"Self-check of {found.judge}: {check.decision}. {sentence(check.why)}{p}.{rejected}"])
    if check.needed:
        yield f"  {check.needed} pairs of twins tell a coin from a judge; here are {check.twins.n}"
    if check.unscored:
        yield f"  without a score: {counted(check.unscored, 'answer')}"


_HEAD = ("arm", "wrong", "legal", "blind", "95 %", ">=3", "<=1", "0", "spec", "kappa", "no score")


def _arms(figures: Figures) -> Iterator[str]:
    rows = [_row(name, cell) for name, cell in figures.arms.items()]
    yield from table([_HEAD, *rows, _row("all arms", figures.overall)])
    yield from wrapped([
        "wrong, legal: items scored. Of wrong turns: blind = score 4, >=3 soft blind, <=1 sensitivity, 0 strictly. "
        "spec: >=3 of legal turns. kappa: score 0 against the checker. 95 %: of blind, with * for "
        "other scenarios as well, else for items like these only. - is not known."
    ])  # fmt: skip
    yield from wrapped(["Scores given in all arms:", *_histogram(figures.overall)])


def _histogram(cell: Cell) -> Iterator[str]:
    for label, counts in cell.histogram.items():
        yield f"{label} turns: {', '.join(f'{score}: {count}' for score, count in enumerate(counts))}"
    if cell.unscored:
        yield f"no score: {', '.join(f'{status} {count}' for status, count in cell.unscored.items())}"


def _unscored(answers: Iterable[Answer]) -> Iterator[str]:
    """Why there is no score: of each status what is said most often."""
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    for answer in answers:
        if answer.score is None:
            reasons[answer.status][answer.reason or "nothing was said"] += 1
    lines = [f"{status}, mostly: {clipped(each.most_common(1)[0][0])}" for status, each in sorted(reasons.items())]
    yield from wrapped(["Why there is no score:", *lines] if lines else [])


def _constraints(found: Findings) -> Iterator[str]:
    """Of the first arm, only where something is wrong: a judge may be blind to one constraint alone."""
    arm = found.side_by_side[0]
    wrong = {name: cell for name, cell in found.figures.constraints.get(arm, {}).items() if _mistaken(cell)}
    if wrong:
        yield f"Constraints of which {arm} has something wrong:"
        head = ("constraint", "blind", "wrong", "spec", "legal")
        yield from table([head, *((name, *_both(cell)) for name, cell in wrong.items())])


def _mistaken(cell: Cell) -> bool:
    return bool(cell.blind and cell.blind.k) or bool(cell.specificity and cell.specificity.k < cell.specificity.n)


def _row(name: str, cell: Cell) -> tuple[str, ...]:
    wrong, legal = cell.blind, cell.specificity
    return (
        name,
        str(wrong.items if wrong else 0),
        str(legal.items if legal else 0),
        shown(wrong),
        interval(wrong),
        *(shown(share) for share in (cell.soft_blind, cell.sensitivity, cell.strict, legal)),
        "-" if cell.kappa is None else f"{cell.kappa:.2f}",
        shown(cell.no_score),
    )


def _distances(found: Findings) -> Iterator[str]:
    """How blind, by turns between the statement and the judged turn."""
    arms = [name for name in found.side_by_side if name in found.figures.distances]
    distances = sorted({distance for name in arms for distance in found.figures.distances[name]})
    if not distances:
        return
    rows: list[tuple[str, ...]] = [("turns since stated", *(part for name in arms for part in (name, "95 %", "items")))]
    for distance in distances:
        cells = [found.figures.distances[name].get(distance) for name in arms]
        rows.append((str(distance), *(part for cell in cells for part in _blind(cell))))
    yield "Blind, by distance:"
    yield from table(rows)


def _blind(cell: Cell | None) -> tuple[str, str, str]:
    share = cell.blind if cell else None
    return shown(share), interval(share), str(share.items) if share else "0"


def _kinds(found: Findings) -> Iterator[str]:
    """How blind, and how ready to pass what is legal, by what the item is."""
    figures = found.figures
    cells = {
        name: {**figures.kinds[name], **figures.polarities[name]}
        for name in found.side_by_side
        if name in figures.kinds
    }
    kinds = list(dict.fromkeys(kind for own in cells.values() for kind in own))
    if not kinds:
        return
    rows: list[tuple[str, ...]] = [("kind", *(part for name in cells for part in (name, "wrong", "spec", "legal")))]
    rows += [(kind, *(part for own in cells.values() for part in _both(own.get(kind)))) for kind in kinds]
    yield "Blind, and legal turns scored >=3, by kind of item and polarity of its constraint:"
    yield from table(rows)


def _both(cell: Cell | None) -> Iterator[str]:
    for share in (cell.blind, cell.specificity) if cell else (None, None):
        yield from (shown(share), str(share.items) if share else "0")


def _compared(compared: Sequence[Comparison]) -> Iterator[str]:
    differ = [_differ(comparison) for comparison in compared if comparison.n]
    yield from wrapped(["Two arms on the same items:", *differ] if differ else [])


def _differ(found: Comparison) -> str:
    what = {"blind": "blind to", "false_alarm": "below 3 on"}[found.outcome]
    of = {"blind": "violating", "false_alarm": "legal"}[found.outcome]
    left_out = (
        f"; {counted(found.left_out, 'item')} without a score or a majority in one of them" if found.left_out else ""
    )
    start = f"{found.second} against {found.first}, {counted(found.n, f'{of} item')}: {what}"
    if found.p is None:
        return f"{start} the same ones in both, {found.both}{left_out}."
    shown = f"{'a' if found.shown else 'no'} difference is shown"
    only = f"{found.second_only} only with {found.second}, {found.first_only} only with {found.first}"
    return f"{start} {only}: {shown} (McNemar, exact, p {chance(found.p)}){left_out}."


def _flips(cell: Cell) -> Iterator[str]:
    if cell.flips:
        flips = cell.flips
        yield from wrapped([
            f"Asked again, the score changed in {flips.flipped} of {counted(flips.items, 'item')} "
            f"({flips.flipped / flips.items:.2f}), each arm apart; {flips.agreement:.2f} of an item's answers "
            f"give its commonest score; without a majority: {flips.no_majority}."
        ])  # fmt: skip


def _budgets(found: Sequence[Budgeted]) -> Iterator[str]:
    """Only where something did not fit: the JSON has the others too."""
    tight = [one for one in found if one.beyond or one.left_out]
    if not tight:
        return
    head = ("the block's budget, by arm", "items", "tokens", "beyond it", "commitments left out")
    sizes = (f"{one.tokens[0]}-{one.tokens[2]}" for one in tight)
    yield from table([head, *((one.arm, str(one.items), size, str(len(one.beyond)), str(len(one.left_out)))
                              for one, size in zip(tight, sizes, strict=True))])  # fmt: skip
    beyond = [f"{one.arm}: {_cases(one)}" for one in tight if one.beyond]
    yield from wrapped(["Beyond the budget, and shown whole all the same:", *beyond] if beyond else [])


def _cases(one: Budgeted) -> str:
    return "every item" if len(one.beyond) == one.items else named(one.beyond)


def _blocks(found: Blocks) -> Iterator[str]:
    kept, promised = found.constraints, found.commitments
    yield f"The block itself, whatever the judge makes of it, in {counted(found.n, 'item')}:"
    unknown = f"; not known in {counted(found.unknown, 'item')}" if found.unknown else ""
    lines = [
        f"constraints: {kept.present} of {kept.expected} present",
        f"commitments: {promised.present} of {promised.expected} present, {found.left_out} left out for the "
        f"budget{unknown}",
    ]
    if found.tokens:
        lines.append(f"tokens: {found.tokens[0]} to {found.tokens[2]}, median {found.tokens[1]:g}")
    for name, pairs in (("missing", found.missing), ("should not be there", found.strange)):
        if pairs:
            lines.append(f"{name}: {named(f'{constraint} in {item}' for item, constraint in pairs)}")
    if found.overflow:
        lines.append(f"beyond the budget in {counted(len(found.overflow), 'item')}: {named(found.overflow)}")
    yield from wrapped(["", *lines])


def _agreed(found: Agreement) -> Iterator[str]:
    yield from wrapped([
        f"People labelled {counted(found.labelled, 'item')}; the judge has a majority in {found.n}.",
        f"kappa judge/people {number(found.kappa)}, checkers/people {number(found.checkers_kappa)}, "
        f"weighted on {counted(found.scored, 'score')} {number(found.weighted_kappa)}",
        f"people/judge: {', '.join(f'{pair} {count}' for pair, count in found.confusion.items())}",
    ])  # fmt: skip
