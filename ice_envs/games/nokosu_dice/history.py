"""A round of Nokosu Dice in the order in which it was played, read back from the record in plain Python."""

from __future__ import annotations

from types import SimpleNamespace

from ice_envs.engine.bits import count_bits
from ice_envs.games.nokosu_dice.items import COLORS, ITEM_COLORS, ITEM_NUMBERS, NUM_CARDS, NUM_KINDS, item_of
from ice_envs.games.nokosu_dice.rules import CALL, DRAFT
from ice_envs.games.nokosu_dice.setup import PICKS


def name_of(item: int) -> str:
    """Return a card as `red 5`, a die as `red die 5`."""
    return f"{COLORS[ITEM_COLORS[item]]} {'die ' * (item >= NUM_CARDS)}{ITEM_NUMBERS[item]}"


def cards_of(bits: int) -> list[int]:
    """Return the items of a set of cards."""
    return [card for card in range(NUM_CARDS) if bits >> card & 1]


def dice_of(counts: list[int]) -> list[int]:
    """Return the items of the dice that are counted by kind, one for each die."""
    return [NUM_CARDS + kind for kind in range(NUM_KINDS) for _ in range(counts[kind])]


def seats_from(table: SimpleNamespace, first: int) -> list[int]:
    """Return all seats clockwise."""
    return [(first + step) % table.num_players for step in range(table.num_players)]


def in_turn(table: SimpleNamespace) -> list[int]:
    """Return all seats in the order in which they draft and call."""
    return seats_from(table, (table.dealer + 1) % table.num_players)


def drafted_dice(table: SimpleNamespace) -> list[tuple[int, int]]:
    """Return seat and item of each die drafted, in order."""
    laps = [(seat, table.drafted[seat][lap]) for lap in range(PICKS) for seat in in_turn(table)]
    return [(seat, int(item_of(mark))) for seat, mark in laps if mark]


def rolled_dice(table: SimpleNamespace, seat: int) -> list[int]:
    """Return the dice that the seat rolled for itself: all that it has had, less what it drafted."""
    dice = dice_of(table.dice[seat]) + [int(item_of(mark)) for mark in table.history[seat] if mark & 64]
    if table.returned[seat]:
        dice.append(int(item_of(table.returned[seat])))
    for drafter, item in drafted_dice(table):
        if drafter == seat:
            dice.remove(item)
    return sorted(dice)


def seats_called(table: SimpleNamespace) -> list[int]:
    """Return the seats that have decided about a zero call, in order."""
    if table.phase == DRAFT:
        return []
    order = in_turn(table)
    return order[: order.index(table.to_move)] if table.phase == CALL else order


def played_tricks(table: SimpleNamespace) -> list[list[tuple[int, int]]]:
    """Return the tricks of the round, the one on the table last, each as (seat, item) in order of play."""
    tricks = []
    for trick in range(table.num_tricks):
        marks = [(seat, table.history[seat][trick]) for seat in seats_from(table, table.leaders[trick])]
        tricks.append([(seat, int(item_of(mark))) for seat, mark in marks if mark])
    return [plays for plays in tricks if plays]


def trick_winners(table: SimpleNamespace) -> list[int]:
    """Return who won each finished trick: the leader of the next one."""
    return [*table.leaders[1 : table.trick], table.leader] if table.trick else []


def hand_size(table: SimpleNamespace, seat: int) -> int:
    """Return how many cards a seat holds."""
    return count_bits(table.hands[seat])
