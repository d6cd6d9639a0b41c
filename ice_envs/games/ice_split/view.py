"""What one seat of Ice Split knows, as plain JSON, both ways: for front ends that keep the rules themselves.

    game, version, num_players, options    which game: {"sequence": "contiguous", …}; options left out are the defaults,
                                           "deck" is "reconstruction" or the deck's rows
    seat                                   whose knowledge this is; seats count from 0, clockwise
    first_seat                             who has the first turn
    hand                                   the own cards, by number
    market, deck_height                    the open cards; how many lie in the deck
    known                                  of each seat the cards in its hand that came from the market
    public                                 all cards of which everybody has seen both halves: what is or has been in the
                                           market, and revealed start cards
    displays                               of each seat {"goals": […], "flavors": […]}, the start card first in both, then
                                           as they were played:
                                           {"goal": 14, "card": 14} with the lowest card that has this goal,
                                           {"flavor": "mint", "card": null}; the card is null if the seat cannot know it
    points                                 each seat's points of the goals met now; ignored when read
    phase, to_move                         "start", "play" or "draw"; whose turn it is, null when the game is over
    start_card                             the own start card, chosen but not revealed yet, and still in the hand, or null
    over                                   whether the game is over
    legal_actions                          only if the seat is to move: [{"action", "label", "label_ja"}, …]; ignored
    seed                                   for `from_view` alone: which draw of the hidden cards; default 0
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from ice_envs.engine import loops
from ice_envs.engine.game import Game, States
from ice_envs.engine.jit import compiled
from ice_envs.engine.plain import checked_fields, checked_flag, checked_list, plain_record
from ice_envs.errors import IceError, choose, whole_number
from ice_envs.games import find_game
from ice_envs.games.ice_split.deck import (
    FLAVORS,
    NUM_CARDS,
    RECONSTRUCTION,
    deck_hash,
    deck_rows,
    reconstruction,
    unpacked,
)
from ice_envs.games.ice_split.determinize import determinize
from ice_envs.games.ice_split.display import add_flavor, add_goal, appraise, clear_displays
from ice_envs.games.ice_split.rules import (
    DISPLAY_SIZE,
    DUPLICATE_GOALS,
    HAND_SIZE,
    MARKET_SIZE,
    SEQUENCES,
    TWO_PAIRS,
)

PHASES = ("start", "play", "draw")
_REQUIRED = (
    *("game", "version", "num_players", "options", "seat", "first_seat", "hand", "market", "deck_height", "known"),
    *("public", "displays", "phase", "to_move", "start_card", "over"),
)
_OPTIONAL = ("points", "legal_actions", "seed")
Slot = tuple[int, str, int]
"""Where a card lies in a display: seat, "goals" or "flavors", and place."""


def cards_of(bits: int) -> list[int]:
    """Return a set of cards as a list."""
    return [card for card in range(NUM_CARDS) if bits >> card & 1]


def bits_of(cards: Iterable[int]) -> int:
    """Return cards as a set."""
    return sum(1 << card for card in set(cards))


# ---- from the record to the view ----


def to_view(state: Any, seat: int) -> dict[str, Any]:
    """Return what `seat` knows of the game `state` (one record), as plain JSON data (see the module)."""
    game, table = find_game("ice_split"), plain_record(state)
    seat = whole_number("seat", seat, 0, table.num_players - 1)
    seats = range(table.num_players)
    chosen = table.starts[seat]
    view = {
        "game": game.name,
        "version": game.version,
        "num_players": table.num_players,
        "options": read_options(table),
        "seat": seat,
        "first_seat": table.first_seat,
        "hand": cards_of(table.hands[seat]),
        "market": cards_of(table.market),
        "deck_height": table.deck_size,
        "known": [cards_of(table.hands[other] & table.public) for other in seats],
        "public": cards_of(table.public),
        "displays": [_display(table, other, seat) for other in seats],
        "points": table.points[: table.num_players],
        "phase": PHASES[table.phase],
        "to_move": None if table.over else table.to_move,
        "start_card": chosen if chosen >= 0 else None,
        "over": bool(table.over),
    }
    if seat == view["to_move"]:
        view["legal_actions"] = _legal_actions(game, state)
    return view


def read_options(table: SimpleNamespace) -> dict[str, Any]:
    """Return the options of a record (as `plain_record` gives it)."""
    return {
        "sequence": SEQUENCES[table.sequence],
        "two_pairs": TWO_PAIRS[table.two_pairs],
        "duplicate_goals": DUPLICATE_GOALS[table.duplicate_goals],
        "deck": RECONSTRUCTION if is_reconstruction(table) else deck_rows([unpacked(card) for card in table.cards]),
    }


def is_reconstruction(table: SimpleNamespace) -> bool:
    """Return whether a record's deck is the one that comes with this package."""
    return bool(table.deck_hash == deck_hash(reconstruction()))


def _display(table: SimpleNamespace, owner: int, seat: int) -> dict[str, list[dict[str, Any]]]:
    goals = table.goal_row[owner][: table.num_goals[owner]]
    flavors = table.flavor_row[owner][: table.num_flavors[owner]]
    known = table.public | (table.played[owner] if owner == seat else 0)
    known_goals = known | table.unique_goals
    return {
        "goals": [
            {"goal": table.goal_numbers[card], "card": card if known_goals >> card & 1 else None} for card in goals
        ],
        "flavors": [
            {"flavor": FLAVORS[table.cards[card] & 7], "card": card if known >> card & 1 else None} for card in flavors
        ],
    }


def _legal_actions(game: Game, state: Any) -> list[dict[str, Any]]:
    mask = np.zeros((1, game.num_actions), np.int8)
    loops.legal_games(np.asarray(state).reshape(1), mask)
    legal = np.flatnonzero(mask[0]).tolist()
    return [{"action": a, "label": game.labels[a], "label_ja": game.labels_ja[a]} for a in legal]


# ---- from the view to a record ----


def from_view(view: Mapping[str, Any]) -> States:
    """Return a game (one record, shape (1,)) that agrees with all the view's seat knows.

    What the seat cannot know is drawn by `determinize` from the view's "seed". Raises IceError, naming the field and
    what is wrong with it.
    """
    checked_fields("the view", view, _REQUIRED, _OPTIONAL)
    states = _new_game(view)
    table = plain_record(states[0])
    seat = whole_number("seat", view["seat"], 0, table.num_players - 1)
    seed = whole_number("seed", view.get("seed", 0), 0, 2**64 - 1)
    rows = _read_displays(view, table)
    turn = _read_turn(view, rows, table.num_players)
    where = _read_cards(view, table, seat, turn, rows)
    _cover(rows, table, where)
    _write(states, view, seat, turn, rows)
    draw_hidden(states, seat, np.uint64(seed))
    return states


@compiled
def lay_displays(states: Any, goals: Any, flavors: Any) -> None:
    """Lay the cards of each seat's rows (seats, 13), −1 past their ends, in the game `states[0]`."""
    clear_displays(states[0])
    for seat in range(len(goals)):
        for card in goals[seat]:
            if card >= 0:
                states[0].played[seat] |= 1 << card
                add_goal(states[0], seat, card)
        for card in flavors[seat]:
            if card >= 0:
                states[0].played[seat] |= 1 << card
                add_flavor(states[0], seat, card)
        if goals[seat, 0] >= 0:
            appraise(states[0], seat)


@compiled
def draw_hidden(states: Any, seat: int, seed: Any) -> None:
    """Redraw what the seat cannot know of the game `states[0]`."""
    determinize(states[0], seat, seed)


def _new_game(view: Mapping[str, Any]) -> States:
    """Return a game of the view's table size and options."""
    game = find_game("ice_split")
    choose("game", view["game"], [game.name])
    if view["version"] != game.version:
        raise IceError(f"version is {view['version']!r}, but this is version {game.version} of {game.name}")
    num_players = whole_number("num_players", view["num_players"], game.table_sizes[0], game.table_sizes[-1])
    options = checked_fields("options", view["options"], (), game.default_options())
    deck = options.get("deck", RECONSTRUCTION)
    if isinstance(deck, str) and deck != RECONSTRUCTION:  # a view comes from anywhere, and must open no file
        raise IceError(f"options.deck must be {RECONSTRUCTION!r} or a list of rows, not {deck!r}")
    return loops.new_states(game, [num_players], options, np.zeros(1, np.uint64))


def _card(where: str, value: Any) -> int:
    return whole_number(where, value, 0, NUM_CARDS - 1)


def _cards(where: str, value: Any) -> list[int]:
    cards = [_card(f"{where}[{i}]", card) for i, card in enumerate(checked_list(where, value))]
    for i, card in enumerate(cards):
        if card in cards[:i]:
            raise IceError(f"{where} names card {card} twice")
    return cards


class _Rows:
    """The displays of a view: the cards that are known (−1 where not), and what the covered ones show."""

    def __init__(self, num_players: int) -> None:
        self.cards: dict[str, list[list[int]]] = {row: [[] for _ in range(num_players)] for row in ("goals", "flavors")}
        self.shown: dict[Slot, int] = {}

    def laid(self, seat: int) -> int:
        """Return how many cards a display has; the start card shows both halves."""
        goals, flavors = (len(self.cards[row][seat]) for row in ("goals", "flavors"))
        return max(goals + flavors - 1, 0)


def _read_displays(view: Mapping[str, Any], table: SimpleNamespace) -> _Rows:
    """Return the view's displays; each card that is named must show what stands beside it."""
    rows = _Rows(table.num_players)
    for seat, display in enumerate(checked_list("displays", view["displays"], table.num_players)):
        checked_fields(f"displays[{seat}]", display, ("goals", "flavors"))
        for row, half in (("goals", "goal"), ("flavors", "flavor")):
            for place, entry in enumerate(checked_list(f"displays[{seat}].{row}", display[row])):
                where = f"displays[{seat}].{row}[{place}]"
                checked_fields(where, entry, (half, "card"))
                shown = _shown(where, half, entry[half], table)
                card = -1 if entry["card"] is None else _card(f"{where}.card", entry["card"])
                if card >= 0 and shown != half_of(table, half, card):
                    raise IceError(f"{where} has card {card}, which has another {half}")
                rows.cards[row][seat].append(card)
                if card < 0:
                    rows.shown[seat, row, place] = shown
        first = [rows.cards[row][seat][:1] for row in ("goals", "flavors")]
        if first[0] != first[1] or -1 in first[0]:
            raise IceError(f"displays[{seat}] must have the start card first among its goals and among its flavors")
    return rows


def _shown(where: str, half: str, value: Any, table: SimpleNamespace) -> int:
    """Return a half of a card as a number: the goal's, or the flavor's."""
    if half == "flavor":
        return FLAVORS.index(choose(f"flavor in {where}:", value, FLAVORS))
    goal = _card(f"{where}.goal", value)
    if table.goal_numbers[goal] != goal:
        raise IceError(f"{where}.goal is {goal}, but card {table.goal_numbers[goal]} has the same goal and is the lowest")
    return goal


def half_of(table: SimpleNamespace, half: str, card: int) -> int:
    """Return the number of a card's goal or flavor, as a view has them."""
    return int(table.goal_numbers[card] if half == "goal" else table.cards[card] & 7)


class _Turn(SimpleNamespace):
    """Whose turn it is, in which phase, and what follows: how many cards each hand has, and how many have been drawn."""

    phase: int
    to_move: int
    first_seat: int
    over: bool
    hands: list[int]
    drawn: int
    decisions: int


def _read_turn(view: Mapping[str, Any], rows: _Rows, num_players: int) -> _Turn:
    """Return the view's turn, which must fit the displays."""
    phase = PHASES.index(choose("phase", view["phase"], PHASES))
    first = whole_number("first_seat", view["first_seat"], 0, num_players - 1)
    over = checked_flag("over", view["over"])
    laid = [rows.laid((first + step) % num_players) for step in range(num_players)]
    if over != (min(laid) == DISPLAY_SIZE):
        raise IceError(f"over is {str(over).lower()}, but the displays have {laid} cards from the first seat on")
    if over:
        if view["to_move"] is not None:
            raise IceError(f"to_move is {view['to_move']!r}, but the game is over")
        turn = 0
    else:
        turn = (whole_number("to_move", view["to_move"], 0, num_players - 1) - first) % num_players
    most = DISPLAY_SIZE if over else min(laid[turn:] if phase != 2 else [laid[turn] - 1, *laid[turn + 1 :]])
    expected = [most] * num_players
    if phase == 0:
        expected = [0] * num_players
    elif not over:
        expected = [most + (step < turn or (step == turn and phase == 2)) for step in range(num_players)]
    if laid != expected or (phase == 0) != (laid[-1] == 0) or max(laid) > DISPLAY_SIZE or (phase == 2 and laid[turn] == DISPLAY_SIZE):
        raise IceError(f"displays have {laid} cards from the first seat on, which does not fit phase and to_move")
    drawn = [min(max(cards - 1, 0), DISPLAY_SIZE - 2) - (phase == 2 and step == turn) for step, cards in enumerate(laid)]
    hands = [HAND_SIZE - cards + draws for cards, draws in zip(laid, drawn, strict=True)]
    return _Turn(
        phase=1 if over else phase,
        to_move=(first + turn) % num_players,
        first_seat=first,
        over=over,
        hands=[hands[(seat - first) % num_players] for seat in range(num_players)],
        drawn=sum(drawn),
        decisions=turn if phase == 0 else sum(laid) + sum(drawn),
    )


def _read_cards(
    view: Mapping[str, Any], table: SimpleNamespace, seat: int, turn: _Turn, rows: _Rows
) -> dict[int, str]:
    """Return where each card is that the view names; all of it must be as the turn asks for."""
    deck_height = NUM_CARDS - HAND_SIZE * table.num_players - MARKET_SIZE - turn.drawn
    market, hand = _cards("market", view["market"]), _cards("hand", view["hand"])
    for what, found, right in (
        ("deck_height", view["deck_height"], max(deck_height, 0)),
        ("the number of cards in market", len(market), MARKET_SIZE + min(deck_height, 0)),
        ("the number of cards in hand", len(hand), turn.hands[seat]),
    ):
        if found != right or isinstance(found, bool):
            raise IceError(f"{what} is {found!r}, but by the displays and the turn it is {right}")
    known = [_cards(f"known[{i}]", cards) for i, cards in enumerate(checked_list("known", view["known"], table.num_players))]
    for other, cards in enumerate(known):
        if len(cards) > turn.hands[other]:
            raise IceError(f"known[{other}] has {len(cards)} cards, but the hand has {turn.hands[other]}")
    if not set(known[seat]) <= set(hand):
        raise IceError(f"known[{seat}] must be cards of the own hand")
    where: dict[int, str] = {}
    places = [("market", market), ("hand", hand)]
    places += [(f"known[{other}]", cards) for other, cards in enumerate(known) if other != seat]
    for owner in range(table.num_players):
        goals, flavors = rows.cards["goals"][owner], rows.cards["flavors"][owner]
        places.append((f"displays[{owner}]", [card for card in goals + flavors[1:] if card >= 0]))
    for name, cards in places:
        for card in cards:
            if card in where:
                raise IceError(f"{name} has card {card}, but so has {where[card]}")
            where[card] = name
    _check_public(view, table, seat, where, known, rows)
    _check_start(view, hand, seat, turn)
    return where


def _check_public(
    view: Mapping[str, Any], table: SimpleNamespace, seat: int, where: dict[int, str], known: list[list[int]], rows: _Rows
) -> None:
    """Refuse `public` unless it is all that must be, and nothing that cannot be, seen by everybody."""
    public = set(_cards("public", view["public"]))
    starts = {row[0] for row in rows.cards["goals"] if row}
    for card in {*view["market"], *starts, *(card for cards in known for card in cards)} - public:
        raise IceError(f"public lacks card {card}, which everybody has seen in {where[card]}")
    for card in public:
        if card not in where:
            raise IceError(f"public has card {card}, which is nowhere in the view")
        if where[card] == "hand" and card not in known[seat]:
            raise IceError(f"public has card {card} of the own hand, which known[{seat}] lacks")
    for owner in range(table.num_players):
        if owner != seat:
            unique = {card for card in rows.cards["goals"][owner] if card >= 0 and table.unique_goals >> card & 1}
            for card in {*rows.cards["goals"][owner], *rows.cards["flavors"][owner]} - {-1} - public - unique:
                raise IceError(f"displays[{owner}] names card {card}, which the seat cannot know: public lacks it")
        elif -1 in (*rows.cards["goals"][owner], *rows.cards["flavors"][owner]):
            raise IceError(f"displays[{owner}] must name every card: it is the own one")


def _check_start(view: Mapping[str, Any], hand: list[int], seat: int, turn: _Turn) -> None:
    """Refuse a start card before the seat has chosen one, and the lack of one after."""
    chosen = view["start_card"]
    count = len(turn.hands)
    has_chosen = turn.phase == 0 and (seat - turn.first_seat) % count < (turn.to_move - turn.first_seat) % count
    if has_chosen and _card("start_card", chosen) not in hand:
        raise IceError(f"start_card is {chosen}, which is not in hand")
    if not has_chosen and chosen is not None:
        raise IceError(f"start_card is {chosen!r}, but the seat has none that is chosen and not revealed")


def _cover(rows: _Rows, table: SimpleNamespace, where: Mapping[int, str]) -> None:
    """Put cards that the view does not name where only a half shows, any that fit; refuse a view if none do.

    A card laid before moves on if that makes room (augmenting paths, so cards are found if there are any).
    """
    unseen = [card for card in range(NUM_CARDS) if card not in where]
    slot_of: dict[int, Slot] = {}

    def place(slot: Slot, tried: set[int]) -> bool:
        for card in unseen:
            if card not in tried and half_of(table, slot[1][:-1], card) == rows.shown[slot]:
                tried.add(card)
                if card not in slot_of or place(slot_of[card], tried):
                    slot_of[card] = slot
                    return True
        return False

    for slot in rows.shown:
        if not place(slot, set()):
            seat, row, i = slot
            raise IceError(f"displays[{seat}].{row}[{i}] shows a half that no card is left for")
    for card, (seat, row, i) in slot_of.items():
        rows.cards[row][seat][i] = card


def _write(states: States, view: Mapping[str, Any], seat: int, turn: _Turn, rows: _Rows) -> None:
    """Write a view that was checked into the record; other hands get any of the cards that are left."""
    state = states[0]
    for name in ("phase", "to_move", "first_seat", "over", "decisions"):
        states[name] = getattr(turn, name)
    padded = np.full((2, len(turn.hands), DISPLAY_SIZE), -1)
    for row, cards in zip(padded, rows.cards.values(), strict=True):
        for owner, laid in enumerate(cards):
            row[owner, : len(laid)] = laid
    lay_displays(states, *padded)
    laid_cards = {card for row in rows.cards.values() for laid in row for card in laid}
    gone = {*laid_cards, *view["hand"], *view["market"], *(card for cards in view["known"] for card in cards)}
    left = [card for card in range(NUM_CARDS) if card not in gone]
    for other, size in enumerate(turn.hands):
        known = view["hand"] if other == seat else view["known"][other]
        hand = [*known, *(left.pop() for _ in range(size - len(known)))]
        state.hands[other] = bits_of(hand)
        if turn.phase == 0 and (other - turn.first_seat) % len(turn.hands) < (turn.to_move - turn.first_seat) % len(turn.hands):
            state.starts[other] = view["start_card"] if other == seat else hand[0]
    state.market, state.public = bits_of(view["market"]), bits_of(view["public"])
    state.deck_size = len(left)
    state.deck[:] = 0
    state.deck[: len(left)] = left
