"""The compiled records of Nokosu Dice and its reference twin brought into one form, for `tests/lockstep.py`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ice_envs import find_game
from ice_envs.engine.game import States
from tests.helpers import masks
from tests.lockstep import final_shares
from tests.twins.nokosu_dice import (
    COLORS,
    DICE_OF_A_COLOR,
    TRICKS,
    Face,
    Item,
    Move,
    NokosuDice,
    suit,
    trick_winner,
)

GAME = find_game("nokosu_dice")

CARDS: list[Face] = [(color, number) for color in range(5) for number in range(8)]
DICE: list[Face] = [(color, number) for color in range(5) for number in range(1, 7)]
ITEMS: list[Item] = [("card", *card) for card in CARDS] + [("die", *die) for die in DICE]
MOVES: list[Move] = [*ITEMS, ("no call",)]
ACTION = {move: index for index, move in enumerate(MOVES)}
CARD_BIT = {card: 1 << index for index, card in enumerate(CARDS)}
DIE_BIT = {die: 1 << index for index, die in enumerate(DICE)}
DIE_UNIT = {die: 8**index for index, die in enumerate(DICE)}
"""Dice are counted in the octal digits of one number: of no kind are there more than five."""
MARK = {item: 64 * (item[0] == "die") + 8 * (item[1] + 1) + item[2] for item in ITEMS}
"""An item in one byte, as the record's fields keep it."""
DIE_MARK = {die: MARK["die", die[0], die[1]] for die in DICE}
NO_TRUMP = len(DICE)
NOTHING_YET = -1
SUIT = {name: index for index, name in enumerate((*COLORS, "trump"))}
PHASE = {"draft": 0, "call": 1, "play": 2}
MOST_TRICKS = max(TRICKS.values())

NAMES = (
    "legal", "to_move", "phase", "hands", "dice", "dice_sets", "dice_left", "pool", "bag", "drafted", "trump",
    "commits", "called", "returned", "voids", "tricks", "history", "leaders", "played", "played_by", "totals", "round",
    "trick", "leader", "dealer", "trick_size", "led", "best_seat", "over", "truncated", "win_shares",
)  # fmt: skip
Facts = tuple[Any, ...]
"""All that can be told of a position, in the order of NAMES, in a form that both sides can be brought into."""

RARE = {
    "zero_call", "zero_made", "zero_failed", "hits_0", "hits_1", "won_with_led_color", "won_with_color_trump",
    "won_with_number_trump", "won_with_color_and_number", "tie_of_led_color", "tie_of_trumps",
    "last_die_need_not_follow", "forced_to_play_a_die", "last_die_of_a_zero_caller", "its_only_ones_are_trumps",
    "chooses_the_bid_in_the_last_trick", "shared",
}  # fmt: skip
"""What must have happened in one game of a hundred for the comparison to prove something."""


class Dealer:
    """The twin's chance: reads what the compiled core drew from the record it arrived at."""

    record: Any

    def first_dealer(self) -> int:
        return int(self.record.dealer)

    def deal(self) -> tuple[list[set[Face]], list[list[Face]], list[Face]]:
        seats = int(self.record.num_players)
        hands = [{card for card in CARDS if hand & CARD_BIT[card]} for hand in self.record.hands[:seats].tolist()]
        return hands, [as_dice(counts) for counts in self.record.dice[:seats]], as_dice(self.record.pool)


def as_dice(counts: Any) -> list[Face]:
    """List dice that are given as how many there are of each kind."""
    return [die for die, count in zip(DICE, counts.tolist(), strict=True) for _ in range(count)]


def new_twin(record: Any, dealer: Dealer, options: dict[str, Any]) -> NokosuDice:
    """Return the twin at the beginning of the recorded game."""
    return NokosuDice(int(record.num_players), dealer, **options)


def twin_facts(twin: NokosuDice) -> Facts:
    return (
        {ACTION[move] for move in twin.legal()},
        twin.to_move,
        PHASE[twin.phase],
        [sum([CARD_BIT[card] for card in hand]) for hand in twin.hands],
        [sum([DIE_UNIT[die] for die in dice]) for dice in twin.dice],
        [sum({DIE_BIT[die] for die in dice}) for dice in twin.dice],
        [len(dice) for dice in twin.dice],
        sum([DIE_UNIT[die] for die in twin.pool]),
        bag(twin),
        [[DIE_MARK[die] for die in dice] + [0] * (3 - len(dice)) for dice in twin.drafted],
        DICE.index(twin.trump) if twin.trump else NO_TRUMP,
        commits(twin),
        [int(call is not None) for call in twin.calls],
        [DIE_MARK[call] if call else 0 for call in twin.calls],
        [sum([1 << SUIT[name] for name in void]) for void in twin.voids],
        twin.won,
        *played(twin),
        twin.totals,
        twin.round,
        twin.trick,
        twin.leader,
        twin.dealer,
        len(twin.table),
        SUIT[suit(twin.table[0][1], twin.trump)] if twin.table and twin.trump else -1,
        trick_winner(twin.table, twin.trump, twin.tie) if twin.table and twin.trump else -1,
        twin.over,
        twin.truncated,
        twin.win_shares() if twin.over else None,
    )


def bag(twin: NokosuDice) -> list[int]:
    """Count the dice of each color that lie in the bag: neither at a seat, nor in the middle, nor played."""
    left = list(DICE_OF_A_COLOR[twin.num_players])
    for die in twin.pool:
        left[die[0]] -= 1
    for dice in twin.dice:
        for die in dice:
            left[die[0]] -= 1
    for _, item, _ in twin.played:
        left[item[1]] -= item[0] == "die"
    return left


def commits(twin: NokosuDice) -> list[int]:
    """List what each seat has decided as long as that is secret."""
    secret = twin.commitments if twin.zero_call == "secret" and twin.phase == "call" else {}
    items: list[Move] = [("die", *die) if (die := secret[seat]) else ("no call",) for seat in secret]
    by_seat = dict(zip(secret, items, strict=True))
    return [ACTION[by_seat[seat]] if seat in by_seat else NOTHING_YET for seat in range(twin.num_players)]


def played(twin: NokosuDice) -> tuple[bytes, bytes, int, bytes]:
    """Return the marks of what each seat played to each trick, who led each, the cards played, and who played them."""
    history, players = bytearray(twin.num_players * MOST_TRICKS), bytearray(len(CARDS))
    leaders = bytes([seat for seat, _, _ in twin.played[:: twin.num_players]]).ljust(MOST_TRICKS, b"\0")
    for seat, item, trick in twin.played:
        history[seat * MOST_TRICKS + trick] = MARK[item]
        if item[0] == "card":
            players[ACTION[item]] = seat + 1
    cards = sum([1 << card for card, player in enumerate(players) if player])
    return bytes(history), leaders, cards, bytes(players)


def record_facts(records: States) -> Iterator[Facts]:
    """Read one game's records, column by column: record by record would take ten times longer."""
    seats = int(records[0].num_players)
    over = records["over"].astype(bool).tolist()
    columns = (
        [set(np.flatnonzero(mask).tolist()) for mask in masks(GAME, records)],
        [None if ended else seat for ended, seat in zip(over, records["to_move"].tolist(), strict=True)],
        records["phase"].tolist(),
        records["hands"][:, :seats].tolist(),
        counts_as_numbers(records["dice"][:, :seats]).tolist(),
        records["dice_sets"][:, :seats].tolist(),
        records["dice_left"][:, :seats].tolist(),
        counts_as_numbers(records["pool"]).tolist(),
        records["bag"].tolist(),
        records["drafted"][:, :seats].tolist(),
        records["trump"].tolist(),
        records["commits"][:, :seats].tolist(),
        records["called"][:, :seats].tolist(),
        records["returned"][:, :seats].tolist(),
        records["voids"][:, :seats].tolist(),
        records["tricks"][:, :seats].tolist(),
        [history.tobytes() for history in records["history"][:, :seats]],
        [leaders.tobytes() for leaders in records["leaders"]],
        records["played"].tolist(),
        [players.tobytes() for players in records["played_by"]],
        records["totals"][:, :seats].tolist(),
        records["round_number"].tolist(),
        records["trick"].tolist(),
        records["leader"].tolist(),
        records["dealer"].tolist(),
        records["trick_size"].tolist(),
        records["led"].tolist(),
        records["best_seat"].tolist(),
        over,
        records["truncated"].astype(bool).tolist(),
        [None] * (len(records) - 1) + [final_shares(records[-1:])],
    )
    return zip(*columns, strict=True)


def counts_as_numbers(counts: Any) -> Any:
    """Join counts of the kinds of dice (…, 30) in one Python integer, as DIE_UNIT numbers them."""
    halves = counts.astype(np.int64).reshape(*counts.shape[:-1], 2, 15) @ 8 ** np.arange(15)
    return halves[..., 0].astype(object) | halves[..., 1].astype(object) << 45
