"""Information-set Monte-Carlo tree search in arrays, for every game and any number of seats.

Single-observer search after Cowling, Powley and Whitehouse, "Information Set Monte Carlo Tree Search" (2012): each
simulation draws anew what the searching seat cannot know, walks down a tree that is the same for all draws, adds a
decision to it, and plays on to the end of the round. A node is what the *searching* seat observes and who is to move,
so what others do in secret tells nodes apart only as far as that seat sees it, and orders of play that look alike to it
share a node. Every seat maximizes its own value. An action is judged among those that were available when its decision
was reached, as the draws make others available to the seats whose cards are hidden.

Nothing is allocated by a simulation. A full tree stops growing: simulations then play on from where they leave it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ice_envs.engine.game import Game, apply, determinize, greedy, legal, observe, score, win_share
from ice_envs.engine.generator import mix, random_below
from ice_envs.engine.jit import RECORD, compiled
from ice_envs.engine.loops import MAX_SEATS
from ice_envs.engine.playouts import finish_round

MOST_NODES = 1 << 18
"""A tree does not grow larger, however many simulations there are."""
EDGES_PER_NODE = 2
"""A simulation adds a node and mostly an edge; more where its hidden moves lead to a node that is there already."""
EDGES_PER_ANSWER = 12
"""With a policy prior all actions of a decision of the searching seat become edges at once."""
DEEPEST = 128
"""Decisions of one simulation that are counted."""

_EXPLORATION = 0.4
"""Weight of the bonus for actions that were tried seldom, where values are win shares; without a policy prior."""
_TRUST = 0.6
"""The same with a policy prior, as in PUCT."""
_CHANCES = 1 << 10
"""A chance is drawn as one of so many numbers."""
_WON = 0.5
"""How much winning or losing counts at the end of a game; the rest is by how far the points are apart."""

NODES, EDGES, DONE, ASKING = range(4)
"""What `Forest.counts` counts: nodes and edges in use, simulations done; and the node that wants a prior, or −1."""

_NODE = np.dtype((RECORD, np.dtype([("key", "u8"), ("first", "i4"), ("padding", "i4")])))
"""`first`: its edge added last, or −1."""
_EDGE = np.dtype(
    (
        RECORD,
        np.dtype(
            [
                ("value", "f8"),  # sum of what simulations were worth to the seat whose action it is
                ("squares", "f8"),  # sum of the squares
                ("prior", "f4"),  # 0: none is known
                ("action", "i4"),
                ("visits", "i4"),
                ("available", "i4"),  # how often the action was legal at its node since it was tried first
                ("following", "i4"),  # the node's next edge, or −1
                ("padding", "i4"),
            ]
        ),
    )
)
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_29, _WORDS = np.uint64(29), 4


class Tree(NamedTuple):
    """A tree, and what its simulations write on; `Forest` holds several, with a first axis for all but the scratch."""

    nodes: Any
    edges: Any
    table: Any
    """Nodes by their key's low bits, −1 where there is none; of several the next free place."""
    counts: Any
    observation: Any
    """What the searching seat saw at the decision reached last; its words of 64 bits are `words`."""
    words: Any
    mask: Any
    """What was legal there, less what was tried before."""
    states: Any
    """Scratch, as all that follows: the imagined game, and the draw that a flat search tries its actions on."""
    path: Any
    movers: Any
    trial_mask: Any
    choices: Any
    values: Any
    points: Any


def new_forest(game: Game, trees: int, simulations: int, guided: bool) -> Tree:
    """Return room for the trees of so many positions, each of so many simulations.

    Args:
        game: whose positions are searched.
        trees: positions searched side by side.
        simulations: of each position.
        guided: the trees take a policy's priors.
    """
    nodes = min(simulations + 1, MOST_NODES)
    edges = nodes * (EDGES_PER_ANSWER if guided else EDGES_PER_NODE) + game.num_actions
    length = -(-game.layout.size // (8 * _WORDS)) * 8 * _WORDS
    observation = np.zeros((trees, length), np.uint8)
    return Tree(
        nodes=np.zeros((trees, nodes), _NODE),
        edges=np.zeros((trees, edges), _EDGE),
        table=np.zeros((trees, 1 << (2 * nodes - 1).bit_length()), np.int32),
        counts=np.zeros((trees, 4), np.int64),
        observation=observation,
        words=observation.view(np.uint64),
        mask=np.zeros((trees, game.num_actions), np.int8),
        states=np.zeros(2, game.dtype),
        path=np.zeros(DEEPEST, np.int64),
        movers=np.zeros(DEEPEST, np.int64),
        trial_mask=np.zeros(game.num_actions, np.int8),
        choices=np.zeros(game.num_actions, np.int64),
        values=np.zeros(MAX_SEATS),
        points=np.zeros(MAX_SEATS),
    )


@compiled
def tree_of(forest: Any, i: int) -> Any:
    """Return one of the trees."""
    return Tree(
        forest.nodes[i],
        forest.edges[i],
        forest.table[i],
        forest.counts[i],
        forest.observation[i],
        forest.words[i],
        forest.mask[i],
        forest.states,
        forest.path,
        forest.movers,
        forest.trial_mask,
        forest.choices,
        forest.values,
        forest.points,
    )


# ---- nodes and edges ----


@compiled
def node_key(tree: Any, state: Any, seat: int) -> Any:
    """Return a hash of 64 bits of what the seat observes and who is to move, in four lanes that run side by side."""
    tree.observation[:] = 0
    observe(state, seat, tree.observation)
    a, b, c, d = np.uint64(state.to_move), np.uint64(1), np.uint64(2), np.uint64(3)
    words = tree.words
    for i in range(0, len(words), _WORDS):
        a = np.multiply(a ^ words[i], _FACTOR)
        b = np.multiply(b ^ words[i + 1], _FACTOR)
        c = np.multiply(c ^ words[i + 2], _FACTOR)
        d = np.multiply(d ^ words[i + 3], _FACTOR)
        a, b, c, d = a ^ (a >> _29), b ^ (b >> _29), c ^ (c >> _29), d ^ (d >> _29)
    return mix(np.add(mix(np.add(mix(np.add(mix(a), b)), c)), d))


@compiled
def find_node(tree: Any, key: Any) -> Any:
    """Return the node with this key and whether it is new; −1 for a new one in a full tree."""
    last = len(tree.table) - 1
    place = np.int64(key & np.uint64(last))
    while tree.table[place] >= 0:
        node = np.int64(tree.table[place])
        if tree.nodes[node].key == key:
            return node, False
        place = (place + 1) & last
    node = np.int64(tree.counts[NODES])
    if node == len(tree.nodes):
        return np.int64(-1), True
    tree.counts[NODES] += 1
    tree.table[place] = node
    tree.nodes[node].key = key
    tree.nodes[node].first = -1
    return node, True


@compiled
def add_edge(tree: Any, node: Any, action: Any, prior: float) -> Any:
    """Return a new edge of a node; −1 in a full tree."""
    edge = np.int64(tree.counts[EDGES])
    if edge == len(tree.edges):
        return np.int64(-1)
    tree.counts[EDGES] += 1
    new = tree.edges[edge]
    new.value = 0.0
    new.squares = 0.0
    new.prior = prior
    new.action = action
    new.visits = 0
    new.available = 0
    new.following = tree.nodes[node].first
    tree.nodes[node].first = edge
    return edge


@compiled
def count_legal(state: Any, mask: Any) -> Any:
    """Write the mask of legal actions; return how many there are."""
    legal(state, mask)
    count = 0
    for action in range(len(mask)):
        count += mask[action]
    return count


@compiled
def nth_action(mask: Any, n: int) -> int:
    """Return the n-th action of a mask, from 0."""
    for action in range(len(mask)):
        n -= mask[action]
        if n < 0:
            return action
    return -1


# ---- a simulation ----


@compiled
def mean_value(tree: Any, node: Any) -> float:
    """Return the mean of what has been reached from a node, to the seat to move there."""
    total, visits, edge = 0.0, 0, np.int64(tree.nodes[node].first)
    while edge >= 0:
        total += tree.edges[edge].value
        visits += tree.edges[edge].visits
        edge = np.int64(tree.edges[edge].following)
    return total / max(visits, 1)


@compiled
def promise(edge: Any, mean: float) -> float:
    """Return how much an available action deserves to be tried: its value, and a bonus if it was tried seldom.

    With a prior as in PUCT, an action that was not tried being worth the mean of the others; else as in UCB1. What
    counts is how often the action could have been tried, not how often its node was reached.
    """
    if edge.prior > 0.0:
        value = edge.value / edge.visits if edge.visits else mean
        return value + _TRUST * edge.prior * np.sqrt(edge.available) / (1 + edge.visits)
    return edge.value / edge.visits + _EXPLORATION * np.sqrt(np.log(edge.available) / edge.visits)


@compiled
def choose_edge(tree: Any, node: Any, state: Any, count: int) -> Any:
    """Return the edge to follow where `count` actions are legal (`tree.mask`); −1 if there is no room for one.

    What the greedy baseline would do is tried as soon as it can be; one more of the others whenever the visits have
    reached the square of how many were tried (progressive unpruning): nobody plays at random where little is known.
    """
    edge = np.int64(tree.nodes[node].first)
    best, best_promise, tried, visits = np.int64(-1), 0.0, 0, 0
    mean = mean_value(tree, node) if edge >= 0 and tree.edges[edge].prior > 0.0 else 0.0
    while edge >= 0:
        found = tree.edges[edge]
        visits += found.visits
        if tree.mask[found.action]:
            tree.mask[found.action] = 0
            tried += 1
            found.available += 1
            promised = promise(found, mean)
            if best < 0 or promised > best_promise:
                best, best_promise = edge, promised
        edge = np.int64(found.following)
    if tried == count or tree.counts[EDGES] == len(tree.edges):
        return best
    action = greedy(state)
    if tree.mask[action] == 0:
        if visits < tried * tried:
            return best
        action = nth_action(tree.mask, random_below(state, count - tried))
    best = add_edge(tree, node, action, 0.0)
    tree.edges[best].available = 1
    return best


@compiled
def next_decision(tree: Any, state: Any, root: Any, hints: Any) -> int:
    """Play on to a decision that the tree takes, or the round's end; return how many actions are legal, 0 at the end.

    Passed over are decisions without a choice, and those that other seats take without the tree (see `SearchHints`).
    """
    while state.over == 0 and state.round_number == root.round_number:
        count = count_legal(state, tree.mask)
        chance = 1.0
        if state.to_move != root.to_move and hints.careless + hints.routine > 0.0:
            chance = random_below(state, _CHANCES) / _CHANCES
        if count == 1 or chance < hints.careless:
            apply(state, nth_action(tree.mask, random_below(state, count)))
        elif chance < hints.careless + hints.routine:
            apply(state, greedy(state))
        else:
            return count
    return 0


@compiled
def walk(tree: Any, state: Any, edge: Any, root: Any, guided: bool, hints: Any) -> int:
    """Play from an edge of the root to a decision that the tree did not know, or the round's end.

    Return the length of the path. With `guided`, a new decision of the searching seat asks for a prior.
    """
    depth = 0
    while edge >= 0:
        tree.path[depth] = edge
        tree.movers[depth] = state.to_move
        depth += 1
        apply(state, tree.edges[edge].action)
        count = next_decision(tree, state, root, hints)
        if count == 0 or depth == len(tree.path):
            return depth
        node, is_new = find_node(tree, node_key(tree, state, root.to_move))
        if is_new:
            if guided and node >= 0 and state.to_move == root.to_move:
                tree.counts[ASKING] = node
            return depth
        edge = choose_edge(tree, node, state, count)
    return depth


@compiled
def write_values(state: Any, spread: float, points: Any, out: Any) -> None:
    """Write an estimate of each seat's win share into `out`; `points` is scratch.

    The exponentials of the points, `spread` being the unit, in proportion; once the game is over also who has won.
    """
    score(state, points)
    most, total = points[0], 0.0
    for seat in range(state.num_players):
        most = max(most, points[seat])
    for seat in range(state.num_players):
        out[seat] = np.exp((points[seat] - most) / spread)
        total += out[seat]
    for seat in range(state.num_players):
        out[seat] /= total
    if state.over:
        win_share(state, points)
        for seat in range(state.num_players):
            out[seat] += _WON * (points[seat] - out[seat])


@compiled
def record(edge: Any, value: float) -> None:
    """Add what a simulation was worth."""
    edge.visits += 1
    edge.value += value
    edge.squares += value * value


@compiled
def simulate(tree: Any, root: Any, stream: Any, guided: bool, hints: Any) -> int:
    """Do one simulation; return how many moves it played.

    The k-th simulation of each action at the root is on the k-th draw: what is compared is tried on the same draws.
    """
    tree.states[0] = root
    state = tree.states[0]
    state.rng = mix(np.subtract(stream, np.uint64(1 + tree.counts[DONE])))
    edge = choose_edge(tree, 0, state, count_legal(state, tree.mask))
    determinize(state, root.to_move, mix(np.add(stream, np.uint64(tree.edges[edge].visits))))
    depth = walk(tree, state, edge, root, guided, hints)
    if state.round_number == root.round_number:
        finish_round(state, hints.greedy_moves, tree.trial_mask, tree.choices)
    write_values(state, hints.spread, tree.points, tree.values)
    for place in range(depth):
        record(tree.edges[tree.path[place]], tree.values[tree.movers[place]])
    tree.counts[DONE] += 1
    return state.decisions - root.decisions


@compiled
def try_in_turn(tree: Any, root: Any, stream: Any, fresh: bool, hints: Any) -> int:
    """Do one simulation of a flat search, which tries all actions on one draw before the next; return its moves.

    The root has an edge for each action. With `fresh`, the draw is not yet in `tree.states[1]`.
    """
    draw, edge = divmod(tree.counts[DONE], tree.counts[EDGES])
    if fresh or edge == 0:
        tree.states[1] = root
        determinize(tree.states[1], root.to_move, mix(np.add(stream, np.uint64(draw))))
    tree.states[0] = tree.states[1]
    state = tree.states[0]
    apply(state, tree.edges[edge].action)
    if state.round_number == root.round_number:
        finish_round(state, hints.greedy_moves, tree.trial_mask, tree.choices)
    write_values(state, hints.spread, tree.points, tree.values)
    record(tree.edges[edge], tree.values[root.to_move])
    tree.counts[DONE] += 1
    return state.decisions - root.decisions
