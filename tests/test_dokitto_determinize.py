"""Determinizations of Dokitto! Ice: cards and stars agree with what the seat knows, and are nearly uniform."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from ice_envs.engine.game import States
from ice_envs.engine.generator import game_seeds
from ice_envs.games.dokitto.rules import NUM_CARDS, NUM_FLAVORS, NUM_NUMBERS, TILES_PER_FLAVOR
from tests import dokitto_positions as room
from tests.dokitto_positions import GAME, LETTERS, card_index, position
from tests.helpers import determinized
from tests.rooms import from_every_seat


@pytest.fixture(scope="module", params=GAME.table_sizes)
def positions(request: pytest.FixtureRequest) -> tuple[States, Any]:
    """Positions of all phases, each paired with every seat of its table."""
    return from_every_seat(room, request.param, 250)


def bits(hands: Any) -> Any:
    """Spread hands out as cards: (…, flavors) → (…, flavors, numbers), 0 or 1."""
    return hands[..., None] >> np.arange(NUM_NUMBERS) & 1


def test_cards_agree_with_what_the_seat_knows(positions: tuple[States, Any]):
    states, seats = positions
    drawn = determinized(states, seats, game_seeds(1, len(states)))
    own = np.arange(len(states)), seats
    assert np.array_equal(drawn["hands"][own], states["hands"][own])
    cards = bits(drawn["hands"])  # game, seat, flavor, number
    assert np.array_equal(cards.sum((2, 3)), bits(states["hands"]).sum((2, 3)))
    assert (cards.sum(1) + bits(states["played"])).max() == 1, "a card in two places"
    in_play = np.arange(NUM_FLAVORS) < states["num_flavors"][:, None]
    assert not cards.any((1, 3))[~in_play].any()
    void = states["voids"][..., None] >> np.arange(NUM_FLAVORS) & 1
    others = np.arange(cards.shape[1]) != seats[:, None]
    assert not ((void == 1) & cards.any(3))[others].any()


def test_stars_agree_with_the_tiles_drawn(positions: tuple[States, Any]):
    states, seats = positions
    drawn = determinized(states, seats, game_seeds(2, len(states)))
    topping = (states["toppings"][:, None] >> np.arange(NUM_FLAVORS) & 1).astype(bool)
    stars = drawn["stars"][..., None] >> np.arange(TILES_PER_FLAVOR) & 1  # game, flavor, place
    already_drawn = np.arange(TILES_PER_FLAVOR) < TILES_PER_FLAVOR - states["tiles"][..., None]
    assert not stars[topping][already_drawn[topping]].any(), "the topping would be gone"
    wanted = np.broadcast_to(states["stars_per_flavor"][:, None], topping.shape)
    assert np.array_equal(stars.sum(2)[topping], wanted[topping])


# ---- against exact enumeration ----


def small_deal(hands: list[str], aside: str, voids: str) -> States:
    """Return a position in which only the cards named are not played yet; `voids` per seat, separated by `/`."""
    table = position(*hands, fields={"num_flavors": NUM_FLAVORS})
    table["played"] = 2**NUM_NUMBERS - 1
    for card in map(card_index, " ".join([*hands, aside]).split()):
        table["played"][0, card // NUM_NUMBERS] ^= 1 << card % NUM_NUMBERS
    for seat, flavors in enumerate(voids.split("/")):
        table["voids"][0, seat] = sum(1 << LETTERS.index(flavor) for flavor in flavors)
    return table


def deals(unseen: list[str], sizes: list[int], voids: list[str]) -> Iterator[tuple[frozenset[str], ...]]:
    """Every way to deal hands of these sizes from the unseen cards that agrees with the voids."""
    if not sizes:
        yield ()
        return
    allowed = [card for card in unseen if card[0] not in voids[0]]
    for hand in combinations(allowed, sizes[0]):
        for others in deals([card for card in unseen if card not in hand], sizes[1:], voids[1:]):
            yield (frozenset(hand), *others)


def dealt(hands: Any) -> tuple[frozenset[str], ...]:
    """Name the cards of hands (seats, flavors) of bits."""
    return tuple(
        frozenset(f"{LETTERS[flavor]}{place + 1}" for flavor, place in np.argwhere(hand)) for hand in bits(hands)
    )


@pytest.mark.parametrize(
    ("hands", "aside", "voids", "count", "farthest"),
    [
        pytest.param(["s1", "c1 c2", "m1 m2"], "g1 g2 v1", "//", 210, 0, id="no voids"),
        pytest.param(["s1", "c1 c2", "m1 m2"], "g1 g2 c5", "/m/", 100, 0, id="one void"),
        pytest.param(["s1", "c1 c2", "m1 m2"], "g1 g2 c5", "/m/c", 37, 0.01, id="two voids"),
        pytest.param(["s1 s2", "c1 c2", "m1 m2", "g1 g2"], "", "/m/c/v", 19, 0.01, id="nothing aside"),
        pytest.param(["s1 s2", "c1 c2", "m1 m2", "g1 g2", "v1 v2"], "", "/m/c/v/m", 240, 0.02, id="five seats"),
        pytest.param(["s1", "c1", "g1", "m1"], "", "/g/m/c", 2, 0.03, id="no exchange leads from one to the other"),
    ],
)
def test_deals_are_nearly_uniform(hands: list[str], aside: str, voids: str, count: int, farthest: float):
    """Where walks mend a deal, the total variation from uniform may exceed that of exact draws by `farthest`."""
    unseen = " ".join([*hands[1:], aside]).split()
    expected = set(deals(unseen, [len(hand.split()) for hand in hands[1:]], voids.split("/")[1:]))
    assert len(expected) == count
    draws = 200 * count
    table = np.repeat(small_deal(hands, aside, voids), draws)
    drawn = determinized(table, np.zeros(draws, int), game_seeds(7, draws))["hands"][:, 1 : len(hands)]
    unique, found = np.unique(drawn.reshape(draws, -1), axis=0, return_counts=True)
    assert {dealt(hand.reshape(-1, NUM_FLAVORS)) for hand in unique} == expected
    variation = np.abs(found / draws - 1 / count).sum() / 2
    exact = np.random.default_rng(8).multinomial(draws, np.full(count, 1 / count), size=200)
    typical = np.abs(exact / draws - 1 / count).sum(1) / 2
    assert variation < typical.mean() + 4 * typical.std() + farthest


def test_stars_are_uniform_among_the_tiles_not_drawn():
    table = position("s1 c1", "c2 s2", cones="s/", fields={"toppings": 0b111})
    drawn = determinized(np.repeat(table, 6000), np.zeros(6000, int), game_seeds(9, 6000))
    strawberry, chocolate = (Counter(drawn["stars"][:, flavor].tolist()) for flavor in range(2))
    assert set(strawberry) == {2, 4}
    assert set(chocolate) == {1, 2, 4}
    assert abs(strawberry[2] - 3000) < 4 * np.sqrt(1500)
    assert max(abs(chocolate[star] - 2000) for star in (1, 2, 4)) < 4 * np.sqrt(4000 / 3)


def test_the_deck_keeps_nothing_of_the_true_deal():
    table = position("s1 c1", "c2 s2")
    other = table.copy()
    other["deck"] = np.arange(NUM_CARDS)[::-1]
    seeds = game_seeds(0, 1)
    assert determinized(table, [0], seeds).tobytes() == determinized(other, [0], seeds).tobytes()
