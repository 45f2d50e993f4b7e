"""Spending: what a campaign may cost, said beforehand; and what it did cost, by role."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from fuzzturn.adapters import HOSTED, NAMES
from fuzzturn.calls import Bill, Price, Prices
from fuzzturn.errors import InputError, Problem
from fuzzturn.report import counted
from fuzzturn.scenario import Scenario
from fuzzturn.stress.checking import SIZES
from fuzzturn.tokens import text_tokens

if TYPE_CHECKING:
    from fuzzturn.cli.campaigning import Order

__all__ = ["STOPPED_BY", "bill_lines", "check_prices", "foretell", "spent_on_models"]

STOPPED_BY: Mapping[str, str] = MappingProxyType({
    "turns": "--budget-turns", "minutes": "--max-minutes", "usd": "--budget-usd", "offline": "--offline",
    "refused": "the model's server", "record": "the record of model calls",
})  # fmt: skip
CALLS_A_TURN = 2.5
"""Model calls in one turn of an agent with tools."""
ANSWER_TOKENS = 120
"""Completion tokens of one model call."""
GROWTH_TOKENS = 250
"""What a turn adds to the context beyond the user's words: answers, tool calls, results."""
JUDGE_TOKENS = 2500
"""Prompt tokens of one verdict."""
FAILING_SHARE = 0.25
"""Sessions with one turn that has to be judged."""
SHRINK_TURNS = 500
"""Agent turns to shrink one finding."""


def spent_on_models(bill: Bill, told_tokens: int) -> dict[str, Any]:
    """Tokens, money and calls, for a run's record. tokens None = nobody counted any; usd None = not all is priced."""
    told = bill.calls or told_tokens or bill.recorded.total()
    return {
        "tokens": bill.tokens + told_tokens if told else None,
        "usd": None if told_tokens or not told else _rounded(bill.usd),
        "model_calls": {
            "made": bill.calls,
            "recorded": bill.recorded.total(),
            "retried": dict(sorted(bill.retried.items())),
        },
        "by_role": {
            role: {"calls": spent.calls, "prompt_tokens": spent.prompt, "completion_tokens": spent.completion,
                   "usd": None if spent.unpriced else _rounded(spent.usd)}
            for role, spent in sorted(bill.by_role.items())
        },
    }  # fmt: skip


def bill_lines(bill: Bill) -> Iterator[str]:
    """What was spent on model calls, for people; nothing where there were none."""
    for role, spent in sorted(bill.by_role.items()):
        usd = "price not known" if spent.unpriced else f"USD {spent.usd:.4f}"
        said = f"{spent.prompt} prompt and {spent.completion} completion tokens, {usd}"
        yield f"{role}: {counted(spent.calls, 'model call')} made, {said}"
    if free := bill.recorded.total():
        yield f"{counted(free, 'model call')} answered from the record, free"
    for reason, times in sorted(bill.retried.items()):
        yield f"{counted(times, 'attempt')} at a model call failed: {reason}"


def check_prices(order: Order) -> None:
    """Raises InputError where money is bounded and a model that is named has no known price: no cap could be held."""
    chosen, prices = order.staging.chosen, order.staging.bill.prices
    if chosen.budget_usd is None:
        return
    named = (chosen.agent, chosen.judge, chosen.agent_options.get("summariser", ""))
    models = [spec.removeprefix(HOSTED) for spec in named if spec.startswith(HOSTED)]
    problems = [
        Problem(
            what=f"--budget-usd cannot be held: what a call of model {model} costs is not known",
            accepted=f'price = ["{model}=0.15/0.60"] in the project\'s file: US dollars per million prompt and '
            "completion tokens",
        )
        for model in dict.fromkeys(models)
        if prices.of_model(model) is None
    ]
    if problems:
        raise InputError(problems)


def foretell(order: Order) -> int:
    """Say what a campaign would play and may cost, without playing anything."""
    terminal, budget, chosen = order.terminal, order.budget, order.staging.chosen
    total = 0
    for scenario in order.scenarios:
        turns = len(scenario.turns)
        total += (budget.sessions + 1) * turns
        terminal.say(
            f"{scenario.scenario}: {counted(turns, 'scripted turn')}, up to {budget.sessions} variants in cells of 25; "
            f"about {(budget.sessions + 1) * turns} agent turns less what shared beginnings save; shrinking takes "
            "up to some hundreds more for each finding"
        )
    terminal.say(f"agent {chosen.agent}, judge {chosen.judge} in {', '.join(chosen.contexts)}, seed {chosen.seed}")
    bounds = [f"{budget.turns} agent turns"] * (budget.turns is not None)
    bounds += [f"{budget.minutes} minutes"] * (budget.minutes is not None)
    bounds += [f"{chosen.budget_usd} US dollars"] * (chosen.budget_usd is not None)
    terminal.say(f"about {total} agent turns in all; bounded by {' and '.join(bounds) or 'nothing but the sessions'}")
    if chosen.repeats > 1:
        terminal.say(
            f"--repeats {chosen.repeats}: to decide and shrink one finding takes some thousands more agent turns"
        )
    for line in _estimate(order, total):
        terminal.say(line)
    return 0


def _estimate(order: Order, turns: int) -> Iterator[str]:
    """What the model calls of agent and judge may cost at most, with every assumption named."""
    chosen, prices = order.staging.chosen, order.staging.bill.prices
    if chosen.agent.startswith(HOSTED):
        calls, prompt = round(turns * CALLS_A_TURN), round(_context(order))
        cost = _cost(prices, chosen.agent, calls, prompt, ANSWER_TOKENS)
        yield (
            f"agent: about {calls} model calls, {cost}; assumed: {CALLS_A_TURN} calls a turn, {prompt} prompt tokens a "
            f"call (system prompt, half the script, {GROWTH_TOKENS} tokens more a turn) and {ANSWER_TOKENS} completion "
            f"tokens; {SHRINK_TURNS} turns more for each finding; nothing for what is recorded already"
        )
    elif chosen.agent in NAMES:
        yield f"agent: about {round(turns * CALLS_A_TURN)} model calls, if it has a model, at a price that is its own"
    if chosen.judge.startswith(HOSTED):
        calls = round(len(order.scenarios) * order.budget.sessions * FAILING_SHARE * len(chosen.contexts))
        yield (
            f"judge: about {calls} model calls, {_cost(prices, chosen.judge, calls, JUDGE_TOKENS, ANSWER_TOKENS)}; "
            f"assumed: {FAILING_SHARE:.0%} of the sessions fail at one turn, judged in {len(chosen.contexts)} "
            f"contexts, {JUDGE_TOKENS} prompt and {ANSWER_TOKENS} completion tokens each; where it finds a blind spot, "
            f"its self-check takes {2 * SIZES[0]} calls more, {2 * SIZES[-1]} at the most"
        )


def _cost(prices: Prices, spec: str, calls: int, prompt: int, completion: int) -> str:
    tokens = f"{calls * (prompt + completion)} tokens"
    price: Price | None = prices.of_model(spec.removeprefix(HOSTED))
    if price is None:
        return f"{tokens}, at a price that is not known (say it with `price` in the project's file)"
    return f"{tokens}, about USD {price.usd(calls * prompt, calls * completion):.2f}"


def _context(order: Order) -> float:
    """Tokens of the average model call, over the scenarios."""
    sizes = [_average(scenario) for scenario in order.scenarios]
    return sum(sizes) / max(len(sizes), 1)


def _average(scenario: Scenario) -> float:
    system = text_tokens(scenario.system.text or "") if scenario.system else 0
    said = sum(text_tokens(line.user) for line in scenario.turns)
    return system + (said + GROWTH_TOKENS * len(scenario.turns)) / 2


def _rounded(usd: float | None) -> float | None:
    return None if usd is None else round(usd, 6)
