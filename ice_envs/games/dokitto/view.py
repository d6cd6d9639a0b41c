"""What one seat of Dokitto! Ice knows, as plain JSON, both ways: for front ends that keep the rules themselves.

    game, version, num_players, options    which game: {"target_score": 10, …}; options left out are the defaults
    seat                                   whose knowledge this is; seats count from 0, clockwise
    round, first_leader                    number of the round, from 1; who led its first trick
    hand                                   [{"flavor": "matcha", "number": 7}, …]
    played                                 this round's cards as they were played, the trick on the table last:
                                           [{"seat": 2, "flavor": "grape", "number": 1, "trick": 1}, …]
    tiles, toppings                        {flavor: tiles left}; flavors whose topping is not taken yet
    cones                                  of each seat {"tiles": [flavor, …], "toppings": [flavor, …]}
    totals                                 each seat's points of the finished rounds
    phase, to_move                         "play" or "take_tile"; whose turn it is, null when the game is over
    over, truncated                        whether the game is over; whether by the limit of rounds
    tile_choices                           only in phase "take_tile": flavors the trick's winner may choose among
    legal_actions                          only if the seat is to move: [{"action", "label", "label_ja"}, …]; ignored
    seed                                   for `from_view` alone: which draw of the hidden cards and stars; default 0

In what order tiles came onto a cone is nowhere recorded: lists of flavors are in the order of `rules.FLAVORS`, and
read in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

import numpy as np

from ice_envs.engine import loops
from ice_envs.engine.game import Game, States
from ice_envs.engine.jit import compiled
from ice_envs.errors import IceError, choose, nearest, whole_number
from ice_envs.games import find_game
from ice_envs.games.dokitto.determinize import determinize
from ice_envs.games.dokitto.rules import (
    CONE_SIZE,
    DTYPE,
    FLAVORS,
    LOW_WIN_TILES,
    MAX_PLAYERS,
    NEXT_LEADERS,
    NUM_CARDS,
    NUM_FLAVORS,
    NUM_NUMBERS,
    TAKE_TILE,
    TILES_PER_FLAVOR,
    apply,
    open_trick,
    play_card,
    trick_winner,
)

PHASES = ("play", "take_tile")
_REQUIRED = (
    *("game", "version", "num_players", "options", "seat", "round", "first_leader", "hand", "played"),
    *("tiles", "toppings", "cones", "totals", "phase", "to_move", "over", "truncated"),
)
_OPTIONAL = ("tile_choices", "legal_actions", "seed")

Card = tuple[int, int]
"""Flavor index and number."""


# ---- the record's side ----


@compiled
def order_of_play(states: Any, scratch: Any, order: Any) -> int:
    """Write the cards played this round in the order of play; return how many. Game `states[0]`."""
    state, table = states[0], scratch[0]
    laid = np.full((NUM_NUMBERS, state.num_players), -1)
    for card in range(NUM_CARDS):
        if state.played_by[card]:
            laid[state.played_trick[card] - 1, state.played_by[card] - 1] = card
    table.num_players = state.num_players + 1  # with a seat too many the trick stays open, and shows who is ahead
    count, leader = 0, state.first_leader
    for trick in range(state.hand_size):
        open_trick(table, leader)
        for step in range(state.num_players):
            seat = (leader + step) % state.num_players
            if laid[trick, seat] < 0:
                return count
            table.to_move = seat
            play_card(table, laid[trick, seat])
            order[count] = laid[trick, seat]
            count += 1
        leader = trick_winner(table)
    return count


def played_tricks(state: Any) -> list[list[tuple[int, int]]]:
    """Return the round's tricks in order, each as (seat, card) in the order of play."""
    order = np.zeros(NUM_CARDS, np.int64)
    count = order_of_play(np.asarray(state).reshape(1), np.zeros(1, DTYPE), order)
    size, players = int(state.num_players), state.played_by.tolist()
    plays = [(players[card] - 1, card) for card in order[:count].tolist()]
    return [plays[first : first + size] for first in range(0, count, size)]


def flavors_of(bits: int) -> list[str]:
    """Return the names of a set of flavors."""
    return [name for flavor, name in enumerate(FLAVORS) if int(bits) >> flavor & 1]


def numbers_of(bits: int) -> list[int]:
    """Return the numbers of a set of cards of one flavor."""
    return [place + 1 for place in range(NUM_NUMBERS) if int(bits) >> place & 1]


def options_of(state: Any) -> dict[str, Any]:
    """Return the rule options that a record was configured with."""
    return {
        "target_score": int(state.target_score),
        "max_rounds": int(state.max_rounds),
        "stars_per_flavor": int(state.stars_per_flavor),
        "next_leader": NEXT_LEADERS[state.next_leader],
        "low_win_tile": LOW_WIN_TILES[state.low_win_tile],
    }


def to_view(state: Any, seat: int) -> dict[str, Any]:
    """Return what `seat` knows of the game `state` (one record), as plain JSON data (see the module)."""
    game, num_players = find_game("dokitto"), int(state.num_players)
    seat = whole_number("seat", seat, 0, num_players - 1)
    over = bool(state.over)
    in_play = FLAVORS[: state.num_flavors]
    cones, cone_toppings = state.cones.tolist(), state.cone_toppings.tolist()
    view = {
        "game": game.name,
        "version": game.version,
        "num_players": num_players,
        "options": options_of(state),
        "seat": seat,
        "round": int(state.round_number),
        "first_leader": int(state.first_leader),
        "hand": [
            {"flavor": name, "number": number}
            for name, numbers in zip(FLAVORS, state.hands[seat].tolist(), strict=True)
            for number in numbers_of(numbers)
        ],
        "played": [
            {
                "seat": player,
                "flavor": FLAVORS[card // NUM_NUMBERS],
                "number": card % NUM_NUMBERS + 1,
                "trick": trick,
            }
            for trick, plays in enumerate(played_tricks(state), 1)
            for player, card in plays
        ],
        "tiles": dict(zip(in_play, state.tiles.tolist(), strict=False)),
        "toppings": flavors_of(state.toppings),
        "cones": [
            {
                "tiles": [name for name, count in zip(FLAVORS, cones[other], strict=True) for _ in range(count)],
                "toppings": flavors_of(cone_toppings[other]),
            }
            for other in range(num_players)
        ],
        "totals": state.totals[:num_players].tolist(),
        "phase": PHASES[state.phase],
        "to_move": None if over else int(state.to_move),
        "over": over,
        "truncated": bool(state.truncated),
    }
    if state.phase == TAKE_TILE:
        view["tile_choices"] = flavors_of(state.tile_choices)
    if seat == view["to_move"]:
        view["legal_actions"] = _legal_actions(game, state)
    return view


def _legal_actions(game: Game, state: Any) -> list[dict[str, Any]]:
    mask = np.zeros((1, game.num_actions), np.int8)
    loops.legal_games(np.asarray(state).reshape(1), mask)
    legal = np.flatnonzero(mask[0]).tolist()
    return [{"action": a, "label": game.labels[a], "label_ja": game.labels_ja[a]} for a in legal]


# ---- the view's side ----


def from_view(view: Mapping[str, Any]) -> States:
    """Return a game (one record, shape (1,)) that agrees with all the view's seat knows.

    All that follows from the view is as in the true record; what the seat cannot know is drawn by `determinize` from
    the view's "seed". (`decisions` counts this round's only.) The round is replayed by the rules, so a view that no
    play could lead to is refused.

    Raises IceError, naming the field and what is wrong with it.
    """
    _check_fields("the view", view, _REQUIRED, _OPTIONAL)
    states = _new_round(view)
    seat = whole_number("seat", view["seat"], 0, int(states[0].num_players) - 1)
    seed = whole_number("seed", view.get("seed", 0), 0, 2**64 - 1)
    max_rounds = int(states[0].max_rounds)
    states["max_rounds"] = states["round_number"]  # a round replayed to its end deals no other
    states = _replay(view, states, seat)
    states["max_rounds"] = max_rounds
    _read_ending(view, states[0])
    _fill_hands(states[0], seat)
    draw_hidden(states, seat, np.uint64(seed))
    return states


@compiled
def draw_hidden(states: Any, seat: int, seed: Any) -> None:
    """Redraw what the seat cannot know of the game `states[0]`."""
    determinize(states[0], seat, seed)


@compiled
def apply_to(states: Any, action: int) -> None:
    """Play a legal action in the game `states[0]`."""
    apply(states[0], action)


def _check_fields(where: str, value: object, required: Iterable[str], optional: Iterable[str] = ()) -> None:
    if not isinstance(value, Mapping):
        raise IceError(f"{where} must be an object with named fields, not {value!r}")
    names = [*required, *optional]
    for name in value:
        if name not in names:
            raise IceError(f"{where} has no field {name!r}{nearest(name, names)}")
    for name in required:
        if name not in value:
            raise IceError(f"{where} lacks the field {name!r}")


def _list(where: str, value: object, length: int | None = None) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise IceError(f"{where} must be a list, not {value!r}")
    if length is not None and len(value) != length:
        raise IceError(f"{where} must have {length} entries, one for each seat, not {len(value)}")
    return list(value)


def _flag(view: Mapping[str, Any], name: str) -> bool:
    if not isinstance(view[name], bool):
        raise IceError(f"{name} must be true or false, not {view[name]!r}")
    return bool(view[name])


def _flavor(where: str, value: object, in_play: Iterable[str]) -> int:
    return FLAVORS.index(choose(f"flavor in {where}:", value, in_play))


def _flavor_set(where: str, value: object, in_play: Iterable[str]) -> int:
    """Read a list of different flavors as bits."""
    bits = 0
    for flavor in (_flavor(where, name, in_play) for name in _list(where, value)):
        if bits >> flavor & 1:
            raise IceError(f"{where} names {FLAVORS[flavor]} twice")
        bits |= 1 << flavor
    return bits


def _card(where: str, value: Mapping[str, Any], in_play: Iterable[str]) -> Card:
    return _flavor(where, value["flavor"], in_play), whole_number(f"{where}.number", value["number"], 1, NUM_NUMBERS)


def _name(card: Card) -> str:
    return f"{FLAVORS[card[0]]} {card[1]}"


def _new_round(view: Mapping[str, Any]) -> States:
    """Return the game at the beginning of the view's round, no hands dealt, but all tiles' toppings as they are now.

    Toppings decide nothing before the round ends, and then they count.
    """
    game = find_game("dokitto")
    choose("game", view["game"], [game.name])
    whole_number("version", view["version"], game.version, game.version)
    num_players = whole_number("num_players", view["num_players"], game.table_sizes[0], game.table_sizes[-1])
    if not isinstance(view["options"], Mapping):
        raise IceError(f"options must be an object with named fields, not {view['options']!r}")
    states = loops.new_states(game, [num_players], view["options"], np.zeros(1, np.uint64))
    state = states[0]
    state.hands[:] = 0
    state.stars[:] = 0
    state.round_number = whole_number("round", view["round"], 1, int(state.max_rounds))
    state.first_leader = whole_number("first_leader", view["first_leader"], 0, num_players - 1)
    state.leader = state.to_move = state.first_leader
    in_play = FLAVORS[: state.num_flavors]
    state.toppings = _flavor_set("toppings", view["toppings"], in_play)
    for seat, cone in enumerate(_list("cones", view["cones"], num_players)):
        _check_fields(f"cones[{seat}]", cone, ("tiles", "toppings"))
        state.cone_toppings[seat] = _flavor_set(f"cones[{seat}].toppings", cone["toppings"], in_play)
    return states


def _read_cones(view: Mapping[str, Any], state: Any) -> Any:
    """Return the tiles on the view's cones (seats, flavors), checked against stacks and toppings."""
    in_play = FLAVORS[: state.num_flavors]
    cones = np.zeros((MAX_PLAYERS, NUM_FLAVORS), np.int8)
    for seat, cone in enumerate(view["cones"]):
        tiles = _list(f"cones[{seat}].tiles", cone["tiles"])
        if len(tiles) > CONE_SIZE:
            raise IceError(f"cones[{seat}].tiles must be at most {CONE_SIZE}, not {len(tiles)}")
        for name in tiles:
            cones[seat, _flavor(f"cones[{seat}].tiles", name, in_play)] += 1
    _check_fields("tiles", view["tiles"], in_play)
    for flavor, name in enumerate(in_play):
        left = whole_number(f"tiles.{name}", view["tiles"][name], 0, TILES_PER_FLAVOR)
        if left + cones[:, flavor].sum() != TILES_PER_FLAVOR:
            taken = int(cones[:, flavor].sum())
            raise IceError(
                f"tiles.{name} is {left} and {taken} lie on the cones: together they must be {TILES_PER_FLAVOR}"
            )
        _check_topping(state, cones, flavor, left)
    return cones


def _check_topping(state: Any, cones: Any, flavor: int, left: int) -> None:
    """Refuse a topping in two places or none, on a cone without its tile, or against the number of stars."""
    name, stars = FLAVORS[flavor], int(state.stars_per_flavor)
    owners = [seat for seat in range(state.num_players) if state.cone_toppings[seat] >> flavor & 1]
    on_the_side = int(state.toppings) >> flavor & 1
    if on_the_side + len(owners) != 1:
        raise IceError(f"toppings: {name} must be listed here or on one cone, not {on_the_side + len(owners)} times")
    if owners and (stars == 0 or cones[owners[0], flavor] == 0):
        why = "there are no stars" if stars == 0 else f"it has no {name} tile"
        raise IceError(f"cones[{owners[0]}].toppings cannot have {name}: {why}")
    if on_the_side and left < stars:
        raise IceError(f"toppings cannot have {name}: with {left} tiles left a star of the {stars} has been drawn")


def _replay(view: Mapping[str, Any], states: States, seat: int) -> States:
    """Play the view's cards by the rules; return the game, with the cards that other seats still hold missing."""
    in_play = FLAVORS[: states[0].num_flavors]
    hand, plays = _read_cards(view, in_play, int(states[0].num_players))
    for player, (flavor, number) in [(seat, card) for card in hand] + plays:
        states[0].hands[player, flavor] |= 1 << number - 1
    goal = _read_cones(view, states[0])
    phase = choose("phase", view["phase"], PHASES)
    found = [states]  # the ways in which the winners may have chosen their tiles; they differ in nothing but cones
    for i, (player, (flavor, number)) in enumerate(plays):
        _check_play(f"played[{i}]", view["played"][i]["trick"], player, (flavor, number), found[0][0])
        for table in found:
            apply_to(table, flavor * NUM_NUMBERS + number - 1)
        if i + 1 < len(plays) or phase != "take_tile":
            found = _tiles_taken(found, goal)
        if not found:
            raise IceError(f"cones and tiles do not show a tile that can have been taken after played[{i}]")
    sizes = found[0][0].cone_sizes.tolist()
    for other, tiles in enumerate(goal.sum(1).tolist()):
        if tiles != sizes[other]:
            raise IceError(f"cones[{other}].tiles has {tiles}, but by the cards played the seat took {sizes[other]}")
    _check_turn(view, found[0][0])
    left = int(states[0].hand_size) - sum(player == seat for player, _ in plays)
    if len(hand) != left:
        raise IceError(f"hand has {len(hand)} cards, but by the cards played seat {seat} holds {left}")
    return found[0]


def _read_cards(view: Mapping[str, Any], in_play: Iterable[str], num_players: int) -> tuple[list[Card], list[Any]]:
    """Return the hand, and the cards played with their seats; refuse a card that is named twice."""
    hand, plays, seen = [], [], dict[Card, str]()
    for name in ("hand", "played"):
        for i, entry in enumerate(_list(name, view[name])):
            where = f"{name}[{i}]"
            _check_fields(
                where, entry, ("flavor", "number") if name == "hand" else ("seat", "flavor", "number", "trick")
            )
            card = _card(where, entry, in_play)
            if card in seen:
                raise IceError(f"{where} is {_name(card)}, which is {seen[card]} already")
            seen[card] = where
            if name == "hand":
                hand.append(card)
            else:
                plays.append((whole_number(f"{where}.seat", entry["seat"], 0, num_players - 1), card))
    return hand, plays


def _check_play(where: str, trick: object, player: int, card: Card, state: Any) -> None:
    """Refuse a card that the rules do not let the player play in this state."""
    if state.over:
        raise IceError(f"{where} was played after the end of the round")
    if whole_number(f"{where}.trick", trick, 1, int(state.hand_size)) != state.trick + 1:
        raise IceError(f"{where}.trick is {trick}, but it was played to trick {state.trick + 1}")
    if player != state.to_move:
        raise IceError(f"{where}.seat is {player}, but it was seat {state.to_move}'s turn")
    action = np.array([card[0] * NUM_NUMBERS + card[1] - 1])
    if loops.first_illegal(np.asarray(state).reshape(1), action, NUM_CARDS) >= 0:
        led = int(state.led)
        held = _name((led, numbers_of(state.hands[player, led])[0]))
        raise IceError(f"{where} is {_name(card)}, but seat {player} had to follow {FLAVORS[led]}: it held {held}")


def _tiles_taken(found: list[States], goal: Any) -> list[States]:
    """Return the games that can still lead to the cones `goal` after each tile the trick's winner may have taken."""
    games = {}
    for table in found:
        choices = int(table[0].tile_choices)
        for flavor in range(NUM_FLAVORS) if choices else [-1]:
            if choices and not choices >> flavor & 1:
                continue
            after = table.copy()
            if choices:
                apply_to(after, NUM_CARDS + flavor)
            if (after[0].cones <= goal).all():
                games[after[0].cones.tobytes()] = after
    return list(games.values())


def _check_turn(view: Mapping[str, Any], state: Any) -> None:
    """Refuse a phase, a turn or choices other than those that the replay has led to."""
    over = _flag(view, "over")
    if over != bool(state.over):
        goes_on = "the round ends" if state.over else "the round goes on"
        raise IceError(f"over is {str(over).lower()}, but with the cards played {goes_on}")
    if view["phase"] != PHASES[state.phase]:
        raise IceError(f"phase is {view['phase']!r}, but by the cards played it is {PHASES[state.phase]!r}")
    to_move = None if over else int(state.to_move)
    if view["to_move"] != to_move or isinstance(view["to_move"], bool):
        raise IceError(f"to_move is {view['to_move']!r}, but by the cards played it is {to_move!r}")
    choices = int(state.tile_choices)
    if "tile_choices" in view and _flavor_set("tile_choices", view["tile_choices"], FLAVORS) != choices:
        raise IceError(f"tile_choices is {view['tile_choices']}, but by the cards played it is {flavors_of(choices)}")


def _read_ending(view: Mapping[str, Any], state: Any) -> None:
    """Read the totals; the replay began without any, so what it has is what this round has earned."""
    num_players, target = int(state.num_players), int(state.target_score)
    game = find_game("dokitto")
    most = game.score_range(num_players, game.make_options(view["options"]))[1]
    for seat, value in enumerate(_list("totals", view["totals"], num_players)):
        total, earned = whole_number(f"totals[{seat}]", value, 0, most), int(state.totals[seat])
        highest = min(target - 1, (most - target + 1) * (int(state.round_number) - 1))
        if not 0 <= total - earned <= highest:
            raise IceError(f"totals[{seat}] must be from {earned} to {earned + highest}, not {total}")
        state.totals[seat] = total
    truncated = bool(state.over) and max(state.totals.tolist()) < target
    if _flag(view, "truncated") != truncated:
        raise IceError(
            f"truncated is {str(not truncated).lower()}, but by over and totals it is {str(truncated).lower()}"
        )
    if truncated and state.round_number != state.max_rounds:
        raise IceError(f"round is {state.round_number}, but the limit of {state.max_rounds} is what ended the game")
    state.truncated = truncated


def _fill_hands(state: Any, seat: int) -> None:
    """Deal to the other seats any cards that the seat has not seen, as many as they hold; `determinize` redraws them."""
    unseen = [
        (flavor, number)
        for flavor in range(state.num_flavors)
        for number in numbers_of(~(int(state.hands[seat, flavor]) | int(state.played[flavor])))
    ]
    players = state.played_by.tolist()
    others = [other for other in range(state.num_players) if other != seat]
    held = {other: int(state.hand_size) - players.count(other + 1) for other in others}
    _check_voids(state, unseen, held)
    cards = iter(unseen)
    for other in others:
        for _, (flavor, number) in zip(range(held[other]), cards, strict=False):
            state.hands[other, flavor] |= 1 << number - 1


def _check_voids(state: Any, unseen: list[Card], held: Mapping[int, int]) -> None:
    """Refuse voids that no deal of the unseen cards agrees with (Hall's condition: any seats, and what they may hold)."""
    for size in range(1, len(held) + 1):
        for seats in combinations(held, size):
            lacking = int(np.bitwise_and.reduce(state.voids[list(seats)]))
            fitting = sum(not lacking >> flavor & 1 for flavor, _ in unseen)
            if fitting < sum(held[other] for other in seats):
                raise IceError(
                    f"played shows voids that leave too few unseen cards for the hands of seats {', '.join(map(str, seats))}"
                )
