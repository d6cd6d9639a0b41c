"""Dokitto! Ice, told slowly: a reference twin.

A second, independent reading of the rules to hold the fast core against. It uses nothing but lists, sets and
fractions, and leaves all chance to the caller. Everybody wants ice tiles, nobody wants a fourth one.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Protocol

FLAVORS = ("strawberry", "chocolate", "matcha", "grape", "vanilla")
FLAVORS_IN_PLAY = {2: 3, 3: 3, 4: 4, 5: 5}  # by number of seats: the first so many of FLAVORS
HAND_SIZE = {2: 6, 3: 8, 4: 10, 5: 13}  # by number of seats; the other cards stay unseen this round
HIGHEST_NUMBER = 13
TILES_PER_FLAVOR = 3
FULL_CONE = 3  # being due one tile more is a bust

Card = tuple[int, int]  # (flavor index 0-4, number 1-13)
Move = tuple[str, int] | tuple[str, int, int]  # ("play", flavor, number) or ("take", flavor)


class Chance(Protocol):
    """Everything in the game that is drawn: the caller shuffles, the twin only plays."""

    def first_leader(self) -> int:
        """The seat that leads the very first trick of the game."""
        ...

    def deal(self) -> tuple[list[set[Card]], list[list[bool]]]:
        """A hand per seat; per flavor in play, does its first, second, third tile carry a star?"""
        ...

    def random_leader(self) -> int:
        """The first leader of a later round; asked for only with next_leader="random"."""
        ...


def trick_winner(table: list[tuple[int, Card]]) -> tuple[int, Card]:
    """Who wins these cards (in the order played), and with which one.

    Rule: one flavor only - the highest number wins. Several flavors - the lowest number wins, of whatever
    flavor; of equal lowest numbers the one played last.
    """
    if len({flavor for _, (flavor, _) in table}) == 1:
        return max(table, key=lambda laid: laid[1][1])
    lowest = min(number for _, (_, number) in table)
    return [(seat, card) for seat, card in table if card[1] == lowest][-1]


class Dokitto:
    """One game, from the first deal until somebody has enough points."""

    def __init__(
        self,
        num_players: int,
        chance: Chance,
        *,
        stars_per_flavor: int = 1,
        next_leader: str = "last_winner",
        low_win_tile: str = "choice",
        target_score: int = 10,
        max_rounds: int = 50,
    ) -> None:
        if num_players not in HAND_SIZE:
            raise ValueError(f"2 to 5 seats, not {num_players}")
        if stars_per_flavor not in range(TILES_PER_FLAVOR + 1):
            raise ValueError(f"0 to 3 stars a flavor, not {stars_per_flavor}")
        if next_leader not in ("last_winner", "rotate", "lowest", "random"):
            raise ValueError(f"unknown next_leader {next_leader!r}")
        if low_win_tile not in ("choice", "winning_card"):
            raise ValueError(f"unknown low_win_tile {low_win_tile!r}")
        if target_score < 1 or max_rounds < 1:
            raise ValueError("target_score and max_rounds are at least 1")
        self.num_players, self.chance = num_players, chance
        self.stars_per_flavor = stars_per_flavor
        self.next_leader, self.low_win_tile = next_leader, low_win_tile
        self.target_score, self.max_rounds = target_score, max_rounds
        self.flavors = set(range(FLAVORS_IN_PLAY[num_players]))  # in play, the same all game
        self.totals = [0] * num_players  # points of finished rounds
        self.over = False
        self.truncated = False
        self.log: list[tuple[str | int, ...]] = []
        self.round = 0
        self._start_round(chance.first_leader())

    # ---- what a player may do ----

    def legal(self) -> set[Move]:
        """Rule: choose a tile if one is due to you; else follow the led flavor if you can, else anything."""
        if self.to_move is None:
            return set()
        if self.tile_choices:
            return {("take", flavor) for flavor in self.tile_choices}
        hand = self.hands[self.to_move]
        followers = {card for card in hand if self.table and card[0] == self.table[0][1][0]}
        return {("play", flavor, number) for flavor, number in followers or hand}

    def play(self, move: Move) -> None:
        """Make a move of the seat to move, and all that follows from it, up to the next decision."""
        if move not in self.legal():
            raise ValueError(f"illegal move {move!r}")
        seat = self.to_move
        assert seat is not None
        match move:
            case ("take", flavor):
                self._take_tile(seat, flavor)
            case (_, flavor, number):
                self._lay_card(seat, (flavor, number))

    def win_shares(self) -> list[Fraction]:
        """Rule: most points wins; k seats with equally many get 1/k of the win each. Zeros before the end."""
        if not self.over:
            return [Fraction(0)] * self.num_players
        most = max(self.totals)
        share = Fraction(1, self.totals.count(most))
        return [share if total == most else Fraction(0) for total in self.totals]

    # ---- a round ----

    def _start_round(self, first_leader: int) -> None:
        """Rule: before each round all cards, tiles and toppings go back, are shuffled and dealt again."""
        hands, stars = self.chance.deal()
        assert [len(hand) for hand in hands] == [HAND_SIZE[self.num_players]] * self.num_players
        assert len(set().union(*hands)) == sum(map(len, hands)), "a card dealt twice"
        assert all(f in self.flavors and 1 <= n <= HIGHEST_NUMBER for hand in hands for f, n in hand)
        assert len(stars) == len(self.flavors)
        assert all(len(s) == TILES_PER_FLAVOR and sum(s) == self.stars_per_flavor for s in stars)
        self.round += 1
        self.trick = 0  # tricks completed this round
        self.first_leader = first_leader
        self.hands: list[set[Card]] = [set(hand) for hand in hands]
        self.played: list[tuple[int, Card, int]] = []  # (seat, card, trick), this round
        self.voids: list[set[int]] = [set() for _ in hands]  # flavors a seat has shown not to hold
        self.tiles = [TILES_PER_FLAVOR] * len(stars)  # left, per flavor in play
        self.toppings = set(self.flavors)  # still on the side
        self.cones: list[list[int]] = [[] for _ in hands]
        self.cone_toppings: list[set[int]] = [set() for _ in hands]
        self._stars = stars
        self._start_trick(first_leader)

    def _start_trick(self, leader: int) -> None:
        self.leader = leader
        self.to_move: int | None = leader
        self.table: list[tuple[int, Card]] = []  # in the order played
        self.tile_choices: set[int] = set()  # what the winner of a low trick may choose among

    def _end_round(self, last_winner: int, buster: int | None) -> None:
        """Rule: each tile and each topping on a cone is a point, but whoever busts scores nothing this round.

        The game ends, at the end of a round only, once anybody has enough points. Rounds without end are cut.
        """
        for seat in self._clockwise_from(0):
            if seat != buster:
                self.totals[seat] += len(self.cones[seat]) + len(self.cone_toppings[seat])
        self.log.append(("round_over", self.round, self.trick))
        target_reached = max(self.totals) >= self.target_score
        self.truncated = not target_reached and self.round >= self.max_rounds
        self.over = target_reached or self.truncated
        if self.over:
            self.to_move = None
        else:
            self._start_round(self._next_first_leader(last_winner))

    def _next_first_leader(self, last_winner: int) -> int:
        """Rule: the last trick's winner leads the next round, buster included; the rest are options."""
        if self.next_leader == "last_winner":
            return last_winner
        if self.next_leader == "random":
            return self.chance.random_leader()
        clockwise = list(self._clockwise_from(self.first_leader + 1))  # the old first leader comes last
        if self.next_leader == "rotate":
            return clockwise[0]
        return min(clockwise, key=lambda seat: self.totals[seat])  # "lowest": the first of equals

    # ---- a trick ----

    def _lay_card(self, seat: int, card: Card) -> None:
        """A card goes on the table. Not following the led flavor tells everybody that you have none of it."""
        self.hands[seat].remove(card)
        self.table.append((seat, card))
        self.played.append((seat, card, self.trick))
        led_flavor = self.table[0][1][0]
        if card[0] != led_flavor:
            self.voids[seat].add(led_flavor)
        if len(self.table) < self.num_players:
            self.to_move = (seat + 1) % self.num_players
        else:
            self._win_trick()

    def _win_trick(self) -> None:
        """Rule: the winner must take exactly one tile. Were it the fourth, the round is over at once."""
        winner, (flavor, number) = trick_winner(self.table)
        high = len(self._flavors_on_table()) == 1
        self.log.append(("high_win" if high else "low_win", winner, flavor, number))
        if not high and [n for _, (_, n) in self.table].count(number) > 1:
            self.log.append(("last_of_equal_lowest",))
        if len(self.cones[winner]) == FULL_CONE:
            self.trick += 1
            self.log.append(("bust", winner))
            self._end_round(winner, buster=winner)
            return
        if high and not self.tiles[flavor]:
            self.log.append(("sold_out_high",))
        candidates = self._tile_candidates(flavor)
        if len(candidates) == 1:
            self._take_tile(winner, candidates.pop())
        else:
            self.tile_choices = candidates
            self.to_move = winner

    def _tile_candidates(self, winning_flavor: int) -> set[int]:
        """Rule: a tile of a flavor in the trick (high win: just one flavor); if none is left, any tile.

        Option "winning_card": before all others the flavor of the winning card, as long as it has a tile.
        """
        wishes = [self._flavors_on_table(), self.flavors]
        if self.low_win_tile == "winning_card":
            wishes.insert(0, {winning_flavor})
        assert any(self.tiles), "a tile is due but the whole stock is empty"
        available = [{flavor for flavor in wish if self.tiles[flavor]} for wish in wishes]
        return next(flavors for flavors in available if flavors)

    def _take_tile(self, seat: int, flavor: int) -> None:
        """Rule: the top tile of the stack; a star on it brings the flavor's topping, if that is still there.

        The winner leads the next trick. The round is over when the hands are empty.
        """
        starred = self._stars[flavor][TILES_PER_FLAVOR - self.tiles[flavor]]
        self.tiles[flavor] -= 1
        self.cones[seat].append(flavor)
        self.log.append(("tile", seat, flavor))
        if starred and flavor in self.toppings:
            self.toppings.remove(flavor)
            self.cone_toppings[seat].add(flavor)
            self.log.append(("topping", seat, flavor))
        self.tile_choices = set()
        self.trick += 1
        if any(self.hands):
            self._start_trick(seat)
        else:
            self._end_round(seat, buster=None)

    # ---- small words ----

    def _flavors_on_table(self) -> set[int]:
        return {flavor for _, (flavor, _) in self.table}

    def _clockwise_from(self, seat: int) -> Iterator[int]:
        return ((seat + step) % self.num_players for step in range(self.num_players))
