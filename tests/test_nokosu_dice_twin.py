"""The comparison of Nokosu Dice with its twin (`tests/test_twins.py`) notices wrong rules."""

from __future__ import annotations

import pytest

from tests import nokosu_dice_lockstep
from tests.lockstep import recorded, replay
from tests.nokosu_dice_lockstep import GAME
from tests.twins import nokosu_dice as twin_rules
from tests.twins.nokosu_dice import Face, Item, NokosuDice


def check_that_lockstep_notices(num_players: int) -> None:
    games = list(recorded(GAME, num_players, 20, 0, {}))
    with pytest.raises(AssertionError, match=r"twin .* compiled"):
        print([replay(nokosu_dice_lockstep, records, actions, {}) for records, actions in games])


def by_number_alone(item: Item, trump: Face) -> tuple[int, int]:
    """Rank items wrongly: the number decides among trumps as well."""
    return (1, item[2])


@pytest.mark.parametrize("num_players", GAME.table_sizes)
def test_trumps_ranked_by_number_alone(num_players: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(twin_rules, "rank", by_number_alone)
    check_that_lockstep_notices(num_players)


def every_die(twin: NokosuDice, seat: int) -> set[Item]:
    """Take the last die for a part of the hand."""
    return {("card", *card) for card in twin.hands[seat]} | {("die", *die) for die in twin.dice[seat]}


@pytest.mark.parametrize("num_players", GAME.table_sizes)
def test_a_last_die_that_may_be_played(num_players: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(NokosuDice, "playable", every_die)
    check_that_lockstep_notices(num_players)


@pytest.mark.parametrize("num_players", GAME.table_sizes)
def test_a_bonus_too_high(num_players: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(twin_rules.TABLE_BONUS, 1, 40)
    check_that_lockstep_notices(num_players)
