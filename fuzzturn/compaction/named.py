"""Named: a policy by its name, from options that may come as text.

Every policy keeps the newest user turn whole: a list without what is asked now is no shorter conversation, it is
another one. Defaults are of the size of the shipped scenarios; docs/compaction-policies.md says what real systems use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from fuzzturn.compaction import dropping, summarising
from fuzzturn.compaction.notes import Summariser, by_rule
from fuzzturn.compaction.options import OPTION_NAMES, Anyhow, Options, read
from fuzzturn.compaction.pinning import pinned
from fuzzturn.compaction.plan import Decide, Policy
from fuzzturn.errors import InputError, Problem, UnknownName, closest

__all__ = ["none", "policy", "policy_names", "policy_options", "summary_keep_recent"]


@dataclass(frozen=True, slots=True)
class _Family:
    build: Callable[[Options], Decide]
    options: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)


_THRESHOLDS = ("threshold", "threshold_messages", "threshold_fraction")
_TRIGGER = (*_THRESHOLDS, "window", "trigger")
_SUMMARY = ("summary_input_limit", "summary_role")

_FAMILIES: Mapping[str, _Family] = {
    "none": _Family(dropping.none),
    "last_messages": _Family(
        dropping.last_messages, ("keep", "pair_rule"), {"keep": 20, "pair_rule": "move_forward"}
    ),
    "last_tokens": _Family(
        dropping.last_tokens, ("keep_tokens", "pair_rule"), {"keep_tokens": 600, "pair_rule": "move_forward"}
    ),
    "head_tail": _Family(
        summarising.head_tail,
        (*_TRIGGER, "keep", "keep_tokens", "keep_first", "pair_rule", *_SUMMARY),
        {"threshold": 900, "keep": 4, "keep_first": 2},
    ),
    "fraction_split": _Family(
        summarising.fraction_split,
        ("threshold_fraction", "window", "preserve", *_SUMMARY),
        {"threshold_fraction": 0.5, "window": 1800, "preserve": 0.3},
    ),
    "summary_keep_recent": _Family(
        summarising.summary_keep_recent,
        (*_TRIGGER, "keep", "keep_tokens", "pair_rule", *_SUMMARY),
        {"threshold": 900, "keep": 4},
    ),
    "user_only": _Family(summarising.user_only, (*_TRIGGER, "budget", *_SUMMARY), {"threshold": 900, "budget": 200}),
    "clear_tool_results": _Family(
        dropping.clear_tool_results,
        (*_TRIGGER, "keep", "placeholder", "exclude_tools"),
        {"threshold": 900, "keep": 3, "placeholder": "[cleared]"},
    ),
    "interval": _Family(
        summarising.interval, ("interval", "overlap", *_SUMMARY), {"interval": 4, "overlap": 1}
    ),
}  # fmt: skip
_INNER = "summary_keep_recent"


def policy_names() -> tuple[str, ...]:
    """The names that `policy` answers to."""
    return (*_FAMILIES, "pinned")


def policy_options(name: str) -> tuple[str, ...]:
    """The names of the options that a policy takes; `pinned` takes those of its inner policy. Raises UnknownName.

    `none` takes none and lets all pass: fuzzturn plays an agent with the options it has, and compaction=none.
    """
    if name == "pinned":
        return ("inner", *(o for o in OPTION_NAMES if any(o in family.options for family in _FAMILIES.values())))
    return _family(name).options


def policy(name: str, summarise: Summariser = by_rule, /, **options: object) -> Policy:
    """The policy of that name, with a summariser for those that have a use for one.

    Options may be values or texts, as a command line gives them (see `Options`).

    Given `threshold_messages` or `threshold_fraction`, the default of `threshold` is not in force, and given
    `keep_tokens`, that of `keep` is not. Raises UnknownName for the name, and InputError, with all that is wrong, for
    an option that the policy does not take, a value that cannot be used, or options that contradict one another.
    """
    if name != "pinned":
        return _built(name, options, summarise)
    inner = _built(str(options.get("inner", _INNER)), {o: v for o, v in options.items() if o != "inner"}, summarise)
    anyhow = inner.decide_anyhow and pinned(inner.decide_anyhow)
    return Policy(
        name=name, decide=pinned(inner.decide), summarise=summarise, decide_anyhow=anyhow,
        settings={"inner": inner.name, **inner.settings},
    )  # fmt: skip


def none() -> Policy:
    """The policy that never drops anything."""
    return policy("none")


def summary_keep_recent(threshold: int = 900, keep: int = 4, summarise: Summariser = by_rule) -> Policy:
    """Above `threshold` tokens, replace all but the newest `keep` messages by a summary.

    More than `keep` messages stay where fewer would tear something apart: a tool result stays with the assistant
    message that called it, and what follows the newest user message stays with that message. A summary that would
    not make the list smaller is not used. Raises InputError unless both numbers are at least 1.
    """
    return policy("summary_keep_recent", summarise, threshold=threshold, keep=keep)


def _family(name: str) -> _Family:
    if name not in _FAMILIES:
        raise UnknownName("compaction policy", name, policy_names())
    return _FAMILIES[name]


def _built(name: str, options: Mapping[str, object], summarise: Summariser) -> Policy:
    family = _family(name)
    given = _read(name, family, options)
    if name == "none":
        return Policy(name=name, decide=family.build(Options()), summarise=summarise)
    settings = _settled(name, family, given)
    neutral = Options()
    shown = {o: value for o in family.options if (value := getattr(settings, o)) != getattr(neutral, o)}
    return Policy(
        name=name, decide=family.build(settings), summarise=summarise, settings=shown,
        decide_anyhow=family.build(Anyhow(**asdict(settings))),
    )  # fmt: skip


def _read(name: str, family: _Family, options: Mapping[str, object]) -> dict[str, Any]:
    taken = OPTION_NAMES if name == "none" else family.options
    values = {option: read(option, value) for option, value in options.items() if option in taken}
    problems = [
        Problem(what=f"{name} takes no option {option!r}", accepted=closest(option, taken))
        for option in options
        if option not in taken
    ]
    problems += [value for value in values.values() if isinstance(value, Problem)]
    if problems:
        raise InputError(problems)
    return values


def _settled(name: str, family: _Family, given: Mapping[str, Any]) -> Options:
    """What was given over the defaults, where the two go together."""
    defaults = dict(family.defaults)
    if any(given.get(option) is not None for option in _THRESHOLDS):
        defaults.pop("threshold", None)
    if "keep_tokens" in given and "keep_tokens" not in defaults:
        defaults.pop("keep", None)
    settings = Options(**{**defaults, **given})
    wrong: str | None = None
    if "threshold_fraction" in family.options:
        wrong = _trigger_problem(settings)
    if settings.keep is not None and settings.keep_tokens is not None:
        wrong = "keep and keep_tokens are both given; one of them is accepted"
    if wrong:
        raise InputError(f"{name}: {wrong}")
    return settings


def _trigger_problem(settings: Options) -> str | None:
    if (settings.threshold_fraction is None) != (settings.window is None):
        return "threshold_fraction is a share of window; both are accepted, or neither"
    if all(getattr(settings, option) is None for option in _THRESHOLDS):
        return "no threshold is given, so it would never compact; a threshold is accepted, or compaction=none"
    return None
