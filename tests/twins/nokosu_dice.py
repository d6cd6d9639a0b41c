"""Nokosu Dice, told slowly: a reference twin.

A second, independent reading of the rules to hold the fast core against. It uses nothing but lists, sets and
fractions, and leaves all chance to the caller. The one die that you keep says how many tricks you meant to win.
"""

from fractions import Fraction
from typing import Any, Protocol

COLORS = ("red", "yellow", "green", "blue", "purple")
CARDS_IN_PLAY = {  # by number of seats; three leave out one color, here the last, and all sevens
    4: {(color, number) for color in range(5) for number in range(8)},
    3: {(color, number) for color in range(4) for number in range(7)},
}
DICE_OF_A_COLOR = {4: [5, 5, 5, 5, 5], 3: [4, 4, 4, 4, 0]}  # by number of seats, then color
HAND_SIZE = {4: 10, 3: 9}
OWN_ROLL = {4: 2, 3: 1}  # dice that each seat rolls for itself
MIDDLE_ROLL = {4: 13, 3: 10}  # dice rolled to the middle: all but the last are drafted
TRICKS = {4: 14, 3: 12}
TABLE_BONUS = {0: 0, 1: 30, 2: 20, 3: 10, 4: 0}  # points for each seat that hit its target, by how many did
ZERO_BONUS = 10  # more points for a zero caller who won nothing

Face = tuple[int, int]  # (color index 0-4, number): a card has 0-7, a die 1-6
Item = tuple[str, int, int]  # ("card" or "die", color, number)
Move = Item | tuple[str]  # take, return or play an item, by phase; or ("no call",)


class Chance(Protocol):
    """Everything in the game that is drawn: the caller shuffles and rolls, the twin only plays."""

    def first_dealer(self) -> int:
        """The dealer of the first round."""
        ...

    def deal(self) -> tuple[list[set[Face]], list[list[Face]], list[Face]]:
        """For a new round: a hand of cards per seat, the dice each seat rolled for itself, the dice in the middle."""
        ...


def suit(item: Item, trump: Face) -> str:
    """Rule: what shares the color or the number of the trump die is of the suit trump and of no color any more."""
    _, color, number = item
    return "trump" if color == trump[0] or number == trump[1] else COLORS[color]


def rank(item: Item, trump: Face) -> tuple[int, int]:
    """How strong an item is among those of its suit; equal ranks are equally strong.

    Rule: the trump with both color and number is the strongest, then all trumps of that number, which are equal,
    then the trumps of that color by their numbers. In other suits the number decides.
    """
    _, color, number = item
    if number == trump[1]:
        return (3, 0) if color == trump[0] else (2, 0)
    return (1, number)


def strongest(table: list[tuple[int, Item]], trump: Face) -> list[tuple[int, Item]]:
    """Who lies ahead in these items (in the order played), all of them if several are equally strong.

    Rule: the strongest trump; if there is none, the highest number of the led color.
    """
    trumps = [laid for laid in table if suit(laid[1], trump) == "trump"]
    led = suit(table[0][1], trump)
    contenders = trumps or [laid for laid in table if suit(laid[1], trump) == led]
    best = max(rank(item, trump) for _, item in contenders)
    return [(seat, item) for seat, item in contenders if rank(item, trump) == best]


def trick_winner(table: list[tuple[int, Item]], trump: Face, tie: str) -> int:
    """Who wins: of equally strong items the one played last, or the first with that option."""
    equals = strongest(table, trump)
    return equals[-1 if tie == "last" else 0][0]


class NokosuDice:
    """One game: as many rounds as seats, each with a draft of dice, zero calls and tricks."""

    def __init__(
        self, num_players: int, chance: Chance, *, zero_call: str = "in_turn", tie: str = "last", bonus: str = "table"
    ) -> None:
        if num_players not in HAND_SIZE:
            raise ValueError(f"3 or 4 seats, not {num_players}")
        if zero_call not in ("in_turn", "secret"):
            raise ValueError(f"unknown zero_call {zero_call!r}")
        if tie not in ("last", "first"):
            raise ValueError(f"unknown tie {tie!r}")
        if bonus not in ("table", "per_miss"):
            raise ValueError(f"unknown bonus {bonus!r}")
        self.num_players, self.chance = num_players, chance
        self.zero_call, self.tie, self.bonus = zero_call, tie, bonus
        self.totals = [0] * num_players  # points of finished rounds
        self.over = False
        self.truncated = False  # never: the number of rounds is fixed
        self.log: list[tuple[Any, ...]] = []
        self.round = 0
        self._start_round(chance.first_dealer())

    # ---- what a player may do ----

    def legal(self) -> set[Move]:
        """Rule: draft any die in the middle; then call zero with any own die, or not; then follow suit if you can."""
        if self.to_move is None:
            return set()
        if self.phase == "draft":
            return {("die", *die) for die in self.pool}
        if self.phase == "call":
            return {("die", *die) for die in self.dice[self.to_move]} | {("no call",)}
        hand = self.playable(self.to_move)
        return set(self._followers(hand) or hand)

    def play(self, move: Move) -> None:
        """Make a move of the seat to move, and all that follows from it, up to the next decision."""
        if move not in self.legal():
            raise ValueError(f"illegal move {move!r}")
        seat = self.to_move
        assert seat is not None
        match move:
            case ("die", color, number) if self.phase == "draft":
                self._draft(seat, (color, number))
            case ("die", color, number) if self.phase == "call":
                self._commit(seat, (color, number))
            case ("no call",):
                self._commit(seat, None)
            case (kind, color, number):
                self._lay(seat, (kind, color, number))

    def playable(self, seat: int) -> set[Item]:
        """The seat's hand. Rule: whoever did not call zero keeps a die, so the last die is not part of the hand."""
        dice = self.dice[seat] if len(self.dice[seat]) > 1 or self.calls[seat] else []
        return {("card", *card) for card in self.hands[seat]} | {("die", *die) for die in dice}

    def win_shares(self) -> list[Fraction]:
        """Rule: most points wins; k seats with equally many get 1/k of the win each. Zeros before the end."""
        if not self.over:
            return [Fraction(0)] * self.num_players
        most = max(self.totals)
        share = Fraction(1, self.totals.count(most))
        return [share if total == most else Fraction(0) for total in self.totals]

    # ---- a round ----

    def _start_round(self, dealer: int) -> None:
        """Rule: shuffle and deal; everybody rolls dice for itself; more are rolled to the middle."""
        hands, own, pool = self.chance.deal()
        self._check_deal(hands, own, pool)
        self.round += 1
        self.dealer = dealer
        self.phase = "draft"
        self.hands = [set(hand) for hand in hands]
        self.dice = [list(dice) for dice in own]
        self.pool = list(pool)
        self.drafted: list[list[Face]] = [[] for _ in own]  # by seat, in order
        self.trump: Face | None = None  # known when one die is left in the middle
        self.commitments: dict[int, Face | None] = {}  # the die to return, None for no call; by seat, in order
        self.calls: list[Face | None] = [None] * self.num_players  # the die returned, as everybody knows it
        self.won = [0] * self.num_players  # tricks
        self.trick = 0  # tricks completed this round
        self.played: list[tuple[int, Item, int]] = []  # (seat, item, trick)
        self.voids: list[set[str]] = [set() for _ in hands]  # suits of which a seat has shown to hold no card
        self.table: list[tuple[int, Item]] = []
        self.leader = self._left_of(dealer)
        self.to_move: int | None = self.leader
        self.log.append(("dealt", self.round, dealer))

    def _check_deal(self, hands: list[set[Face]], own: list[list[Face]], pool: list[Face]) -> None:
        """Chance must respect what is in the box for this number of seats."""
        seats = self.num_players
        assert [len(hand) for hand in hands] == [HAND_SIZE[seats]] * seats
        assert len(set().union(*hands)) == sum(map(len, hands)), "a card dealt twice"
        assert set().union(*hands) <= CARDS_IN_PLAY[seats], "a card that is not in play"
        assert [len(dice) for dice in own] == [OWN_ROLL[seats]] * seats
        assert len(pool) == MIDDLE_ROLL[seats]
        rolled = [*pool, *(die for dice in own for die in dice)]
        assert all(1 <= number <= 6 for _, number in rolled)
        counts = [[color for color, _ in rolled].count(color) for color in range(len(COLORS))]
        most = DICE_OF_A_COLOR[seats]
        assert all(count <= limit for count, limit in zip(counts, most, strict=True)), "more dice than the bag has"

    def _draft(self, seat: int, die: Face) -> None:
        """Rule: one die each, clockwise from the dealer's left, until one is left. That one is the trump."""
        self.pool.remove(die)
        self.dice[seat].append(die)
        self.drafted[seat].append(die)
        self.to_move = self._left_of(seat)
        if len(self.pool) == 1:
            self.trump = self.pool[0]
            self.phase = "call"
            self.log.append(("trump", *self.trump))

    def _commit(self, seat: int, die: Face | None) -> None:
        """Rule: each seat once, in turn from the dealer's left, may call zero, which returns one of its dice.

        In turn a call takes effect at once. With secret calls all of them do when the last seat has decided.
        """
        self.commitments[seat] = die
        everybody = len(self.commitments) == self.num_players
        self.to_move = self._left_of(seat)
        if self.zero_call == "in_turn":
            self._reveal(seat)
        elif everybody:
            for committed in self.commitments:
                self._reveal(committed)
        if everybody:
            self.phase = "play"

    def _reveal(self, seat: int) -> None:
        die = self.commitments[seat]
        if die is not None:
            self.calls[seat] = die
            self.dice[seat].remove(die)
            self.log.append(("zero_call", seat, *die))

    # ---- a trick ----

    def _lay(self, seat: int, item: Item) -> None:
        """An item goes on the table. Not following tells everybody that you have no card of the suit that was led."""
        hand = self.playable(seat)
        followers = self._followers(hand)
        self._note_rarities(seat, item, hand, followers)
        if self.table and not followers:
            self.voids[seat].add(self._led())
        kind, *face = item
        if kind == "card":
            self.hands[seat].remove((face[0], face[1]))
        else:
            self.dice[seat].remove((face[0], face[1]))
        self.table.append((seat, item))
        self.played.append((seat, item, self.trick))
        self.to_move = self._left_of(seat)
        if len(self.table) == self.num_players:
            self._win_trick()

    def _note_rarities(self, seat: int, item: Item, hand: set[Item], followers: set[Item]) -> None:
        """Log what a rules lawyer would ask about; nothing here changes the game."""
        dice = {("die", *die) for die in self.dice[seat]}
        if self.table and not followers:
            if self._followers(dice):
                self.log.append(("last_die_need_not_follow", seat, *dice))
            if any(COLORS[color] == self._led() for _, color, _ in hand):
                self.log.append(("its_only_ones_are_trumps", seat))
        if followers == {item} and item in dice and len(hand) > 1:
            self.log.append(("forced_to_play_a_die", seat, item))
        if item in dice and len(self.dice[seat]) == 1:
            self.log.append(("last_die_of_a_zero_caller", seat, item))
        if len(self.dice[seat]) == 2 and not self.hands[seat] and not self.calls[seat]:
            self.log.append(("chooses_the_bid_in_the_last_trick", seat))

    def _win_trick(self) -> None:
        """Rule: the winner leads the next trick. The round is over after the last one."""
        trump = self._trump()
        equals = strongest(self.table, trump)
        winner = trick_winner(self.table, trump, self.tie)
        item = next(item for seat, item in self.table if seat == winner)
        if suit(item, trump) == "trump":
            how = {3: "won_with_color_and_number", 2: "won_with_number_trump", 1: "won_with_color_trump"}
            self.log.append((how[rank(item, trump)[0]], winner, item))
        else:
            self.log.append(("won_with_led_color", winner, item))
        if len(equals) > 1:
            self.log.append(("tie_of_trumps" if suit(item, trump) == "trump" else "tie_of_led_color", len(equals)))
        self.won[winner] += 1
        self.trick += 1
        self.table = []
        self.leader = self.to_move = winner
        if self.trick == TRICKS[self.num_players]:
            self._end_round()

    def _end_round(self) -> None:
        """Rule: a point for each trick, and a bonus for a hit: as many tricks as the kept die says, or none called.

        The fewer seats hit, the higher the bonus; a zero caller who hits gets ten more. The next dealer is the seat to
        the left, and the game is over when everybody has dealt.
        """
        assert not any(self.hands)
        assert [len(dice) for dice in self.dice] == [0 if call else 1 for call in self.calls]
        targets = [0 if call else dice[0][1] for call, dice in zip(self.calls, self.dice, strict=True)]
        hits = [target == won for target, won in zip(targets, self.won, strict=True)]
        bonus = TABLE_BONUS[sum(hits)] if self.bonus == "table" else 10 * hits.count(False)
        points = list(self.won)
        for seat in range(self.num_players):
            if hits[seat]:
                points[seat] += bonus + (ZERO_BONUS if self.calls[seat] else 0)
            if self.calls[seat]:
                self.log.append(("zero_made" if hits[seat] else "zero_failed", seat))
            self.totals[seat] += points[seat]
        self.log.append((f"hits_{sum(hits)}",))
        self.log.append(("round_over", self.round, targets, list(self.won), points))
        self.over = self.round == self.num_players
        if self.over:
            self.to_move = None
        else:
            self._start_round(self._left_of(self.dealer))

    # ---- small words ----

    def _trump(self) -> Face:
        assert self.trump is not None, "the trump is not known yet"
        return self.trump

    def _led(self) -> str:
        return suit(self.table[0][1], self._trump())

    def _followers(self, items: set[Item]) -> set[Item]:
        """Those of the items that are of the suit led; none if nothing lies on the table."""
        if not self.table:
            return set()
        trump, led = self._trump(), self._led()
        return {item for item in items if suit(item, trump) == led}

    def _left_of(self, seat: int) -> int:
        return (seat + 1) % self.num_players
