"""Searches of many positions: trees that grow side by side, and the move that each of them finds.

What is played is what was tried most, unless there is doubt: see `write_results`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ice_envs.engine.game import greedy
from ice_envs.engine.generator import mix
from ice_envs.engine.jit import compiled
from ice_envs.engine.tree import (
    ASKING,
    DONE,
    add_edge,
    count_legal,
    find_node,
    node_key,
    nth_action,
    simulate,
    tree_of,
    try_in_turn,
)

DECIDED = 1 << 60
"""So many simulations are done where only one action is legal."""


@compiled
def plant(states: Any, forest: Any, flat: bool, guided: bool) -> None:
    """Begin a tree for each position; with `guided`, its root asks for a prior."""
    for i in range(len(states)):
        tree, seat = tree_of(forest, i), states[i].to_move
        tree.table[:] = -1
        tree.counts[:] = 0
        tree.counts[ASKING] = -1
        count = count_legal(states[i], tree.mask)
        find_node(tree, node_key(tree, states[i], seat))
        if flat or count <= 1:
            for n in range(count):
                add_edge(tree, 0, nth_action(tree.mask, n), 0.0)
        elif guided:
            tree.counts[ASKING] = 0
        if count <= 1:
            tree.counts[DONE] = DECIDED
            tree.edges[0].visits = count


@compiled
def grow(states: Any, rows: Any, seed: Any, forest: Any, simulations: int, flat: bool, guided: bool, hints: Any) -> int:
    """Do simulations for each position until it has `simulations` of them, or asks for a prior; return all moves.

    Position i draws from `seed` and `rows[i]` alone.
    """
    moves = 0
    for i in range(len(states)):
        tree, stream = tree_of(forest, i), mix(np.add(seed, np.uint64(rows[i])))
        fresh = True
        while tree.counts[DONE] < simulations and tree.counts[ASKING] < 0:
            if flat:
                moves += try_in_turn(tree, states[i], stream, fresh, hints)
            else:
                moves += simulate(tree, states[i], stream, guided, hints)
            fresh = False
    return moves


@compiled
def answer(forest: Any, asking: Any, priors: Any) -> None:
    """Give the nodes that ask in the trees `asking` (K,) their priors (K, A), all greater than 0 where legal."""
    for i in range(len(asking)):
        tree = tree_of(forest, asking[i])
        for action in range(priors.shape[1]):
            if tree.mask[action]:
                add_edge(tree, tree.counts[ASKING], action, priors[i, action])
        tree.counts[ASKING] = -1


@compiled
def write_results(states: Any, forest: Any, flat: bool, doubt: float, visits: Any, values: Any, actions: Any) -> None:
    """Write how often each action was tried at the root and its mean value (N, A), 0 where it was not; and the choice.

    That is the action tried most, or in a flat search the best one. It must be better by `doubt` standard errors than
    the default, which is played otherwise: the likeliest action by the policy's prior, or the greedy baseline's.
    """
    for i in range(len(visits)):
        tree = tree_of(forest, i)
        visits[i, :] = 0
        values[i, :] = 0.0
        best, edge = np.int64(-1), np.int64(tree.nodes[0].first)
        while edge >= 0:
            found = tree.edges[edge]
            visits[i, found.action] = found.visits
            if found.visits:
                values[i, found.action] = found.value / found.visits
            if best < 0 or is_ahead(found, tree.edges[best], flat):
                best = edge
            edge = np.int64(found.following)
        default = default_edge(tree, states[i])
        if default >= 0 and tree.edges[default].visits and gap(tree, best, default) < doubt:
            best = default
        actions[i] = tree.edges[best].action if best >= 0 else -1


@compiled
def is_ahead(edge: Any, other: Any, flat: bool) -> bool:
    """Return whether an action is preferred to another: tried more often, or if that is equal, or `flat`, better."""
    if edge.visits == 0 or other.visits == 0 or not (flat or edge.visits == other.visits):
        return edge.visits > other.visits
    return edge.value / edge.visits > other.value / other.visits


@compiled
def default_edge(tree: Any, root: Any) -> Any:
    """Return the edge of what is played for want of anything better: the likeliest by the prior, or greedy's."""
    edge, default = np.int64(tree.nodes[0].first), np.int64(-1)
    if edge >= 0 and tree.edges[edge].prior > 0.0:
        while edge >= 0:
            if default < 0 or tree.edges[edge].prior > tree.edges[default].prior:
                default = edge
            edge = np.int64(tree.edges[edge].following)
        return default
    action = greedy(root)
    while edge >= 0:
        if tree.edges[edge].action == action:
            default = edge
        edge = np.int64(tree.edges[edge].following)
    return default


@compiled
def gap(tree: Any, edge: Any, other: Any) -> float:
    """Return by how many standard errors an action of the root is better than another."""
    total, freedom, place = 0.0, -1, np.int64(tree.nodes[0].first)
    while place >= 0:
        found = tree.edges[place]
        if found.visits:
            total += found.squares - found.value * found.value / found.visits
            freedom += found.visits - 1
        place = np.int64(found.following)
    first, second = tree.edges[edge], tree.edges[other]
    error = total / max(freedom, 1) * (1.0 / first.visits + 1.0 / second.visits)
    return (first.value / first.visits - second.value / second.visits) / np.sqrt(max(error, 1e-12))
