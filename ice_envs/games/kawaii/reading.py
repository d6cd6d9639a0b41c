"""From the view of one seat of Kawaii back to a record; the fields are those of `schema`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations
from typing import Any

import numpy as np

from ice_envs.engine import loops
from ice_envs.engine.game import States
from ice_envs.engine.plain import checked_fields, checked_flag, checked_list, checked_view
from ice_envs.errors import IceError, choose, whole_number
from ice_envs.games import find_game
from ice_envs.games.kawaii.cards import COPIES, FLAVORS, NAMES, NUM_CARDS, NUM_ICES, NUM_SHAPES, SHAPES
from ice_envs.games.kawaii.determinize import hides_cards
from ice_envs.games.kawaii.rules import (
    NUM_ROUNDS,
    SLOWEST_REACTION,
    TALLEST_PILE,
    TOKENS_EACH,
    KawaiiOptions,
    score_range,
)
from ice_envs.games.kawaii.window import has_committed, is_hurried, may_claim


def read_view(view: Mapping[str, Any]) -> States:
    """Return a game (one record, shape (1,)) that agrees with the view; raise IceError if nothing can."""
    states = _new_table(view)
    state = states[0]
    seats = int(state.num_players)
    seat = whole_number("seat", view["seat"], 0, seats - 1)
    seed = whole_number("seed", view.get("seed", 0), 0, 2**64 - 1)
    state.over = checked_flag("over", view["over"])
    state.round_number = whole_number("round", view["round"], 1, NUM_ROUNDS)
    if state.over and state.round_number < NUM_ROUNDS:
        raise IceError(f"over is true, but round {state.round_number} is not the last of {NUM_ROUNDS}")
    state.starter = whole_number("starter", view["starter"], 0, seats - 1)
    state.totals[:seats] = _numbers(view, "totals", seats, *score_range(seats, KawaiiOptions()))
    _read_tokens(view, state)
    _read_cards(view, state, seat)
    _read_favorites(view, state, seat)
    _read_window(view, state, seat)
    loops.draw_hidden(states, seat, np.uint64(seed))
    return states


def _new_table(view: Mapping[str, Any]) -> States:
    """Return the record of a game with the view's table size and options, and nothing on the table yet."""
    game = find_game("kawaii")
    num_players, given = checked_view(game, view)
    options = game.make_options(given)
    states = np.zeros(1, game.dtype)
    states["num_players"] = num_players
    game.configure(states[0], num_players, options)
    states["possible"][0, :num_players] = (1 << NUM_ICES) - 1
    return states


def _numbers(view: Mapping[str, Any], name: str, seats: int, low: int, high: int) -> list[int]:
    values = checked_list(name, view[name], seats)
    return [whole_number(f"{name}[{seat}]", value, low, high) for seat, value in enumerate(values)]


def _owners(where: str, value: Any, seats: int) -> int:
    """Read a list of piles, named by their owners, as bits."""
    bits = 0
    for owner in checked_list(where, value):
        pile = whole_number(f"a pile in {where}", owner, 0, seats - 1)
        if bits >> pile & 1:
            raise IceError(f"{where} names pile {pile} twice")
        bits |= 1 << pile
    return bits


def _read_tokens(view: Mapping[str, Any], state: Any) -> None:
    seats = int(state.num_players)
    state.tokens[:seats] = _numbers(view, "tokens", seats, 0, TOKENS_EACH * seats)
    if state.tokens.sum() > TOKENS_EACH * seats:
        raise IceError(f"tokens are {state.tokens.sum()} together, but {seats} seats begin with {TOKENS_EACH} each")
    state.reserves[:seats] = _numbers(view, "reserves", seats, 0, TALLEST_PILE)


# ---- cards ----


def _read_cards(view: Mapping[str, Any], state: Any, seat: int) -> None:
    """Write piles, captured cards and the reserve; where the view has null, any cards that are left over."""
    seats, hidden = int(state.num_players), bool(hides_cards(state))
    unknown: list[tuple[str, int, int]] = []
    known: list[int] = []
    for name in ("piles", "captured"):
        for owner, pile in enumerate(checked_list(name, view[name], seats)):
            cards = checked_list(f"{name}[{owner}]", pile)
            whole_number(f"the number of cards in {name}[{owner}]", len(cards), 0, _room(name))
            for level, card in enumerate(cards):
                top = name == "piles" and level == len(cards) - 1
                seen = not hidden or top or (name == "captured" and owner == seat)
                if not seen:
                    unknown.append((name, owner, level))
                kind = _kind(f"{name}[{owner}][{level}]", card, seen)
                known += [kind] * seen
                _lay(state, name, owner, level, kind)
    left = _cards_left(known)
    if len(left) != len(unknown) + state.reserves.sum():
        lying = len(known) + len(unknown)
        raise IceError(
            f"reserves are {state.reserves.sum()} cards, but {lying} of {NUM_CARDS} lie open or are captured"
        )
    for name, owner, level in unknown:
        _lay(state, name, owner, level, left.pop())
    for kind in left:
        state.left[kind] += 1


def _room(name: str) -> int:
    return TALLEST_PILE if name == "piles" else NUM_CARDS


def _kind(where: str, card: Any, seen: bool) -> int:
    """Return the kind of a card, −1 for one that cannot be seen."""
    if seen:
        return NAMES.index(choose(f"card in {where}:", card, NAMES))
    if card is not None:
        raise IceError(f"{where} is {card!r:.80}, but must be null: with `memory` the seat cannot see it")
    return -1


def _lay(state: Any, name: str, owner: int, level: int, kind: int) -> None:
    if kind < 0:
        return
    if name == "captured":
        state.captured[owner, kind] += 1
        return
    state.piles[owner, level] = kind
    state.heights[owner] = max(int(state.heights[owner]), level + 1)
    state.filled |= 1 << owner


def _cards_left(known: list[int]) -> list[int]:
    """Return all cards but the known ones; refuse more cards of a kind than there are."""
    left = []
    for kind, copies in enumerate(COPIES.tolist()):
        if known.count(kind) > copies:
            raise IceError(f"piles and captured show {known.count(kind)} cards {NAMES[kind]!r}, but there are {copies}")
        left += [kind] * (copies - known.count(kind))
    return left


# ---- favorites ----


def _read_favorites(view: Mapping[str, Any], state: Any, seat: int) -> None:
    """Write the favorites that the seat knows, and which ones others may have."""
    seats = int(state.num_players)
    values = checked_list("favorites", view["favorites"], seats)
    known = [other for other in range(seats) if other == seat or state.over]
    for other, value in enumerate(values):
        where = f"favorites[{other}]"
        if other not in known:
            if value is not None:
                raise IceError(f"{where} must be null: until the end seat {seat} cannot know it")
            continue
        checked_fields(where, value, ("flavor", "shape"))
        state.favorite_flavor[other] = FLAVORS.index(choose(f"flavor in {where}:", value["flavor"], FLAVORS))
        state.favorite_shape[other] = SHAPES.index(choose(f"shape in {where}:", value["shape"], SHAPES))
    for name, found in (("flavors", state.favorite_flavor), ("shapes", state.favorite_shape)):
        if len(set(found[known].tolist())) < len(known):
            raise IceError(f"favorites gives two seats one of the {name}, but they are all different")
    kept = state.favorites == 1 and not state.memory
    if kept != ("possible_favorites" in view):
        why = "lacks" if kept else "has"
        raise IceError(f"the view {why} possible_favorites, which belongs to whole-game favorites without `memory`")
    if kept:
        _read_possible(view, state, seat)


def _read_possible(view: Mapping[str, Any], state: Any, seat: int) -> None:
    seats = int(state.num_players)
    for owner, names in enumerate(checked_list("possible_favorites", view["possible_favorites"], seats)):
        where, bits = f"possible_favorites[{owner}]", 0
        for name in checked_list(where, names):
            kind = NAMES.index(choose(f"ice cream in {where}:", name, NAMES[:NUM_ICES]))
            if bits >> kind & 1:
                raise IceError(f"{where} names {name} twice")
            bits |= 1 << kind
        state.possible[owner] = bits
    if not any(_deals(state, seat)):
        raise IceError("possible_favorites leaves no way in which all seats have different favorites")


def _deals(state: Any, seat: int) -> Iterator[bool]:
    """Yield for every deal of favorites that agrees with what the seat knows whether all of them are possible."""
    seats, possible = range(state.num_players), state.possible.tolist()
    own_flavor, own_shape = int(state.favorite_flavor[seat]), int(state.favorite_shape[seat])
    for flavors in permutations(range(len(FLAVORS)), len(seats)):
        if flavors[seat] == own_flavor:
            for shapes in permutations(range(NUM_SHAPES), len(seats)):
                if shapes[seat] == own_shape:
                    yield all(possible[s] >> flavors[s] * NUM_SHAPES + shapes[s] & 1 for s in seats)


# ---- the window ----


def _read_window(view: Mapping[str, Any], state: Any, seat: int) -> None:
    """Write who is asked, when, and what has happened in the window."""
    seats = int(state.num_players)
    state.flipper = whole_number("flipper", view["flipper"], 0, seats - 1)
    state.after_capture = checked_flag("after_capture", view["after_capture"])
    for pile, taker in enumerate(checked_list("last_captures", view["last_captures"], seats)):
        state.taken_by[pile] = -1 if taker is None else whole_number(f"last_captures[{pile}]", taker, 0, seats - 1)
    state.taken_by[seats:] = -1
    for other, claims in enumerate(checked_list("claims", view["claims"], seats)):
        state.claims[other] = _owners(f"claims[{other}]", claims, seats)
    reactions = checked_list("reactions", view["reactions"], seats)
    committed = _owners("committed", view["committed"], seats)
    hurried = is_hurried(state) and not state.over
    state.tick = whole_number("tick", view["tick"], 0, state.window_ticks - 1 if hurried else SLOWEST_REACTION)
    if state.over:
        _check_over(view, reactions, committed)
        return
    state.to_move = whole_number("to_move", view["to_move"], 0, seats - 1)
    if not state.tokens[state.to_move] or not state.filled:
        raise IceError(f"to_move is {state.to_move}, but that seat has no token, or there is no pile to take")
    _read_reactions(reactions, state, seat)
    if committed and not (has_committed(state, seat) and may_claim(state, seat, committed)):
        raise IceError(f"committed is {view['committed']!r:.80}, to which seat {seat} cannot commit in this tick")
    state.pending[seat] = committed


def _check_over(view: Mapping[str, Any], reactions: list[Any], committed: int) -> None:
    if view["to_move"] is not None or committed or any(reaction is not None for reaction in reactions):
        raise IceError("over is true, so to_move and all reactions must be null, and committed empty")


def _read_reactions(reactions: list[Any], state: Any, seat: int) -> None:
    """Write the reactions that the seat knows: its own, that of the seat to move, those of seats with claims."""
    for other, reaction in enumerate(reactions):
        where, claimed = f"reactions[{other}]", state.claims[other] != 0
        if other not in (seat, state.to_move) and not claimed:
            if reaction is not None:
                raise IceError(f"{where} must be null: seat {seat} cannot know it")
            continue
        state.reactions[other] = whole_number(where, reaction, 0, max(_slowest(state, other), int(state.tick)))
        if other == state.to_move and (reaction != state.tick or claimed):
            raise IceError(f"to_move is {other}, which must react at tick {state.tick} and have no claims yet")
        if claimed and reaction >= state.tick:
            raise IceError(f"{where} is {reaction}, but the seat has slapped something before tick {state.tick}")


def _slowest(state: Any, seat: int) -> int:
    """Return the slowest reaction that may be drawn for a seat in this window; a person's is any tick up to now."""
    delay = state.flipper_delay if seat == state.flipper and not state.after_capture else 0
    return int(state.shift[seat]) + int(delay) + int(state.reaction_ticks) + int(state.widen[seat]) - 1
