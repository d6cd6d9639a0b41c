"""Tournaments: who meets whom, on which deals, what is told of it, what survives a kill, and what is refused."""

from __future__ import annotations

import itertools
import json
import signal
import subprocess
import sys
import time
from collections import Counter

import matplotlib.image
import numpy as np
import pytest

from ice_envs import agents, find_game
from ice_envs.agents.manifest import check
from ice_envs.engine import loops
from ice_envs.engine.generator import game_seeds
from tests import portable_agents
from tests.face_helpers import SHORT, Lowest, games, tables
from tests.helpers import apply_games, results
from training import command_line, lineups, standings, tournament
from training.standings import Standings
from training.tournament import TournamentSettings

GAME = find_game("dokitto")
ONE_ROUND = ["--options.target_score", "1"]


class Highest(Lowest):
    """Plays the legal action with the highest index."""

    name = "highest"

    def choose(self, states):
        mask = np.zeros((len(states), self.num_actions), np.int8)
        loops.legal_games(states, mask)
        return self.num_actions - 1 - mask[:, ::-1].argmax(1)


def run(capsys, *words):
    with pytest.raises(SystemExit) as stop:
        command_line.run(tournament.main, TournamentSettings, "training.tournament", arguments=words)
    out, err = capsys.readouterr()
    return stop.value.code, out, err


def result(path):
    """Return the results in a file without what tells of the moment."""
    found = json.loads(path.read_text())
    check(found, Standings)
    return {key: value for key, value in found.items() if key not in ("date", "versions", "command", "cpu")}


# ---- who meets whom ----


@pytest.mark.parametrize(("count", "num_players"), [*itertools.product((2, 3, 4, 6, 9), (2, 3, 4, 5))])
def test_every_agent_and_every_pair_is_at_as_many_tables_as_any_other(count, num_players):
    names = [f"agent{i}" for i in range(count)]
    found = lineups.lineups(names, num_players)
    assert len(set(found)) == len(found)
    assert {len(lineup) for lineup in found} == {num_players}
    seats, meetings = Counter(), Counter()
    for lineup in found:
        seats.update(lineup)
        meetings.update(frozenset(pair) for pair in itertools.product(lineup, lineup) if pair[0] != pair[1])
    assert len(set(seats.values())) == len(set(meetings.values())) == 1
    assert (len(seats), len(meetings)) == (count, count * (count - 1) // 2)


def test_the_compositions_of_three_agents():
    assert lineups.lineups("ba", 2) == [("a", "b")]
    assert lineups.lineups("abc", 3) == lineups.lineups("cab", 3) == [
        tuple(words) for words in ("aab", "aac", "abb", "abc", "acc", "bbc", "bcc")
    ]  # fmt: skip
    assert [lineup for lineup in lineups.lineups("abc", 4) if len(set(lineup)) == 3] == [
        tuple(words) for words in ("aabc", "abbc", "abcc")
    ]
    assert len(lineups.lineups("abc", 4, duels_only=True)) == 6
    assert len(lineups.lineups("abcdefghij", 5)) == 90  # 252 mixed tables would be too many


# ---- how they are played ----


@tables
def test_a_lineup_agrees_with_games_played_one_by_one(name, num_players):
    game, deals = find_game(name), 3
    players = {"high": Highest(game.num_actions), "low": Lowest(game.num_actions)}
    lineup = ("high", *["low"] * (num_players - 1))
    states = loops.new_states(game, [num_players] * deals, SHORT[name], game_seeds(4, deals))
    found = lineups.play_chunk(lineup, players, game, states, seed=1, first=0)
    for deal, seat in itertools.product(range(deals), range(num_players)):
        state = states[deal : deal + 1].copy()
        while not state[0].over:
            apply_games(state, players["high" if state[0].to_move == seat else "low"].choose(state))
        shares = results(state)[1][0, :num_players]
        assert found.shares[deal, 0, seat] == pytest.approx(shares[seat])
    assert found.shares.sum(axis=(1, 2)) == pytest.approx(num_players)


def test_each_deal_is_played_with_each_agent_in_each_seat_and_neighbors_are_drawn():
    asked = []

    class Watching(Highest):
        def choose(self, states):
            asked.append(Counter(zip(states["rng"].tolist(), states["to_move"].tolist(), strict=True)))
            return super().choose(states)

    players = {name: Watching(GAME.num_actions) for name in "ab"} | {name: Lowest(GAME.num_actions) for name in "cd"}
    states = loops.new_states(GAME, [4] * 60, {}, game_seeds(0, 60))
    found, again, other = (
        lineups.play_chunk(tuple("abcd"), players, GAME, states, seed=seed, first=0).shares for seed in (0, 0, 1)
    )
    first_moves = asked[:2]  # a's and b's: each of them once on each deal, where all have the same seat to move
    assert [len(moves) for moves in first_moves] == [60, 60]
    assert all(set(moves.values()) == {1} for moves in first_moves)
    assert found.tobytes() == again.tobytes() != other.tobytes()


def test_all_lineups_of_a_table_size_play_the_same_deals(capsys, tmp_path, monkeypatch):
    seen = {}

    def watch(lineup, players, game, deals, seed, first):
        seen.setdefault(len(lineup), set()).add(deals.tobytes())
        return lineups.play_chunk(lineup, players, game, deals, seed, first)

    monkeypatch.setattr(tournament, "play_chunk", watch)
    words = ["--agents", "random", "greedy", "--num_players", "2", "3", "--games", "12", *ONE_ROUND]
    assert run(capsys, *words)[0] == 0
    assert {size: len(deals) for size, deals in seen.items()} == {2: 1, 3: 1}


@games
def test_the_order_of_the_agents_in_the_call_changes_nothing(capsys, tmp_path, monkeypatch, name):
    monkeypatch.setattr(tournament, "CHUNK", 5)
    monkeypatch.setattr("training.ratings.DRAWS", 20)
    size = find_game(name).table_sizes[-1]
    options = [word for key, value in SHORT[name].items() for word in (f"--options.{key}", str(value))]
    found = []
    for order in (["random", "greedy", "other=random"], ["other=random", "random", "greedy"]):
        file = tmp_path / f"{order[0]}.json"
        words = ["--env", name, "--agents", *order, "--num_players", str(size), "--games", str(6 * size)]
        assert run(capsys, *words, *options, "--json", str(file))[0] == 0
        found.append(result(file))
    assert found[0] == found[1]


def test_the_order_of_agents_that_search_changes_nothing_either(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(tournament, "CHUNK", 5)
    monkeypatch.setattr("training.ratings.DRAWS", 20)
    found = []
    for order in (["search:5", "random", "other=search:5"], ["other=search:5", "search:5", "random"]):
        file = tmp_path / f"{len(found)}.json"
        words = ["--agents", *order, "--num_players", "3", "--games", "21", *ONE_ROUND, "--json", str(file)]
        assert run(capsys, *words)[0] == 0
        found.append(result(file))
    assert found[0] == found[1]
    assert len({share for table in found[0]["tables"] for share in table["win_shares"]}) > 2


def test_a_lineup_plays_alike_in_a_larger_tournament(capsys, tmp_path):
    tables = []
    for names in (["random", "greedy"], ["random", "greedy", "other=greedy"]):
        file = tmp_path / f"{len(names)}.json"
        words = ["--agents", *names, "--num_players", "3", "--games", "30", *ONE_ROUND, "--json", str(file)]
        assert run(capsys, *words)[0] == 0
        tables.append({tuple(table["agents"]): table["win_shares"] for table in result(file)["tables"]})
    assert tables[0].items() < tables[1].items()


# ---- what is told ----


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A tournament with an agent from a file: its folder and what the command said."""
    place = tmp_path_factory.mktemp("tournament")
    file = portable_agents.export(place, GAME)
    words = ["--agents", "random", "greedy", str(file), "--num_players", "2", "4", "--games", "160", "--seed", "7"]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "training.tournament", *words, "--out", str(place / "out")],
        capture_output=True,
        text=True,
        check=True,
    )
    return place / "out", done


def test_the_results_hold_ratings_duels_seats_and_tables(played):
    found = result(played[0] / "results.json")
    assert [entrant["name"] for entrant in found["agents"]] == ["greedy", "random", "tiny"]
    assert [entrant["digest"] != "" for entrant in found["agents"]] == [False, False, True]
    for size in (2, 4):
        ratings = standings.ranked(found, size)
        assert {row["agent"] for row in ratings} == {"greedy", "random", "tiny"}
        assert ratings[0]["agent"] == "greedy"
        assert ratings[0]["interval"][0] > ratings[1]["interval"][1]
        duel = standings.duel(found, size, "greedy", "random")
        assert (duel["games"], duel["deals"], duel["fair_share"]) == (160, 160 // size, 1 / size)
        assert duel["interval"][0] > duel["fair_share"]
        table = next(row for row in found["tables"] if row["agents"] == ["greedy", *["random"] * (size - 1)])
        assert table["win_shares"][0] == pytest.approx(duel["win_share"])
    one, other = (standings.duel(found, 2, *pair)["win_share"] for pair in (("tiny", "random"), ("random", "tiny")))
    assert one + other == pytest.approx(1)
    assert len(found["tables"]) == 3 + 6 + 3
    assert all(sum(table["win_shares"]) == pytest.approx(1) for table in found["tables"])
    at_four = [row["win_shares"] for row in found["by_seat"] if row["num_players"] == 4]
    assert np.shape(at_four) == (3, 4)
    assert found["lost_by_default"] == []


def test_the_tables_explain_themselves_in_eighty_columns(played):
    found = json.loads((played[0] / "results.json").read_text())
    out = played[1].stdout
    assert max(map(len, out.splitlines())) <= 80
    assert "…" not in out.replace(" … ", "")
    for row in found["ratings"]:
        assert f"{row['rating']:+.0f}" in out
    for row in found["duels"]:
        assert f"{row['win_share']:.3f}{standings.verdict(row).strip()}" in out
    assert "a victory shared by k seats counts 1/k" in " ".join(out.split())
    assert "3 agents play Dokitto! Ice: 12 table compositions, 160 games of each." in played[1].stderr


def test_the_picture_is_one(played):
    picture = matplotlib.image.imread(played[0] / "results.png")
    assert picture.shape[1] > 1000
    assert picture.std() > 0.1


@pytest.mark.parametrize(
    ("low", "high", "sign"), [(0.34, 0.4, "+"), (0.3, 0.33, "-"), (0.3, 0.34, " "), (1 / 3 - 1e-16, 1 / 3, " ")]
)
def test_a_sign_says_on_which_side_of_the_fair_share_the_interval_lies(low, high, sign):
    assert standings.verdict({"interval": [low, high], "fair_share": 1 / 3}) == sign


# ---- agents that fail ----


class Failing(Highest):
    """Does something wrong in some of the games, which ones depends on the cards alone."""

    def __init__(self, game, how):
        super().__init__(game.num_actions)
        self.name, self.how = "failing", how

    def choose(self, states):
        actions = super().choose(states)
        wrong = (states["rng"] % 3 == 0) & (states["decisions"] > 2)
        if wrong.any():
            if self.how == "crash":
                raise ZeroDivisionError("of all things")
            if self.how == "shape":
                return actions[:-1]
            actions[wrong] = self.num_actions
        return actions


SAYS = {"crash": "ZeroDivisionError: of all things", "shape": "must return 1 whole numbers", "illegal": "action 70"}


@pytest.mark.parametrize("how", SAYS)
def test_who_crashes_or_plays_illegally_loses_that_game_alone(how):
    players = {"failing": Failing(GAME, how), "low": Lowest(GAME.num_actions), "high": Highest(GAME.num_actions)}
    sound = {**players, "failing": players["high"]}
    lineup = ("failing", "failing", "high", "low")
    states = loops.new_states(GAME, [4] * 40, {}, game_seeds(0, 40))
    found, fair = (lineups.play_chunk(lineup, who, GAME, states, seed=0, first=0) for who in (players, sound))
    lost = found.forfeits.sum(axis=1)
    assert 0 < lost.sum() < 160
    assert found.forfeits[:, 2:].sum() == 0
    assert found.failures.keys() == {"failing"}
    assert SAYS[how] in found.failures["failing"]
    assert found.shares.sum(axis=(1, 2)) == pytest.approx(4)  # the others share what it loses
    assert (found.shares[lost == 0] == fair.shares[lost == 0]).all()
    assert found.shares[lost == 4, :2].sum() == 0
    assert found.shares[lost == 4, 2:] == pytest.approx(0.5)


def test_who_lost_by_default_is_named(capsys, tmp_path, monkeypatch):
    load = agents.load
    monkeypatch.setattr(agents, "load", lambda spec, game: Failing(game, "crash") if spec == "f" else load(spec, game))
    file = tmp_path / "rows.json"
    words = ["--agents", "random", "f", "--num_players", "2", "--games", "80", "--json", str(file)]
    code, out, _ = run(capsys, *words)
    (row,) = result(file)["lost_by_default"]
    assert (code, row["agent"], row["first"]) == (0, "failing", "ZeroDivisionError: of all things")
    assert f"failing lost {row['games']} games by default; the first error: ZeroDivisionError" in " ".join(out.split())


# ---- killed and resumed ----

LONG = ["--agents", "random", "greedy", "other=random", "--num_players", "3", "--games", "1200", "--seed", "2"]


def test_a_killed_tournament_goes_on_without_replaying(capsys, tmp_path, monkeypatch):
    straight, killed = tmp_path / "straight", tmp_path / "killed"
    assert run(capsys, *LONG, "--out", str(straight))[0] == 0
    running = subprocess.Popen([sys.executable, "-m", "training.tournament", *LONG, "--out", str(killed)])
    while not list((killed / "tables").glob("3*.npz")):
        assert running.poll() is None
        time.sleep(0.01)
    running.send_signal(signal.SIGKILL)
    running.wait()
    assert not (killed / "results.json").exists()
    saved = [file for file in (killed / "tables").iterdir() if not file.name.startswith(".partial")]
    before = {tuple(np.load(file)["lineup"]): len(np.load(file)["shares"]) for file in saved}
    replayed = []

    def watch(lineup, players, game, deals, seed, first):
        replayed.append((lineup, first))
        return lineups.play_chunk(lineup, players, game, deals, seed, first)

    monkeypatch.setattr(tournament, "play_chunk", watch)
    assert run(capsys, *LONG, "--out", str(killed))[0] == 0
    assert result(killed / "results.json") == result(straight / "results.json")
    assert before
    assert all(first >= before.get(lineup, 0) for lineup, first in replayed)
    replayed.clear()
    assert run(capsys, *LONG, "--out", str(killed))[0] == 0
    assert replayed == []


def test_ctrl_c_keeps_what_is_played(capsys, tmp_path, monkeypatch):
    def stop(lineup, players, game, deals, seed, first):
        if first:
            raise KeyboardInterrupt
        return lineups.play_chunk(lineup, players, game, deals, seed, first)

    monkeypatch.setattr(tournament, "play_chunk", stop)
    code, out, err = run(capsys, *LONG, "--out", str(tmp_path / "out"))
    assert (code, out) == (130, "")
    assert "Stopped: the same command goes on." in err
    (file,) = (tmp_path / "out" / "tables").iterdir()
    assert len(np.load(file)["shares"]) == lineups.CHUNK
    code, _, err = run(capsys, *LONG)
    assert (code, "Stopped: nothing is kept without --out." in err) == (130, True)


# ---- what is refused ----

SMALL = ["--agents", "random", "greedy", "--num_players", "2", "--games", "8", *ONE_ROUND]


def test_another_tournament_is_not_mixed_in(capsys, tmp_path):
    out = ["--out", str(tmp_path / "out")]
    assert run(capsys, *SMALL, *out)[0] == 0
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    for words, sentence in [
        (["--games", "12"], "whose games is 8, not 12: choose another --out"),
        (["--seed", "1"], "whose seed is 0, not 1"),
        (["--agents", "random", "new=greedy"], "whose agents is"),
        (["--options.target_score", "2"], "whose options is"),
        (["--compositions", "duels"], "whose compositions is all, not duels"),
    ]:
        code, _, err = run(capsys, *SMALL, *words, *out)
        assert (code, err.count("\n")) == (2, 1)
        assert sentence in err
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
    assert run(capsys, *SMALL, "--agents", "greedy", "random", *out)[0] == 0


def test_an_agent_whose_file_has_changed_makes_another_tournament(capsys, tmp_path):
    file = portable_agents.export(tmp_path, GAME)
    words = [*SMALL, "--agents", "random", str(file), "--out", str(tmp_path / "out")]
    assert run(capsys, *words)[0] == 0
    portable_agents.export(tmp_path, GAME, description="another one")
    assert "holds another tournament, whose agents is" in run(capsys, *words)[2]


def test_other_code_makes_another_tournament(capsys, tmp_path, monkeypatch):
    """A search or a baseline has no file that could tell that it has changed."""
    words = [*SMALL, "--out", str(tmp_path / "out")]
    assert run(capsys, *words)[0] == 0
    kept = json.loads((tmp_path / "out" / "tournament.json").read_text())
    monkeypatch.setattr(tournament, "source_digest", lambda: "0123456789abcdef")
    code, out, err = run(capsys, *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"whose code is {kept['code']}, not 0123456789abcdef: choose another --out" in err
    monkeypatch.undo()
    assert run(capsys, *words)[0] == 0


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut off"])
def test_a_damaged_file_is_named(capsys, tmp_path, content):
    out = tmp_path / "out"
    assert run(capsys, *SMALL, "--out", str(out))[0] == 0
    (file,) = (out / "tables").iterdir()
    file.write_bytes(content)
    code, _, err = run(capsys, *SMALL, "--out", str(out))
    assert (code, err.splitlines()[-1]) == (2, f"{file} is damaged: delete it, and its games are played again")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--agents", "random"], "a tournament needs two or more agents, not 1"),
        (["--agents", "random", "random"], "two agents are called 'random': give one another name, as in other=random"),
        (["--agents", "a=random", "a=greedy"], "two agents are called 'a': give one another name"),
        (["--agents", "random", "gredy"], "unknown agent 'gredy' (did you mean 'greedy'?)"),
        (["--agents", "random", "best=gredy"], "unknown agent 'gredy' (did you mean 'greedy'?)"),
        (["--agents", "random", "FOREIGN"], "plays kawaii, not dokitto"),
        (["--agents", "random", "ONLY_TWO"], "agent 'tiny' plays with [2] seats, not with 3"),
        (["--games", "7"], "7 games are not two or more whole deals in every seat at 2, 3 seats: take 6"),
        (["--games", "0"], "games must be from 1"),
        (["--num_players", "9"], "dokitto is played by 2 to 5 seats, not 9"),
        (["--num_players=[]"], "name at least one table size"),
        (["--seed", "-1"], "seed must be from 0"),
        (["--env", "dokito"], "unknown game 'dokito' (did you mean 'dokitto'?)"),
        (["--options.target_scor", "5"], "no option 'target_scor' (did you mean 'target_score'?)"),
        (["--compositions", "duel"], "compositions must be one of all, duels, not 'duel' (did you mean 'duels'?)"),
        (["--json", "nowhere/rows.json"], "cannot write nowhere/rows.json: there is no folder"),
        (["--out", "FILE"], "cannot make the folder"),
    ],
)
def test_bad_input_is_answered_with_one_sentence(capsys, tmp_path, words, sentence):
    for name in ("foreign", "two"):
        (tmp_path / name).mkdir()
    (tmp_path / "file").touch()
    places = {
        "FOREIGN": lambda: portable_agents.export(tmp_path / "foreign", find_game("kawaii")),
        "ONLY_TWO": lambda: portable_agents.export(tmp_path / "two", GAME, seats=[2]),
        "FILE": lambda: tmp_path / "file",
    }
    words = [str(places[word]()) if word in places else word for word in words]
    base = ["--agents", "random", "greedy", "--num_players", "2", "3", "--games", "12", "--out", str(tmp_path / "out")]
    code, out, err = run(capsys, *base, *words)
    assert (code, out, (tmp_path / "out").exists()) == (2, "", False)
    assert sentence in err
    assert err.count("\n") == 1


def test_an_agent_is_named_by_what_stands_before_the_first_equals_sign(tmp_path):
    assert tournament.split_name("best=search:100") == ("best", "search:100")
    assert tournament.split_name("greedy") == ("", "greedy")
    assert tournament.split_name("runs/lr=0.1/agent.json") == ("", "runs/lr=0.1/agent.json")
    assert tournament.split_name("=greedy") == ("", "=greedy")
    assert tournament.split_name(f"a={'x' * 300}") == ("a", "x" * 300)  # too long for the name of a file
