"""A game of Nokosu Dice rebuilt from the view of one seat: the moves are replayed by the rules."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from itertools import combinations
from operator import and_
from typing import Any

import numpy as np

from ice_envs.engine import loops
from ice_envs.engine.game import States
from ice_envs.engine.jit import compiled
from ice_envs.engine.plain import checked_fields, checked_flag, checked_list, checked_view, plain_record
from ice_envs.errors import IceError, choose, whole_number
from ice_envs.games import find_game
from ice_envs.games.nokosu_dice.chances import unseen_cards
from ice_envs.games.nokosu_dice.history import cards_of, name_of
from ice_envs.games.nokosu_dice.items import COLORS, NUM_CARDS, NUM_COLORS, NUM_FACES, NUM_NUMBERS, SUITS
from ice_envs.games.nokosu_dice.rules import IN_SECRET, IN_TURN, NO_CALL, open_trick
from ice_envs.games.nokosu_dice.schema import KINDS, PHASES, SECRET
from ice_envs.games.nokosu_dice.setup import OWN_ROLLS, PICKS, add_die, is_in_play

_FACE = ("color", "number")


def from_view(view: Mapping[str, Any]) -> States:
    """Return a game (one record, shape (1,)) that agrees with all the view's seat knows.

    Draft, calls and plays are replayed by the rules, so all that follows from the view is as in the true record, and a
    view that no play can lead to is refused. What the seat cannot know is drawn by `determinize` from the view's
    "seed". `decisions` counts those of this round. Raises IceError, naming the field and what is wrong with it.
    """
    states = _new_round(view)
    seat = whole_number("seat", view["seat"], 0, int(states[0].num_players) - 1)
    seed = whole_number("seed", view.get("seed", 0), 0, 2**64 - 1)
    hand, plays = _read_cards(view, states, seat)
    round_number = states["round_number"].copy()
    states["round_number"] = states["num_players"]  # a round that is replayed to its end must not deal the next one
    _replay_draft(view, states)
    _replay_calls(view, states, seat)
    _replay_plays(view, states, plays)
    states["round_number"] = round_number
    _check_turn(view, states, len(hand))
    _read_totals(view, states)
    _fill_hands(states, seat)
    loops.draw_hidden(states, seat, np.uint64(seed))
    return states


@compiled
def clear_round(states: Any, dealer: int) -> None:
    """Take all cards and dice of `states[0]` from the table, so that a round of `dealer` can be laid out."""
    state = states[0]
    for color in range(NUM_COLORS):
        for kind in range(color * NUM_FACES, (color + 1) * NUM_FACES):
            state.bag[color] += state.pool[kind]
            for seat in range(state.num_players):
                state.bag[color] += state.dice[seat, kind]
    state.hands[:] = 0
    state.dice[:] = 0
    state.dice_sets[:] = 0
    state.dice_left[:] = 0
    state.pool[:] = 0
    state.dealer = dealer
    open_trick(state, (dealer + 1) % state.num_players)


@compiled
def give_die(states: Any, seat: int, kind: int) -> None:
    """Give a seat of `states[0]` a die."""
    add_die(states[0], seat, kind)


@compiled
def unseen_of(states: Any, seat: int) -> int:
    """Return the cards (bits) that the seat has not seen in the game `states[0]`."""
    return unseen_cards(states[0], seat)


@compiled
def card_is_used(states: Any, card: int) -> bool:
    """Return whether the table of `states[0]` plays with a card."""
    return is_in_play(states[0].num_players, card)


# ---- what lies on the table ----


def _new_round(view: Mapping[str, Any]) -> States:
    """Return the view's round before the draft, without any card."""
    game = find_game("nokosu_dice")
    num_players, options = checked_view(game, view)
    states = loops.new_states(game, [num_players], options, np.zeros(1, np.uint64))
    states["round_number"] = whole_number("round", view["round"], 1, num_players)
    clear_round(states, whole_number("dealer", view["dealer"], 0, num_players - 1))
    for seat, rolled in enumerate(checked_list("rolled", view["rolled"], num_players)):
        for i, die in enumerate(checked_list(f"rolled[{seat}]", rolled, OWN_ROLLS[num_players])):
            kind = _draw(states, f"rolled[{seat}][{i}]", die, _FACE)
            give_die(states, seat, kind)
    for name, fields in (("drafted", ("seat", *_FACE)), ("middle", _FACE)):
        for i, die in enumerate(checked_list(name, view[name])):
            states["pool"][0, _draw(states, f"{name}[{i}]", die, fields)] += 1
    count = len(view["drafted"]) + len(view["middle"])
    if count != states[0].pool_size:
        raise IceError(f"drafted and middle have {count} dice together, not {states[0].pool_size}")
    return states


def _draw(states: States, where: str, die: Any, fields: tuple[str, ...]) -> int:
    """Take a die of the view from the bag; return its kind."""
    kind = _die(where, checked_fields(where, die, fields)) - NUM_CARDS
    color = kind // NUM_FACES
    if states["bag"][0, color] == 0:
        raise IceError(f"{where} is a {COLORS[color]} die too many: there are no more of that color")
    states["bag"][0, color] -= 1
    return kind


def _color(where: str, value: Any) -> int:
    return COLORS.index(choose(f"color in {where}:", value, COLORS))


def _die(where: str, die: Mapping[str, Any]) -> int:
    number = whole_number(f"{where}.number", die["number"], 1, NUM_FACES)
    return NUM_CARDS + _color(where, die["color"]) * NUM_FACES + number - 1


def _read_cards(view: Mapping[str, Any], states: States, seat: int) -> tuple[list[int], list[tuple[int, int]]]:
    """Put own cards and the cards played into the hands; return the hand, and seat and item of each play."""
    seen: dict[int, str] = {}
    hand = [
        _card(f"hand[{i}]", entry, _FACE, states, seen) for i, entry in enumerate(checked_list("hand", view["hand"]))
    ]
    plays = []
    for i, entry in enumerate(checked_list("played", view["played"])):
        where = f"played[{i}]"
        fields = ("seat", "item", *_FACE, "trick")
        checked_fields(where, entry, fields)
        player = whole_number(f"{where}.seat", entry["seat"], 0, int(states[0].num_players) - 1)
        is_card = choose(f"item in {where}:", entry["item"], KINDS) == KINDS[0]
        plays.append((player, _card(where, entry, fields, states, seen) if is_card else _die(where, entry)))
    for player, item in [(seat, card) for card in hand] + plays:
        if item < NUM_CARDS:
            states["hands"][0, player] |= 1 << item
    return hand, plays


def _card(where: str, entry: Any, fields: tuple[str, ...], states: States, seen: dict[int, str]) -> int:
    """Return a card of the view; refuse one that is not used or was `seen` elsewhere."""
    checked_fields(where, entry, fields)
    number = whole_number(f"{where}.number", entry["number"], 0, NUM_NUMBERS - 1)
    card = _color(where, entry["color"]) * NUM_NUMBERS + number
    if not card_is_used(states, card):
        raise IceError(f"{where} is {name_of(card)}, which is not used by {states[0].num_players} seats")
    if card in seen:
        raise IceError(f"{where} is {name_of(card)}, but so is {seen[card]}")
    seen[card] = where
    return card


# ---- the moves again ----


def _replay_draft(view: Mapping[str, Any], states: States) -> None:
    for i, die in enumerate(view["drafted"]):
        where = f"drafted[{i}]"
        _check_seat(where, die["seat"], states)
        if states[0].pool_size == 1:
            raise IceError(f"drafted has {len(view['drafted'])} dice, but each seat takes {PICKS}")
        loops.apply_to(states, _die(where, die))


def _replay_calls(view: Mapping[str, Any], states: States, viewer: int) -> None:
    """Make the calls; one that is secret is taken for none, until `determinize` redraws it."""
    calls = checked_list("calls", view["calls"])
    if calls and states[0].pool_size > 1:
        raise IceError("calls must be empty while dice are drafted")
    seats = int(states[0].num_players)
    if len(calls) > seats:
        raise IceError(f"calls has {len(calls)} entries for {seats} seats")
    for i, call in enumerate(calls):
        where = f"calls[{i}]"
        _check_seat(where, checked_fields(where, call, ("seat", "returns"))["seat"], states)
        returns = call["returns"]
        action = NO_CALL
        if returns == SECRET:
            if states[0].zero_call == IN_TURN or call["seat"] == viewer or len(calls) == seats:
                raise IceError(f"{where}.returns is 'secret', but seat {viewer} knows of that call")
        elif returns is not None:
            action = _die(f"{where}.returns", checked_fields(f"{where}.returns", returns, _FACE))
            if loops.first_illegal(states, np.array([action]), find_game("nokosu_dice").num_actions) >= 0:
                raise IceError(f"{where}.returns is {name_of(action)}, but seat {call['seat']} has no such die")
            if states[0].zero_call == IN_SECRET and call["seat"] != viewer and len(calls) < seats:
                raise IceError(f"{where}.returns must be 'secret': not all seats have made their calls")
        loops.apply_to(states, action)


def _replay_plays(view: Mapping[str, Any], states: States, plays: list[tuple[int, int]]) -> None:
    for i, (player, item) in enumerate(plays):
        where, trick = f"played[{i}]", view["played"][i]["trick"]
        if states["over"][0]:
            raise IceError(f"{where} is played after the end of the round")
        if len(view["calls"]) < int(states[0].num_players):
            raise IceError(f"{where} is played before all seats have made their calls")
        _check_seat(where, player, states)
        now = int(states[0].trick) + 1
        if whole_number(f"{where}.trick", trick, 1, int(states[0].num_tricks)) != now:
            raise IceError(f"{where}.trick is {trick}, but the item was played to trick {now}")
        if loops.first_illegal(states, np.array([item]), NO_CALL) >= 0:
            raise IceError(f"{where} is {name_of(item)}, but seat {player} {_why_not(states, player, item)}")
        loops.apply_to(states, item)


def _why_not(states: States, player: int, item: int) -> str:
    """Return why a seat cannot play an item."""
    table = plain_record(states[0])
    if item >= NUM_CARDS and table.dice[player][item - NUM_CARDS] == 0:
        return "has no such die"
    if item >= NUM_CARDS and table.dice_left[player] == 1 and not table.called[player]:
        return "must keep its last die"
    mask = np.zeros((1, find_game("nokosu_dice").num_actions), np.int8)
    loops.legal_games(states, mask)
    return f"could follow with {name_of(int(mask[0].argmax()))}"


def _check_seat(where: str, value: Any, states: States) -> None:
    seat, to_move = whole_number(f"{where}.seat", value, 0, int(states[0].num_players) - 1), int(states[0].to_move)
    if seat != to_move:
        raise IceError(f"{where}.seat is {seat}, but it was the turn of seat {to_move}")


# ---- what must agree with the moves, and what they do not tell ----


def _check_turn(view: Mapping[str, Any], states: States, held: int) -> None:
    """Refuse a hand, a phase or a turn other than those that the replay has led to."""
    table = plain_record(states[0])
    left = table.hand_size - sum(1 for seat in table.played_by if seat == view["seat"] + 1)
    if held != left:
        raise IceError(f"hand has {held} cards, but by the cards played seat {view['seat']} holds {left}")
    over = checked_flag("over", view["over"])
    if over != bool(table.over):
        raise IceError(f"over is {str(over).lower()}, but what was played says the contrary")
    if over and table.round_number != table.num_players:
        raise IceError(f"over is true, but round {table.round_number} of {table.num_players} is not the last")
    if choose("phase", view["phase"], PHASES) != PHASES[table.phase]:
        raise IceError(f"phase is {view['phase']!r:.80}, but by the moves made it is {PHASES[table.phase]!r}")
    to_move = None if over else table.to_move
    if view["to_move"] != to_move or isinstance(view["to_move"], bool):
        raise IceError(f"to_move is {view['to_move']!r:.80}, but by the moves made it is {to_move!r}")


def _read_totals(view: Mapping[str, Any], states: States) -> None:
    """Write the view's totals; the replay began without any, so what the record has is what this round earned."""
    game, seats = find_game("nokosu_dice"), int(states[0].num_players)
    most = game.score_range(seats, game.make_options(view["options"]))[1] // seats
    for seat, value in enumerate(checked_list("totals", view["totals"], seats)):
        earned = int(states["totals"][0, seat])
        rounds_before = int(states[0].round_number) - 1
        states["totals"][0, seat] = whole_number(f"totals[{seat}]", value, earned, earned + rounds_before * most)


def _fill_hands(states: States, seat: int) -> None:
    """Give the other seats any cards that `seat` has not seen, as many as they hold; `determinize` redraws them."""
    table = plain_record(states[0])
    unseen = cards_of(unseen_of(states, seat))
    others = (other for other in range(table.num_players) if other != seat)
    held = {other: table.hand_size - table.played_by.count(other + 1) for other in others}
    _check_voids(table.voids, SUITS[table.trump], unseen, held)
    holders = [other for other, count in held.items() for _ in range(count)]
    for other, card in zip(holders, unseen, strict=False):  # at three seats one card was left over
        states["hands"][0, other] |= 1 << card


def _check_voids(voids: list[int], suits: Any, unseen: list[int], held: Mapping[int, int]) -> None:
    """Refuse voids with which the unseen cards cannot be dealt: any seats together need enough that one may hold."""
    for size in range(1, len(held) + 1):
        for seats in combinations(held, size):
            lacking = reduce(and_, (voids[other] for other in seats))
            fitting = sum(not lacking >> suits[card] & 1 for card in unseen)
            if fitting < sum(held[other] for other in seats):
                names = ", ".join(map(str, seats))
                raise IceError(f"played shows voids that leave too few unseen cards for the hands of seats {names}")
