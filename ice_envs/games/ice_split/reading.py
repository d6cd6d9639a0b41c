"""Views of Ice Split read strictly: every field that contradicts another one is named in one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ice_envs.engine import loops
from ice_envs.engine.game import States
from ice_envs.engine.plain import checked_fields, checked_flag, checked_list, checked_view, plain_record
from ice_envs.errors import IceError, choose, whole_number
from ice_envs.games import find_game
from ice_envs.games.ice_split.deck import FLAVORS, NUM_CARDS, RECONSTRUCTION
from ice_envs.games.ice_split.rules import CHOOSE_START, DISPLAY_SIZE, DRAW, HAND_SIZE, MARKET_SIZE, PLAY
from ice_envs.games.ice_split.schema import PHASES

HALVES = {"goals": "goal", "flavors": "flavor"}
"""The rows of a display, and which half of a card shows in each."""
Slot = tuple[int, str, int]
"""Where a card lies in a display: seat, row, place."""


def cards_of(bits: int) -> list[int]:
    """Return a set of cards as a list."""
    return [card for card in range(NUM_CARDS) if bits >> card & 1]


def bits_of(cards: Iterable[int]) -> int:
    """Return cards as a set."""
    return sum(1 << card for card in set(cards))


@dataclass(frozen=True)
class Turn:
    """Whose turn it is, in which phase, and what follows: the size of each hand, and how many cards were drawn."""

    phase: int
    first_seat: int
    to_move: int
    over: bool
    hands: list[int]
    drawn: int
    decisions: int

    def has_chosen(self, seat: int) -> bool:
        """Return whether a seat has a start card that is chosen and not revealed."""
        return self.phase == CHOOSE_START and self._step(seat) < self._step(self.to_move)

    def _step(self, seat: int) -> int:
        return (seat - self.first_seat) % len(self.hands)


class Reading:
    """A view, checked field by field; `states` (1,) is a game of its table size and options, not filled in yet."""

    def __init__(self, view: Mapping[str, Any]) -> None:
        self.states = _new_game(view)
        self.table = plain_record(self.states[0])
        self.seats = range(self.table.num_players)
        self.seat = whole_number("seat", view["seat"], 0, len(self.seats) - 1)
        self.seed = whole_number("seed", view.get("seed", 0), 0, 2**64 - 1)
        self.covered: dict[Slot, int] = {}
        self.rows: dict[str, list[list[int]]] = {row: [[] for _ in self.seats] for row in HALVES}
        for seat, display in enumerate(checked_list("displays", view["displays"], len(self.seats))):
            self._read_display(seat, display)
        self.turn = self._read_turn(view)
        self.hand, self.market = _cards("hand", view["hand"]), _cards("market", view["market"])
        known = checked_list("known", view["known"], len(self.seats))
        self.known = [_cards(f"known[{seat}]", cards) for seat, cards in enumerate(known)]
        self._check_sizes(view["deck_height"])
        self.public = _cards("public", view["public"])
        self._where = self._places()
        self._check_public()
        self.start_card = self._read_start(view["start_card"])
        self._cover()

    def cards_left(self) -> list[int]:
        """Return the cards that neither the view names nor a display shows."""
        laid = {card for row in self.rows.values() for cards in row for card in cards}
        return [card for card in range(NUM_CARDS) if card not in self._where and card not in laid]

    def _half(self, row: str, card: int) -> int:
        """Return what a card shows in a row, as a number: its goal, or its flavor."""
        return int(self.table.goal_numbers[card] if row == "goals" else self.table.cards[card] & 7)

    def _read_display(self, seat: int, display: Any) -> None:
        """Read a display; each card that is named must show what stands beside it."""
        checked_fields(f"displays[{seat}]", display, HALVES)
        for row, half in HALVES.items():
            for place, entry in enumerate(checked_list(f"displays[{seat}].{row}", display[row])):
                where = f"displays[{seat}].{row}[{place}]"
                checked_fields(where, entry, (half, "card"))
                shown = self._shown(f"{where}.{half}", half, entry[half])
                card = -1 if entry["card"] is None else _card(f"{where}.card", entry["card"])
                if card < 0:
                    self.covered[seat, row, place] = shown
                elif shown != self._half(row, card):
                    raise IceError(f"{where} has card {card}, which has another {half}")
                self.rows[row][seat].append(card)
        first = [self.rows[row][seat][:1] for row in HALVES]
        if first[0] != first[1] or -1 in first[0]:
            raise IceError(f"displays[{seat}] must have the start card first among its goals and among its flavors")

    def _shown(self, where: str, half: str, value: Any) -> int:
        if half == "flavor":
            return FLAVORS.index(choose(f"flavor in {where}:", value, FLAVORS))
        goal = _card(where, value)
        if self.table.goal_numbers[goal] != goal:
            lowest = self.table.goal_numbers[goal]
            raise IceError(f"{where} is {goal}, but the lowest card with that goal is {lowest}")
        return goal

    def _read_turn(self, view: Mapping[str, Any]) -> Turn:
        """Return the view's turn, which must be the one that the displays have led to."""
        count = len(self.seats)
        phase = PHASES.index(choose("phase", view["phase"], PHASES))
        first = whole_number("first_seat", view["first_seat"], 0, count - 1)
        order = [(first + step) % count for step in self.seats]
        laid = [max(sum(len(self.rows[row][seat]) for row in HALVES) - 1, 0) for seat in order]
        played = sum(laid) - count  # since the start cards
        over = played == count * (DISPLAY_SIZE - 1)
        fitting = [1 + (played + count - 1 - step) // count for step in self.seats] if phase else [0] * count
        if laid != fitting or (phase and played < 0) or played > count * (DISPLAY_SIZE - 1):
            raise IceError(
                f"displays have {laid} cards from the first seat on, which do not fit phase {PHASES[phase]!r}"
            )
        if checked_flag("over", view["over"]) != over:
            raise IceError(f"over is {str(view['over']).lower()}, but the displays have {laid} cards")
        step = (played - (phase == DRAW)) % count
        if phase == CHOOSE_START:
            step = order.index(whole_number("to_move", view["to_move"], 0, count - 1))
        if phase == DRAW and (played == 0 or laid[step] == DISPLAY_SIZE):
            raise IceError("phase is 'draw', but by the displays nobody has a card to draw")
        to_move = None if over else order[step]
        if view["to_move"] != to_move or isinstance(view["to_move"], bool):
            raise IceError(f"to_move is {view['to_move']!r:.80}, but by the displays it is {to_move!r}")
        drawn = [
            min(max(cards - 1, 0), DISPLAY_SIZE - 2) - (phase == DRAW and place == step)
            for place, cards in enumerate(laid)
        ]
        hands = {seat: HAND_SIZE - laid[place] + drawn[place] for place, seat in enumerate(order)}
        return Turn(
            phase=PLAY if over else phase,
            first_seat=first,
            to_move=order[step],
            over=over,
            hands=[hands[seat] for seat in self.seats],
            drawn=sum(drawn),
            decisions=step if phase == CHOOSE_START else sum(laid) + sum(drawn),
        )

    def _check_sizes(self, deck_height: Any) -> None:
        """Refuse a deck, a market or hands of another size than the turn asks for."""
        left = NUM_CARDS - HAND_SIZE * len(self.seats) - MARKET_SIZE - self.turn.drawn
        for what, found, right in (
            ("deck_height", deck_height, max(left, 0)),
            ("the number of cards in market", len(self.market), MARKET_SIZE + min(left, 0)),
            ("the number of cards in hand", len(self.hand), self.turn.hands[self.seat]),
        ):
            if found != right or isinstance(found, bool):
                raise IceError(f"{what} is {found!r:.80}, but by the displays and the turn it is {right}")
        for seat, cards in enumerate(self.known):
            if len(cards) > self.turn.hands[seat]:
                raise IceError(f"known[{seat}] has {len(cards)} cards, but the hand has {self.turn.hands[seat]}")
        if not set(self.known[self.seat]) <= set(self.hand):
            raise IceError(f"known[{self.seat}] must be cards of the own hand")

    def _places(self) -> dict[int, str]:
        """Return where each card is that the view names; refuse a card in two places."""
        places = [("market", self.market), ("hand", self.hand)]
        places += [(f"known[{seat}]", cards) for seat, cards in enumerate(self.known) if seat != self.seat]
        places += [(f"displays[{seat}]", self._laid(seat)) for seat in self.seats]
        found: dict[int, str] = {}
        for name, cards in places:
            for card in cards:
                if card in found:
                    raise IceError(f"{name} has card {card}, but so has {found[card]}")
                found[card] = name
        return found

    def _laid(self, seat: int) -> list[int]:
        """Return the cards of a display that are named, the start card once."""
        return [card for card in self.rows["goals"][seat] + self.rows["flavors"][seat][1:] if card >= 0]

    def _check_public(self) -> None:
        """Refuse `public` unless it is all that must be, and nothing that cannot be, seen by everybody."""
        starts = [goals[0] for goals in self.rows["goals"] if goals]
        public = set(self.public)
        for card in [*self.market, *starts, *(card for cards in self.known for card in cards)]:
            if card not in public:
                raise IceError(f"public lacks card {card}, which everybody has seen in {self._where[card]}")
        for card in self.public:
            if card not in self._where:
                raise IceError(f"public has card {card}, which is nowhere else in the view")
            if self._where[card] == "hand" and card not in self.known[self.seat]:
                raise IceError(f"public has card {card} of the own hand, which known[{self.seat}] lacks")
        for seat in self.seats:
            for card in self._laid(seat) if seat != self.seat else []:
                by_goal = card in self.rows["goals"][seat] and self.table.unique_goals >> card & 1
                if card not in public and not by_goal:
                    raise IceError(f"displays[{seat}] names card {card}, which the seat cannot know: public lacks it")
        if any(seat == self.seat for seat, _, _ in self.covered):
            raise IceError(f"displays[{self.seat}] must name every card: it is the own one")

    def _read_start(self, chosen: Any) -> int:
        """Return the own start card, −1 for none; it must be there just if the seat has chosen one."""
        if not self.turn.has_chosen(self.seat):
            if chosen is not None:
                raise IceError(f"start_card is {chosen!r:.80}, but the seat has none that is chosen and not revealed")
            return -1
        if _card("start_card", chosen) not in self.hand:
            raise IceError(f"start_card is {chosen}, which is not in hand")
        return int(chosen)

    def _cover(self) -> None:
        """Put cards that the view does not name where only a half shows, any that fit; refuse a view if none do.

        A card laid before moves on if that makes room (augmenting paths, so cards are found if there are any).
        """
        unseen = [card for card in range(NUM_CARDS) if card not in self._where]
        slot_of: dict[int, Slot] = {}

        def lay(slot: Slot, tried: set[int]) -> bool:
            """Lay a fitting card into the slot, not one of `tried`; return whether there is one."""
            for card in unseen:
                if card not in tried and self._half(slot[1], card) == self.covered[slot]:
                    tried.add(card)
                    if card not in slot_of or lay(slot_of[card], tried):
                        slot_of[card] = slot
                        return True
            return False

        for slot in self.covered:
            if not lay(slot, set()):
                seat, row, place = slot
                raise IceError(f"displays[{seat}].{row}[{place}] shows a half that no unseen card has left")
        for card, (seat, row, place) in slot_of.items():
            self.rows[row][seat][place] = card


def _new_game(view: Mapping[str, Any]) -> States:
    """Return a game of the view's table size and options."""
    game = find_game("ice_split")
    num_players, options = checked_view(game, view)
    deck = options.get("deck", RECONSTRUCTION)
    if isinstance(deck, str) and deck != RECONSTRUCTION:  # a view comes from anywhere, and must open no file
        raise IceError(f"options.deck must be {RECONSTRUCTION!r} or a list of rows, not {deck!r:.80}")
    return loops.new_states(game, [num_players], options, np.zeros(1, np.uint64))


def _card(where: str, value: Any) -> int:
    return whole_number(where, value, 0, NUM_CARDS - 1)


def _cards(where: str, value: Any) -> list[int]:
    cards = [_card(f"{where}[{place}]", card) for place, card in enumerate(checked_list(where, value))]
    for place, card in enumerate(cards):
        if card in cards[:place]:
            raise IceError(f"{where} names card {card} twice")
    return cards
