"""Decisions: what rules for a stochastic failure risk and cost, as exact figures.

    python -m benchmarks.noise.decisions

Every figure is computed from the rule by going through all it can see. Nothing is drawn, and two runs print the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from fuzzturn.sequential import (
    Count,
    Decision,
    Rule,
    Tally,
    TwoStage,
    accept_probability,
    certain_runs,
    expected_runs,
    rule_for,
    stops,
)

__all__ = ["by_alpha", "by_origin", "by_part", "by_rule", "main", "text"]

RATES = (0.0, 0.03, 0.1, 0.3, 0.6, 0.9)
ORIGINS = (0.3, 0.45, 0.6, 0.75, 0.9, 1.0)
ALPHAS = (0.01, 0.005, 0.004, 0.003, 0.002)
WITHOUT = 0.03
"""The rate of candidates that have lost the fault."""
NO_END = 400
"""Runs after which a test that should have no end is ended here."""


@dataclass(frozen=True)
class Likelier:
    """The two-stage rule, but at run `most` the likelier rate has it, instead of the candidate being rejected."""

    rule: TwoStage
    most: int

    def decide(self, tally: Tally) -> Decision:
        """Accept, reject or more."""
        decision = replace(self.rule, most=NO_END).decide(tally)
        if decision != "more" or tally.n < self.most:
            return decision
        return "accept" if self.rule.log_ratio(tally) > 0 else "reject"


def main() -> None:
    """Print all tables."""
    print(text())


def text() -> str:
    """All tables, as Markdown."""
    return "\n\n".join((by_rule(), by_origin(), by_alpha(), by_part()))


def by_rule() -> str:
    """Every rule at every rate: the share accepted and the mean number of runs."""
    head = ["rule", *(f"p = {p:g}" for p in RATES), "any of 100 at 3 %"]
    return _table(head, [[name, *(_both(rule, p) for p in RATES), _any(rule, 100)] for name, rule in _rules()])


def _rules() -> Iterable[tuple[str, Rule]]:
    yield "first hit of 1", Count()
    yield "first hit of 5", Count(hits=1, most=5)
    yield "2 hits of 3", Count(hits=2, most=3)
    yield "4 hits of 40", Count(hits=4, most=40)
    yield "SPRT 0.05 / 0.3, α = β = 0.05", _sprt(first=NO_END, alpha=0.05)
    for alpha in (0.05, 0.01, 0.005):
        yield f"0 of 5 rejects, then that SPRT, α = {alpha:g}", _sprt(first=5, alpha=alpha)
    for origin in (0.3, 0.6, 0.9):
        yield f"**`rule_for({origin:g})`**", _for(origin)


def _sprt(first: int, alpha: float) -> TwoStage:
    return TwoStage(p0=0.05, p1=0.3, alpha=alpha, beta=0.05, first=first, most=NO_END)


def by_origin() -> str:
    """The default rule for origins of several rates: what is accepted of candidates that fail more rarely."""
    parts = (0.25, 0.5, 0.75, 1.0)
    head = ["origin", "p1", "floor", *(f"at {part:g} of it" for part in parts), "0 of … rejects"]
    head += ["rounds at the origin's rate", "hits when accepted", "any of 100 at 3 %", "any of 150"]
    rows = []
    for origin in ORIGINS:
        rule = _for(origin)
        kept = [_both(rule, part * origin) for part in parts]
        misses = next(n for n in range(1, rule.most + 1) if rule.decide(Tally(0, n)) == "reject")
        cost = [str(misses), f"{_rounds(rule, origin):.1f}", _percent(_accepted_share(rule, origin))]
        rows.append([f"{origin:g}", f"{rule.p1:g}", f"{rule.floor:g}", *kept, *cost, _any(rule, 100), _any(rule, 150)])
    return _table(head, rows)


def by_alpha() -> str:
    """The worst rule that `rule_for` could make with each alpha, over all origins and shares to retain."""
    rows = []
    for alpha in ALPHAS:
        worst = max((replace(rule, alpha=alpha) for rule in _all_rules()), key=lambda r: accept_probability(r, WITHOUT))
        usual = replace(_for(0.6), alpha=alpha)
        costs = [_both(usual, p) for p in (WITHOUT, 0.3, 0.6)]
        rows.append(
            [f"{alpha:g}", *costs, f"{accept_probability(worst, WITHOUT):.5f}", *(_any(worst, m) for m in (100, 150))]
        )
    return _table(["α", "p = 0.03", "p = 0.3", "p = 0.6", "worst at 3 %", "any of 100", "any of 150"], rows)


def _all_rules() -> Iterable[TwoStage]:
    for retain in (0.0, 0.25, 0.5, 0.75, 1.0):
        for percent in range(20, 101, 5):
            rule = rule_for(percent / 100, retain)
            if rule is not None:
                yield rule


def by_part() -> str:
    """The default rule for an origin of 0.6 with one part of it changed."""
    rule, whole = _for(0.6), replace(_for(0.6), floor=0.0)
    rules: list[tuple[str, Rule]] = [
        ("as it is", rule),
        ("no floor", whole),
        ("no floor, the likelier rate has it at run 40", Likelier(whole, most=40)),
        *((f"0 of {first} rejects", replace(rule, first=first)) for first in (3, 4, 6, 8)),
        *((f"at most {most} runs", replace(rule, most=most)) for most in (20, 30, 60)),
        *((f"β = {beta:g}", replace(rule, beta=beta)) for beta in (0.05, 0.2)),
    ]
    rates = (0.03, 0.15, 0.3, 0.6)
    head = ["rule for an origin of 0.6", *(f"p = {p:g}" for p in rates), "any of 100 at 3 %"]
    return _table(head, [[name, *(_both(own, p) for p in rates), _any(own, 100)] for name, own in rules])


def _for(origin: float) -> TwoStage:
    rule = rule_for(origin)
    if rule is None:
        raise ValueError(f"an origin of {origin} is too rare")
    return rule


def _rounds(rule: Rule, p: float) -> float:
    """The mean number of rounds where all certain runs of a round are played at once."""
    going, rounds = {Tally(): 1.0}, 0.0
    while going:
        rounds += math.fsum(going.values())
        reached: dict[Tally, float] = {}
        for tally, chance in going.items():
            runs = certain_runs(rule, tally)
            for hits in range(runs + 1):
                after = tally.plus(hits, runs)
                share = math.comb(runs, hits) * p**hits * (1 - p) ** (runs - hits)
                reached[after] = reached.get(after, 0.0) + chance * share
        going = {tally: chance for tally, chance in reached.items() if rule.decide(tally) == "more"}
    return rounds


def _accepted_share(rule: Rule, p: float) -> float:
    """The mean share of hits in the runs of candidates that were accepted: above p, for lucky runs stop early."""
    accepted = [(tally.k / tally.n, chance) for tally, decision, chance in stops(rule, p) if decision == "accept"]
    return math.fsum(share * chance for share, chance in accepted) / math.fsum(chance for _, chance in accepted)


def _both(rule: Rule, p: float) -> str:
    return f"{_percent(accept_probability(rule, p))} / {expected_runs(rule, p):.1f}"


def _any(rule: Rule, candidates: int) -> str:
    """The chance that at least one of so many candidates without the fault is accepted."""
    return _percent(1 - (1 - accept_probability(rule, WITHOUT)) ** candidates)


def _percent(share: float) -> str:
    places = 0 if share == 0 or 0.1 <= share < 0.99 else 1 if 0.01 <= share < 0.9995 else 3 if share < 0.01 else 0
    return f"{100 * share:.{places}f} %"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    main()
