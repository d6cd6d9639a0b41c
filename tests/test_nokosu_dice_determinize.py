"""Determinizations of Nokosu Dice: cards and secret calls agree with what the seat knows, and are nearly uniform."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from ice_envs.engine.game import States
from ice_envs.engine.generator import game_seeds
from tests import nokosu_dice_positions as room
from tests.helpers import determinized
from tests.nokosu_dice_lockstep import ACTION, CARD_BIT, CARDS, DICE, ITEMS, NO_TRUMP, NOTHING_YET, SUIT
from tests.nokosu_dice_positions import GAME
from tests.nokosu_dice_tables import CoreTable, code_of, face, item
from tests.rooms import from_every_seat
from tests.twins.nokosu_dice import CARDS_IN_PLAY, suit

NO_CALL = ACTION["no call",]
SUITS = np.array([[SUIT[suit(card, trump)] for card in ITEMS[: len(CARDS)]] for trump in DICE])
"""Suit of each card under each trump, as the reference twin has it: (trumps, cards)."""
COLORS_OF = np.array([color for color, _ in CARDS])


@pytest.fixture(scope="module", params=GAME.table_sizes)
def positions(request: pytest.FixtureRequest) -> tuple[States, Any]:
    """Positions of all phases, each paired with every seat of its table."""
    return from_every_seat(room, request.param, 400)


def bits(hands: Any) -> Any:
    """Spread sets of cards out: (…) → (…, cards), 0 or 1."""
    return hands[..., None] >> np.arange(len(CARDS)) & 1


# ---- cards ----


def test_cards_agree_with_what_the_seat_knows(positions: tuple[States, Any]):
    states, seats = positions
    drawn = determinized(states, seats, game_seeds(1, len(states)))
    own = np.arange(len(states)), seats
    assert np.array_equal(drawn["hands"][own], states["hands"][own])
    cards = bits(drawn["hands"])  # game, seat, card
    assert np.array_equal(cards.sum(2), bits(states["hands"]).sum(2))
    assert (cards.sum(1) + bits(states["played"])).max() == 1, "a card in two places"
    in_play = [card in CARDS_IN_PLAY[int(states[0].num_players)] for card in CARDS]
    assert not cards[..., ~np.array(in_play)].any()


def test_no_seat_gets_a_suit_that_it_has_shown_not_to_have(positions: tuple[States, Any]):
    """A card of the trump's number is a trump: who lacks its color may hold it, who lacks trumps may not."""
    playing = positions[0]["trump"] != NO_TRUMP
    states, seats = (part[playing] for part in positions)
    drawn = determinized(states, seats, game_seeds(2, len(states)))
    suits = SUITS[states["trump"]][:, None]
    lacks = states["voids"][..., None] >> suits & 1 == 1
    lacks_color = states["voids"][..., None] >> COLORS_OF & 1 == 1
    others = np.arange(states["hands"].shape[1]) != seats[:, None]
    held = (bits(drawn["hands"]) == 1) & others[..., None]
    assert not (held & lacks).any()
    assert (held & lacks_color).any(), "nobody holds a trump of a color that it lacks"
    by_number = lacks & (suits != COLORS_OF) & ~lacks_color & others[..., None]
    assert by_number.any(), "nobody lacks trumps"


# ---- deals against exact enumeration ----


def small_deal(hands: list[str], aside: str, voids: str, trump: str) -> States:
    """Return a position in which only the cards named are not played; `voids` per seat, by letters, `t` for trump."""
    table = CoreTable.position(*hands, trump=trump)
    unplayed = {face(code) for code in " ".join([*hands, aside]).split()}
    table.state.played = sum(CARD_BIT[card] for card in CARDS_IN_PLAY[len(hands)] - unplayed)
    for seat, letters in enumerate(voids.split("/")):
        table.state.voids[seat] = sum(1 << SUIT[name] for name in SUIT if name[0] in letters)
    return table.states


def deals(unseen: list[str], sizes: list[int], voids: list[str], trump: str) -> Iterator[tuple[frozenset[str], ...]]:
    """Every way to deal hands of these sizes from the unseen cards that agrees with the voids."""
    if not sizes:
        yield ()
        return
    allowed = [code for code in unseen if suit(item(code), face(trump))[0] not in voids[0]]
    for hand in combinations(allowed, sizes[0]):
        for others in deals([code for code in unseen if code not in hand], sizes[1:], voids[1:], trump):
            yield (frozenset(hand), *others)


def dealt(hands: Any) -> tuple[frozenset[str], ...]:
    """Name the cards of hands (seats,) of bits."""
    return tuple(frozenset(code_of(ITEMS[card]) for card in np.flatnonzero(hand)) for hand in bits(hands))


THREE = ["r0", "r3 y1 y3", "g2 g3"]
FOUR = ["r0", "r3 y1", "y3 g2", "b2 p3"]


@pytest.mark.parametrize(
    ("hands", "aside", "voids", "count", "farthest"),
    [
        pytest.param(THREE, "y2", "//", 60, 0, id="no voids, one card left over"),
        pytest.param(THREE, "y2", "/y/", 12, 0.01, id="void in a color, but for its trump"),
        pytest.param(THREE, "y2", "//t", 12, 0.01, id="void in trumps of all colors"),
        pytest.param(THREE, "y2", "/g/y", 15, 0.01, id="two voids"),
        pytest.param(FOUR, "", "///", 90, 0, id="four seats, nothing left over"),
        pytest.param(FOUR, "", "/y/t/b", 12, 0.02, id="a void at every seat"),
    ],
)
def test_deals_are_nearly_uniform(hands: list[str], aside: str, voids: str, count: int, farthest: float):
    """Where walks mend a deal, the total variation from uniform may exceed that of exact draws by `farthest`."""
    trump = "R3"
    unseen = " ".join([*hands[1:], aside]).split()
    expected = set(deals(unseen, [len(hand.split()) for hand in hands[1:]], voids.split("/")[1:], trump))
    assert len(expected) == count
    draws = 200 * count
    table = np.repeat(small_deal(hands, aside, voids, trump), draws)
    drawn = determinized(table, np.zeros(draws, int), game_seeds(7, draws))["hands"][:, 1 : len(hands)]
    unique, found = np.unique(drawn, axis=0, return_counts=True)
    assert {dealt(hand) for hand in unique} == expected
    variation = np.abs(found / draws - 1 / count).sum() / 2
    exact = np.random.default_rng(8).multinomial(draws, np.full(count, 1 / count), size=200)
    typical = np.abs(exact / draws - 1 / count).sum(1) / 2
    assert variation < typical.mean() + 4 * typical.std() + farthest


# ---- secret calls ----


def test_secret_calls_agree_with_what_the_seat_knows(positions: tuple[States, Any]):
    states, seats = positions
    drawn = determinized(states, seats, game_seeds(3, len(states)))["commits"].astype(int)
    true = states["commits"]
    others = (np.arange(true.shape[1]) != seats[:, None]) & (true != NOTHING_YET)
    assert np.array_equal(drawn[~others], true[~others])
    kinds = states["dice_sets"][..., None] >> np.arange(len(DICE)) & 1 == 1
    possible = np.concatenate([kinds, np.ones((*kinds.shape[:2], 1), bool)], axis=2)  # the last: no call
    assert np.take_along_axis(possible, np.maximum(drawn - len(CARDS), 0)[..., None], 2)[..., 0][others].all()
    assert (drawn != true)[others].mean() > 0.5


def test_secret_calls_are_uniform_over_what_the_seats_could_have_called():
    """A kind of die that a seat has twice is one call."""
    hands = ("r0 R1 R2", "r1 R4 R4 Y2", "r2 Y5 Y5 Y5", "r3 G1 G2")
    table = CoreTable.position(*hands, phase="call", trump="P6", to_move=0, zero_call="secret")
    table.play("R1 R4 -")
    draws = 6000
    drawn = determinized(np.repeat(table.states, draws), np.zeros(draws, int), game_seeds(4, draws))["commits"]
    found = Counter(map(tuple, drawn.tolist()))
    one, two = ([*(ACTION[item(code)] for code in dice.split()), NO_CALL] for dice in ("R4 Y2", "Y5"))
    assert found.keys() == {(ACTION[item("R1")], *calls, NOTHING_YET) for calls in product(one, two)}
    assert max(abs(count - draws / 6) for count in found.values()) < 4 * np.sqrt(draws * 5 / 36)


def test_the_deck_keeps_nothing_of_the_true_deal():
    table = CoreTable.position(*FOUR, trump="R3").states
    other = table.copy()
    other["deck"] = np.arange(len(CARDS))[::-1]
    seeds = game_seeds(0, 1)
    assert determinized(table, [0], seeds).tobytes() == determinized(other, [0], seeds).tobytes()
