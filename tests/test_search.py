"""Search on games that can be worked out, its bookkeeping, and what the agents promise."""

from __future__ import annotations

import json
from dataclasses import replace
from math import exp, log, sqrt

import numpy as np
import pytest

from ice_envs import agents, find_game
from ice_envs.agents import search as search_module
from ice_envs.agents.search import CHUNK, SearchAgent
from ice_envs.engine import search, tree
from ice_envs.engine.game import SearchHints
from ice_envs.engine.loops import MAX_SEATS
from ice_envs.engine.playouts import ALL_MOVES, finish_round
from ice_envs.errors import IceError
from ice_envs.games import NAMES
from tests.face_helpers import games, in_process
from tests.helpers import masks, started
from tests.rooms import positions_of, positions_to_move
from tests.test_agents import sentence
from tests.toy_game import KEEP, KEEP_OR_SWAP, NUM_CARDS, SWAP
from tests.trap_game import RIGHT, SAFE, TRAP, TRAP_GAME

KINDS = pytest.mark.parametrize("kind", ["search", "search-flat"])


def some_positions(name, count=12, seed=0):
    """Return positions of all table sizes of a game in which somebody is to move."""
    room = positions_of(name)
    found = np.concatenate([positions_to_move(room, size)[:: 100 + size] for size in room.GAME.table_sizes])
    return np.random.default_rng(seed).permutation(found)[:count]


def alike(one, other):
    return all(a.tobytes() == b.tobytes() for a, b in zip(one, other, strict=True))


# ---- games whose best move is known ----


@KINDS
def test_finds_the_best_move_of_keep_or_swap(kind):
    """Only the highest card is worth keeping: 1 wins against less than the average of what may come."""
    states = started(KEEP_OR_SWAP, 2, 60, seed=1)
    agent = agents.load(f"{kind}:2000", seed=1)
    agent.game = KEEP_OR_SWAP
    for turn in range(3):
        cards = states["cards"][np.arange(60), states["to_move"]]
        assert set(cards) == set(range(NUM_CARDS))
        chosen = agent.choose(states)
        assert chosen[cards == 2].tolist() == [KEEP] * (cards == 2).sum()
        assert chosen[cards == 0].tolist() == [SWAP] * (cards == 0).sum()
        states["decisions"] = turn + 1
        states["to_move"] = (turn + 1) % 2


def test_a_tree_sees_the_trap_that_a_flat_search_walks_into():
    states = started(TRAP_GAME, 2, 20, seed=1)
    assert SearchAgent("search-flat:1000", TRAP_GAME).choose(states).tolist() == [TRAP] * 20
    found = SearchAgent("search:1000", TRAP_GAME).search(states)
    assert found.actions.tolist() == [SAFE] * 20
    assert found.values[:, SAFE] == pytest.approx(0.5)
    assert (found.visits[:, SAFE] > 800).all()
    states["to_move"] = 1
    states["decisions"] = 1
    assert SearchAgent("search:200", TRAP_GAME).choose(states).tolist() == [RIGHT] * 20


@pytest.mark.parametrize(("careless", "routine", "wins"), [(1, 0, 2 / 3), (0, 1, 1), (0.5, 0.5, 5 / 6)])
def test_the_trap_pays_against_who_is_taken_to_be_careless_or_to_play_as_greedy(careless, routine, wins):
    """At random the trap wins two games in three; greedy answers wrongly."""
    states = started(TRAP_GAME, 2, 20, seed=1)
    game = replace(TRAP_GAME, search=SearchHints(careless=careless, routine=routine))
    found = SearchAgent("search:2000", game).search(states)
    assert found.actions.tolist() == [TRAP] * 20
    won = (1 + 1 / (1 + exp(-1))) / 2  # half of it the estimate from being a point ahead
    assert found.values[:, TRAP].mean() == pytest.approx(wins * won + (1 - wins) * (1 - won), abs=0.01)
    states["to_move"], states["decisions"] = 1, 1
    assert SearchAgent("search:200", game).choose(states).tolist() == [RIGHT] * 20  # the searcher itself takes care


def test_what_is_not_clearly_better_than_greedy_is_not_played():
    """Greedy keeps a 1, which is a mistake that a short search may see, but cannot be sure of."""
    states = started(KEEP_OR_SWAP, 2, 300, seed=1)
    states = states[states["cards"][:, 0] == 1]
    doubtful = replace(KEEP_OR_SWAP, search=SearchHints(doubt=2.0))
    played = {}
    for simulations in (12, 4000):
        for game in (KEEP_OR_SWAP, doubtful):
            played[simulations, game.search.doubt] = SearchAgent(f"search:{simulations}", game).choose(states[:80])
    swaps = {kind: (actions == SWAP).mean() for kind, actions in played.items()}
    assert swaps[12, 0.0] > 0.3
    assert swaps[12, 2.0] < swaps[12, 0.0] / 2
    assert swaps[4000, 0.0] == swaps[4000, 2.0] == 1


# ---- bookkeeping, by hand ----


def right_choices(stats, legal):
    """Return the actions that may be chosen by {action: [visits, value, available]}; 2 is what greedy would do."""
    untried = {action for action in legal if action not in stats}
    if 2 in untried:
        return {2}
    visits, tried = sum(n for n, _, _ in stats.values()), len(legal) - len(untried)
    if untried and visits >= tried**2:
        return untried
    promises = {a: w / n + 0.4 * sqrt(log(available) / n) for a, (n, w, available) in stats.items() if a in legal}
    return {max(promises, key=promises.get)}


def test_actions_are_judged_by_how_often_they_were_available():
    worth = [0.8, 0.3, 0.2, 0.5]
    extras = [0, 0, 0, 3, 0, 3, 3, 0, 0, 0, 3, 0, 3, 3, 3, 0, 0, 3, 0, 3] * 3
    states = started(TRAP_GAME, 2)
    states["to_move"], states["decisions"] = 1, 1
    forest = tree.new_forest(TRAP_GAME, 1, 100, guided=False)
    search.plant(states, forest, False, False)
    own, edges, stats = tree.tree_of(forest, 0), forest.edges[0], {}
    for extra in extras:
        states["extra"] = extra
        legal = [1, 2, extra]
        edge = tree.choose_edge(own, 0, states[0], tree.count_legal(states[0], own.mask))
        chosen = int(edges[edge].action)
        tree.record(edges[edge], worth[chosen])
        for action in stats:
            stats[action][2] += action in legal
        assert chosen in right_choices(stats, legal)
        entry = stats.setdefault(chosen, [0, 0.0, 1])
        entry[0] += 1
        entry[1] += worth[chosen]
    used = edges[: forest.counts[0, tree.EDGES]]
    found = {int(edge.action): [int(edge.visits), float(edge.value), int(edge.available)] for edge in used}
    assert found == {action: [n, pytest.approx(w), available] for action, (n, w, available) in stats.items()}
    assert len({available for _, _, available in found.values()}) > 2


def test_secret_moves_of_others_do_not_tell_nodes_apart():
    """After any two start cards of another seat the searching seat is at the same decision, if it sees the same."""
    game = find_game("ice_split")
    states = started(game, 3, 50, seed=2)
    forest = tree.new_forest(game, 50, 400, guided=False)
    search.plant(states, forest, False, False)
    hints = game.search._replace(careless=0.0, routine=0.0)
    search.grow(states, np.arange(50), np.uint64(1), forest, 400, False, False, hints)
    for i in range(50):
        nodes, edges = forest.nodes[i][: forest.counts[i, tree.NODES]], forest.edges[i]
        tried = [actions_at(edges, node) for node in nodes]
        starts = [actions for actions in tried if actions and max(actions) < 63]
        # the searching seat's own choice among four cards, and after each the choices of the two others
        assert [len(actions) for actions in starts[:1]] == [4]
        assert len(starts) == 1 + 4 * 2
        assert max(len(actions) for actions in starts[1:]) > 10, "many a card may be in a hidden hand"


def actions_at(edges, node):
    """Return the actions that were tried at a node."""
    place, found = int(node.first), []
    while place >= 0:
        found.append(int(edges[place].action))
        place = int(edges[place].following)
    return found


@games
@KINDS
@pytest.mark.parametrize("simulations", [1, 7, 150])
def test_as_many_simulations_as_were_asked_for(name, kind, simulations):
    states = some_positions(name)
    found = agents.load(f"{kind}:{simulations}", name).search(states)
    legal = masks(find_game(name), states)
    forced = legal.sum(axis=1) == 1
    assert found.visits.sum(axis=1).tolist() == np.where(forced, 1, simulations).tolist()
    assert (found.visits[legal == 0] == 0).all()
    assert (found.values[found.visits == 0] == 0).all()
    assert ((found.values >= 0) & (found.values <= 1)).all()
    assert legal[np.arange(len(states)), found.actions].all()
    if kind == "search-flat":
        tries = [visits[mask == 1] for visits, mask in zip(found.visits, legal, strict=True)]
        assert all(np.ptp(row) <= 1 for row in tries)


def test_a_full_tree_grows_no_more_but_searches_on():
    game = find_game("dokitto")
    states = started(game, 4, 3, seed=1)
    forest = tree.new_forest(game, 3, 20, guided=False)
    search.plant(states, forest, False, False)
    search.grow(states, np.arange(3), np.uint64(1), forest, 2000, False, False, game.search)
    assert (forest.counts[:, tree.NODES] == 21).all()
    assert (forest.counts[:, tree.EDGES] <= forest.edges.shape[1]).all()
    visits, values, actions = np.zeros((3, 70), np.int64), np.zeros((3, 70)), np.zeros(3, np.int64)
    search.write_results(states, forest, False, 0.0, visits, values, actions)
    assert visits.sum(axis=1).tolist() == [2000] * 3


def test_a_simulation_allocates_nothing():
    """Numba counts the arrays that compiled code makes: with four times the simulations there are no more of them."""
    code = """
from numba.core.runtime import rtsys
from ice_envs import agents
from ice_envs.games import NAMES
from tests.test_search import some_positions
for name in NAMES:
    states = some_positions(name)
    for kind in ("search", "search-flat"):
        made = []
        for simulations in (100, 100, 400):  # the first search compiles
            before = rtsys.get_allocation_stats().alloc
            agents.load(f"{kind}:{simulations}", name).search(states)
            made.append(rtsys.get_allocation_stats().alloc - before)
        print(name, kind, made[2] - made[1], made[1] > 0)
"""
    done = in_process(code, NUMBA_NRT_STATS="1")
    assert done.stderr == ""
    kinds = [f"{name} {kind}" for name in NAMES for kind in ("search", "search-flat")]
    assert done.stdout.splitlines() == [f"{kind} 0 True" for kind in kinds]


# ---- what the agents promise ----


@games
@KINDS
def test_one_seed_one_result_on_any_number_of_threads(name, kind, monkeypatch):
    monkeypatch.setattr(search_module, "LARGEST_GROUP", 8)  # so that there is something to share
    states = np.concatenate([some_positions(name, 10)] * 3)
    found = [
        SearchAgent(f"{kind}:150", find_game(name), seed=5, num_threads=threads).search(states) for threads in (1, 2, 7)
    ]
    assert alike(found[0], found[1])
    assert alike(found[0], found[2])
    other = SearchAgent(f"{kind}:150", find_game(name), seed=6).search(states)
    assert not alike(found[0], other)


def test_a_seed_repeats_its_calls():
    states = some_positions("dokitto")
    agent = agents.load("search:50", "dokitto", seed=3)
    first, second = agent.search(states), agent.search(states)
    assert not alike(first, second)
    agent.reseed(3)
    assert alike(agent.search(states), first)


@games
def test_longer_calls_begin_as_shorter_ones(name):
    states = some_positions(name)
    whole, part = (agents.load("search:40", name, seed=1).search(rows) for rows in (states, states[:5]))
    assert alike(part, [column[:5] for column in whole])


def test_a_search_by_time_looks_at_the_clock_after_each_chunk(monkeypatch):
    clock = iter(range(1000))
    monkeypatch.setattr(search_module.time, "perf_counter", lambda: next(clock) / 200)  # 5 ms each time
    states = started(find_game("dokitto"), 4, 3, seed=1)
    found = SearchAgent("search:20ms", find_game("dokitto"), num_threads=1).search(states)
    assert found.visits.sum(axis=1).tolist() == [4 * CHUNK] * 3


@KINDS
def test_a_search_by_time_plays_legal_moves(kind):
    states = some_positions("kawaii", 4)
    found = agents.load(f"{kind}:2ms", "kawaii").search(states)
    assert masks(find_game("kawaii"), states)[np.arange(4), found.actions].all()


@games
def test_answers_a_view(name):
    game = find_game(name)
    state = some_positions(name, 1)[0]
    agent = agents.load("search:30", seed=2)
    move = agent.act(json.loads(json.dumps(game.to_view(state, int(state.to_move)))))
    assert agent.name == "search:30"
    assert masks(game, np.array([state], game.dtype))[0, move.action] == 1


def test_games_that_are_over_are_refused():
    states = started(find_game("dokitto"), 4, 2)
    states["over"] = [0, 1]
    for spec in ("search:10", "search-flat:10"):
        with pytest.raises(IceError, match="game that is over"):
            agents.load(spec, "dokitto").choose(states)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("search:0", ["the simulations of 'search:0' must be from 1 to 1073741824, not 0"]),
        ("search:-5", ["must be from 1 to", "not -5"]),
        ("search:0ms", ["the milliseconds of 'search:0ms' must be from 1 to 3600000, not 0"]),
        ("search-flat:-1ms", ["must be from 1 to", "not -1"]),
        ("search:", ["'search:' must be search:<simulations> or search:<milliseconds>ms", "search:50ms"]),
        ("search:many", ["such as search:1000 or search:50ms"]),
        ("search:1.5", ["such as search:1000 or search:50ms"]),
        ("search-flat:5s", ["such as search-flat:1000 or search-flat:50ms"]),
        ("search:10+", ["'search:10+' names no policy", "agent.json"]),
        ("search:10+nowhere/agent.json", ["cannot read nowhere/agent.json"]),
        ("search-flat:10+agent.json", ["takes no policy", "must be search-flat:10, or search:10+agent.json"]),
        ("search", ["unknown agent 'search'"]),
        ("search:" + "9" * 5000, ["must be search:<simulations> or search:<milliseconds>ms"]),
        ("search:" + "9" * 20, ["must be from 1 to 1073741824, not 99999999999999999999"]),
        ("search:5ms+" + "x" * 300, ["unknown agent 'xxxx"]),
        ("search:5ms+" + "x" * 300 + ".json", ["cannot read xxxx", "File name too long"]),
        ("x" * 300, ["unknown agent 'xxxx", "(valid: random, greedy, search:1000, path/to/agent.json)"]),
        ("serch:1000", ["did you mean 'search:1000'?"]),
    ],
)
def test_bad_specs_are_told_in_one_sentence(spec, words):
    with pytest.raises(IceError) as error:
        agents.load(spec, "dokitto")
    assert all(word in sentence(error) for word in words)


# ---- hints of the games ----


@games
def test_points_are_spread_as_a_game_says(name):
    """The unit in which a search measures leads is of the size of what a round of good play brings."""
    game = find_game(name)
    states = started(game, game.table_sizes[-1], 200, seed=1)
    mask, choices = np.zeros(game.num_actions, np.int8), np.zeros(game.num_actions, np.int64)
    for state in states:
        finish_round(state, ALL_MOVES, mask, choices)
    points = np.zeros((len(states), MAX_SEATS))
    for state, row in zip(states, points, strict=True):
        game.rules.score(state, row)
    spread = points[:, : game.table_sizes[-1]].std(axis=1, ddof=1).mean()
    assert game.search.spread / 4 < spread < game.search.spread * 4


def test_plain_python_searches_alike():
    code = """
import numpy as np
from ice_envs import agents, find_game
from tests.helpers import started
for name, simulations in (("dokitto", 12), ("kawaii", 2)):
    states = started(find_game(name), 2, 2, seed=4)
    for spec in (f"search:{simulations}", f"search-flat:{simulations}"):
        found = agents.load(spec, name, seed=1).search(states)
        print(found.actions, found.visits[found.visits > 0], found.values.sum().round(9))
"""
    compiled, plain = in_process(code), in_process(code, NUMBA_DISABLE_JIT="1")
    assert compiled.stderr == plain.stderr == ""
    assert compiled.stdout == plain.stdout
    assert len(plain.stdout.splitlines()) == 4
