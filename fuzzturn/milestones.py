"""Milestones: the goal as a directed graph, and whether a set of satisfied ones is an order ideal of it.

Satisfied milestones must be closed under `needs`. A milestone that stands before what it needs, or a need that
was lost while something above it still stands, is a breach; nobody else's signal can see either.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fuzzturn.scenario import Goal
from fuzzturn.scores import Breach

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Graph", "breaches", "graph"]


@dataclass(frozen=True, slots=True)
class Graph:
    """For each milestone, in the file's order: everything that it needs, transitively."""

    needs: Mapping[str, frozenset[str]]


def graph(goal: Goal) -> Graph:
    """The closure of `needs`. The file's loader has refused cycles and dangling ids."""
    digraph = _digraph(goal)
    import networkx as nx  # slow to import: only where a goal is really looked at

    return Graph({m.id: frozenset(nx.ancestors(digraph, m.id)) for m in goal.milestones})


def _digraph(goal: Goal) -> nx.DiGraph[str]:
    import networkx as nx

    digraph: nx.DiGraph[str] = nx.DiGraph()
    digraph.add_nodes_from(m.id for m in goal.milestones)
    digraph.add_edges_from((need, m.id) for m in goal.milestones for need in m.needs)
    return digraph


def breaches(
    graph: Graph, satisfied: Set[str], previously: Set[str], undecided: Set[str] = frozenset()
) -> tuple[Breach, ...]:
    """Where `satisfied` is not closed under needs. `undecided` milestones (judged, no verdict) blame nobody."""
    found: list[Breach] = []
    for id in graph.needs:
        if id not in satisfied:
            continue
        for need in sorted(graph.needs[id] - satisfied - undecided):
            if need in previously:
                found.append(Breach(need, "lost_under_dependants", f"{need} was lost while {id} stands"))
            elif id not in previously:
                found.append(Breach(id, "before_its_needs", f"{id} is satisfied before {need}"))
    return tuple(dict.fromkeys(found))
