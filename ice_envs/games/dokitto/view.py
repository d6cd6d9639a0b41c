"""What one seat of Dokitto! Ice knows, as plain JSON, both ways: for front ends that keep the rules themselves.

The fields are those of `schema`. Lists of flavors are written in the order of `rules.FLAVORS`, and read in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from itertools import combinations
from operator import and_
from types import SimpleNamespace
from typing import Any

import numpy as np

from ice_envs.engine import loops
from ice_envs.engine.game import States
from ice_envs.engine.plain import (
    checked_fields,
    checked_flag,
    checked_list,
    checked_view,
    legal_actions,
    plain_record,
)
from ice_envs.errors import IceError, choose, whole_number
from ice_envs.games import find_game
from ice_envs.games.dokitto.history import flavors_of, numbers_of, played_tricks
from ice_envs.games.dokitto.rules import (
    CONE_SIZE,
    FLAVORS,
    LOW_WIN_TILES,
    MAX_PLAYERS,
    NEXT_LEADERS,
    NUM_CARDS,
    NUM_FLAVORS,
    NUM_NUMBERS,
    TAKE_TILE,
    TILES_PER_FLAVOR,
)
from ice_envs.games.dokitto.schema import PHASES

# ---- from the record to the view ----


def to_view(state: Any, seat: int) -> dict[str, Any]:
    """Return what `seat` knows of the game `state` (one record), as plain JSON data (see the module)."""
    game, table, tricks = find_game("dokitto"), plain_record(state), played_tricks(state)
    seat = whole_number("seat", seat, 0, table.num_players - 1)
    hand = enumerate(table.hands[seat])
    view = {
        "game": game.name,
        "version": game.version,
        "num_players": table.num_players,
        "options": _options(table),
        "seat": seat,
        "round": table.round_number,
        "first_leader": table.first_leader,
        "hand": [{"flavor": FLAVORS[flavor], "number": number} for flavor, bits in hand for number in numbers_of(bits)],
        "played": [
            {"seat": player, "flavor": FLAVORS[card // NUM_NUMBERS], "number": card % NUM_NUMBERS + 1, "trick": trick}
            for trick, plays in enumerate(tricks, 1)
            for player, card in plays
        ],
        "tiles": dict(zip(FLAVORS[: table.num_flavors], table.tiles, strict=False)),
        "toppings": flavors_of(table.toppings),
        "cones": [_cone(table, other) for other in range(table.num_players)],
        "totals": table.totals[: table.num_players],
        "phase": PHASES[table.phase],
        "to_move": None if table.over else table.to_move,
        "over": bool(table.over),
        "truncated": bool(table.truncated),
    }
    if table.phase == TAKE_TILE:
        view["tile_choices"] = flavors_of(table.tile_choices)
    if seat == view["to_move"]:
        view["legal_actions"] = legal_actions(game, state)
    return view


def _options(table: SimpleNamespace) -> dict[str, Any]:
    return {
        "target_score": table.target_score,
        "max_rounds": table.max_rounds,
        "stars_per_flavor": table.stars_per_flavor,
        "next_leader": NEXT_LEADERS[table.next_leader],
        "low_win_tile": LOW_WIN_TILES[table.low_win_tile],
    }


def _cone(table: SimpleNamespace, seat: int) -> dict[str, list[str]]:
    tiles = [name for name, count in zip(FLAVORS, table.cones[seat], strict=True) for _ in range(count)]
    return {"tiles": tiles, "toppings": flavors_of(table.cone_toppings[seat])}


# ---- from the view to a record ----


def from_view(view: Mapping[str, Any]) -> States:
    """Return a game (one record, shape (1,)) that agrees with all the view's seat knows.

    The cards played are replayed by the rules, so all that follows from the view is as in the true record, and a view
    that no play can lead to is refused. What the seat cannot know is drawn by `determinize` from the view's "seed".
    `decisions` counts those of this round. Raises IceError, naming the field and what is wrong with it.
    """
    states = _new_round(view)
    seat = whole_number("seat", view["seat"], 0, int(states[0].num_players) - 1)
    seed = whole_number("seed", view.get("seed", 0), 0, 2**64 - 1)
    max_rounds = int(states[0].max_rounds)
    states["max_rounds"] = states["round_number"]  # a round that is replayed to its end must not deal the next one
    states = _replay(view, states, seat)
    states["max_rounds"] = max_rounds
    _read_totals(view, states[0])
    _fill_hands(states, seat)
    loops.draw_hidden(states, seat, np.uint64(seed))
    return states


def _flavor(where: str, value: Any, in_play: Iterable[str]) -> int:
    return FLAVORS.index(choose(f"flavor in {where}:", value, in_play))


def _flavor_set(where: str, value: Any, in_play: Iterable[str]) -> int:
    bits = 0
    for flavor in (_flavor(where, name, in_play) for name in checked_list(where, value)):
        if bits >> flavor & 1:
            raise IceError(f"{where} names {FLAVORS[flavor]} twice")
        bits |= 1 << flavor
    return bits


def _name(card: int) -> str:
    return f"{FLAVORS[card // NUM_NUMBERS]} {card % NUM_NUMBERS + 1}"


def _new_round(view: Mapping[str, Any]) -> States:
    """Return the game at the beginning of the view's round: no cards, but toppings where they are by now.

    (Toppings decide nothing before the round is over, and then the rules count them.)
    """
    game = find_game("dokitto")
    num_players, options = checked_view(game, view)
    states = loops.new_states(game, [num_players], options, np.zeros(1, np.uint64))
    state = states[0]
    state.hands[:] = 0
    state.stars[:] = 0
    state.round_number = whole_number("round", view["round"], 1, int(state.max_rounds))
    state.first_leader = whole_number("first_leader", view["first_leader"], 0, num_players - 1)
    state.leader = state.to_move = state.first_leader
    in_play = FLAVORS[: state.num_flavors]
    state.toppings = _flavor_set("toppings", view["toppings"], in_play)
    for seat, cone in enumerate(checked_list("cones", view["cones"], num_players)):
        checked_fields(f"cones[{seat}]", cone, ("tiles", "toppings"))
        state.cone_toppings[seat] = _flavor_set(f"cones[{seat}].toppings", cone["toppings"], in_play)
    return states


def _replay(view: Mapping[str, Any], states: States, seat: int) -> States:
    """Play the view's cards by the rules; return the game, in which the other seats hold nothing more."""
    table = plain_record(states[0])
    hand, plays = _read_cards(view, table)
    for player, card in [(seat, card) for card in hand] + plays:
        states["hands"][0, player, card // NUM_NUMBERS] |= 1 << card % NUM_NUMBERS
    goal = _read_cones(view, table)
    choosing = choose("phase", view["phase"], PHASES) == "take_tile"
    found = [states]  # one for each way in which winners may have chosen tiles; nothing else tells them apart
    for i, (player, card) in enumerate(plays):
        _check_play(f"played[{i}]", view["played"][i]["trick"], player, card, found[0])
        for game in found:
            loops.apply_to(game, card)
        ends_trick = (i + 1) % table.num_players == 0
        if ends_trick and not (choosing and i + 1 == len(plays)):
            found = _tiles_taken(found, goal)
        if not found:
            raise IceError(f"cones and tiles show none that can have been taken after played[{i}]")
    table = plain_record(found[0][0])
    for other, (tiles, taken) in enumerate(zip(goal.sum(1).tolist(), table.cone_sizes, strict=True)):
        if tiles != taken:
            raise IceError(f"cones[{other}].tiles has {tiles}, but by the cards played the seat has taken {taken}")
    _check_turn(view, table)
    left = table.hand_size - sum(player == seat for player, _ in plays)
    if len(hand) != left:
        raise IceError(f"hand has {len(hand)} cards, but by the cards played seat {seat} holds {left}")
    return found[0]


def _read_cards(view: Mapping[str, Any], table: SimpleNamespace) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the hand, and seat and card of each play; refuse a card that is named twice."""
    in_play = FLAVORS[: table.num_flavors]
    seen: dict[int, str] = {}
    seats: list[int] = []
    for name, fields in (("hand", ("flavor", "number")), ("played", ("seat", "flavor", "number", "trick"))):
        for i, entry in enumerate(checked_list(name, view[name])):
            where = f"{name}[{i}]"
            checked_fields(where, entry, fields)
            number = whole_number(f"{where}.number", entry["number"], 1, NUM_NUMBERS)
            card = _flavor(where, entry["flavor"], in_play) * NUM_NUMBERS + number - 1
            if card in seen:
                raise IceError(f"{where} is {_name(card)}, but so is {seen[card]}")
            seen[card] = where
            if name == "played":
                seats.append(whole_number(f"{where}.seat", entry["seat"], 0, table.num_players - 1))
    cards, in_hand = list(seen), len(seen) - len(seats)
    return cards[:in_hand], list(zip(seats, cards[in_hand:], strict=True))


def _read_cones(view: Mapping[str, Any], table: SimpleNamespace) -> Any:
    """Return the tiles on the view's cones (seats, flavors), which must agree with stacks and toppings."""
    in_play = FLAVORS[: table.num_flavors]
    cones = np.zeros((MAX_PLAYERS, NUM_FLAVORS), np.int8)
    for seat, cone in enumerate(view["cones"]):
        where = f"cones[{seat}].tiles"
        tiles = checked_list(where, cone["tiles"])
        whole_number(f"the number of {where}", len(tiles), 0, CONE_SIZE)
        for name in tiles:
            cones[seat, _flavor(where, name, in_play)] += 1
    checked_fields("tiles", view["tiles"], in_play)
    for flavor, name in enumerate(in_play):
        left = whole_number(f"tiles.{name}", view["tiles"][name], 0, TILES_PER_FLAVOR)
        taken = int(cones[:, flavor].sum())
        if left + taken != TILES_PER_FLAVOR:
            raise IceError(f"tiles.{name} is {left} and {taken} lie on the cones, which is not {TILES_PER_FLAVOR}")
        _check_topping(table, cones, flavor, left)
    return cones


def _check_topping(table: SimpleNamespace, cones: Any, flavor: int, left: int) -> None:
    """Refuse a topping in two places or none, on a cone without its tile, or against the number of stars."""
    name, stars = FLAVORS[flavor], table.stars_per_flavor
    owners = [seat for seat in range(table.num_players) if table.cone_toppings[seat] >> flavor & 1]
    aside = table.toppings >> flavor & 1
    if aside + len(owners) != 1:
        raise IceError(f"toppings and the cones' toppings name {name} {aside + len(owners)} times, which must be once")
    if aside and left < stars:
        raise IceError(f"toppings cannot name {name}: a star of the {stars} is not among the {left} tiles left")
    if owners and (stars == 0 or cones[owners[0], flavor] == 0):
        why = "no tile has a star" if stars == 0 else f"there is no {name} tile on that cone"
        raise IceError(f"cones[{owners[0]}].toppings cannot name {name}: {why}")


def _check_play(where: str, trick: Any, player: int, card: int, game: States) -> None:
    """Refuse a card that the rules do not let the player play in `game[0]`."""
    if game["over"][0]:
        raise IceError(f"{where} is played after the end of the round")
    now, to_move = int(game["trick"][0]) + 1, int(game["to_move"][0])
    if whole_number(f"{where}.trick", trick, 1, int(game["hand_size"][0])) != now:
        raise IceError(f"{where}.trick is {trick}, but the card was played to trick {now}")
    if player != to_move:
        raise IceError(f"{where}.seat is {player}, but seat {to_move} was to play")
    if loops.first_illegal(game, np.array([card]), NUM_CARDS) >= 0:
        led = int(game["led"][0])
        held = numbers_of(int(game["hands"][0, player, led]))
        raise IceError(f"{where} is {_name(card)}, but seat {player} could follow with {FLAVORS[led]} {held[0]}")


def _tiles_taken(found: list[States], goal: Any) -> list[States]:
    """Return the games after each tile that the trick's winner may have taken on the way to the cones `goal`."""
    branches = []
    for table in found:
        choices = int(table["tile_choices"][0])
        if not choices:
            branches.append(table)
        for flavor in range(NUM_FLAVORS):
            if choices >> flavor & 1:
                branches.append(table.copy())
                loops.apply_to(branches[-1], NUM_CARDS + flavor)
    fitting = (table for table in branches if (table["cones"][0] <= goal).all())
    return list({table["cones"].tobytes(): table for table in fitting}.values())


def _check_turn(view: Mapping[str, Any], table: SimpleNamespace) -> None:
    """Refuse a phase, a turn or choices other than those that the replay has led to."""
    over = checked_flag("over", view["over"])
    if over != bool(table.over):
        what = "end the round" if table.over else "do not end the round"
        raise IceError(f"over is {str(over).lower()}, but the cards played {what}")
    if view["phase"] != PHASES[table.phase]:
        raise IceError(f"phase is {view['phase']!r:.80}, but by the cards played it is {PHASES[table.phase]!r}")
    to_move = None if over else table.to_move
    if view["to_move"] != to_move or isinstance(view["to_move"], bool):
        raise IceError(f"to_move is {view['to_move']!r:.80}, but by the cards played it is {to_move!r}")
    choices = table.tile_choices
    if "tile_choices" in view and _flavor_set("tile_choices", view["tile_choices"], FLAVORS) != choices:
        raise IceError(f"tile_choices is {view['tile_choices']!r:.80}, but by the cards it is {flavors_of(choices)}")


def _read_totals(view: Mapping[str, Any], state: Any) -> None:
    """Write the view's totals; the replay began without any, so what the record has is what this round earned."""
    game, num_players, target = find_game("dokitto"), int(state.num_players), int(state.target_score)
    most = game.score_range(num_players, game.make_options(view["options"]))[1]
    most_before = min(target - 1, (most - (target - 1)) * (int(state.round_number) - 1))
    for seat, value in enumerate(checked_list("totals", view["totals"], num_players)):
        earned = int(state.totals[seat])
        state.totals[seat] = whole_number(f"totals[{seat}]", value, earned, earned + most_before)
    state.truncated = bool(state.over) and max(state.totals.tolist()) < target
    if checked_flag("truncated", view["truncated"]) != bool(state.truncated):
        raise IceError(f"truncated is {str(view['truncated']).lower()}, but over and totals say the contrary")
    if state.truncated and state.round_number < state.max_rounds:
        raise IceError(f"over is true, but nobody has {target} points and round {state.round_number} is not the last")


def _fill_hands(states: States, seat: int) -> None:
    """Give the other seats any cards that `seat` has not seen, as many as they hold; `determinize` redraws them."""
    table = plain_record(states[0])
    unseen = [
        (flavor, number)
        for flavor in range(table.num_flavors)
        for number in numbers_of(~(table.hands[seat][flavor] | table.played[flavor]))
    ]
    others = (other for other in range(table.num_players) if other != seat)
    held = {other: table.hand_size - table.played_by.count(other + 1) for other in others}
    _check_voids(table.voids, unseen, held)
    holders = [other for other, count in held.items() for _ in range(count)]
    for other, (flavor, number) in zip(holders, unseen, strict=False):  # the rest was set aside
        states["hands"][0, other, flavor] |= 1 << number - 1


def _check_voids(voids: list[int], unseen: list[tuple[int, int]], held: Mapping[int, int]) -> None:
    """Refuse voids with which the unseen cards cannot be dealt: any seats together need enough that one may hold."""
    for size in range(1, len(held) + 1):
        for seats in combinations(held, size):
            lacking = reduce(and_, (voids[other] for other in seats))
            fitting = sum(not lacking >> flavor & 1 for flavor, _ in unseen)
            if fitting < sum(held[other] for other in seats):
                names = ", ".join(map(str, seats))
                raise IceError(f"played shows voids that leave too few unseen cards for the hands of seats {names}")
