"""The training command: what a run leaves, that it repeats itself, survives being killed, and refuses bad input."""

from __future__ import annotations

import dataclasses
import json
import random
import re
import shlex
import signal
import time

import matplotlib.image
import numpy as np
import pytest
import torch
import yaml
from rich.console import Console
from sb3_contrib import MaskablePPO
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from ice_envs import agents, files, find_game
from ice_envs.agents.manifest import EvaluationRow, check, read_manifest
from ice_envs.faces.sb3 import SB3VecEnv
from tests.training_runs import (
    ALWAYS,
    AT_FOUR,
    EVALUATED,
    SMALL,
    begun,
    changed,
    command,
    parameters,
    process,
    trained,
    wait_until,
)
from training import command_line, train
from training.evaluate import EvaluationSettings, evaluate
from training.network import ActorCritic, NetworkAgent
from training.run import TrainSettings
from training.run_folder import CONTENTS

GAME = find_game("dokitto")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run at all table sizes: its folder and what the command said."""
    folder = tmp_path_factory.mktemp("runs") / "whole"
    return folder, command(*SMALL, *EVALUATED, "--seed", "3", "--out", str(folder))


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """A longer run at four seats, never interrupted; the words that start it but for `--out`, and its folder."""
    words = [*SMALL, *AT_FOUR, "--steps", "8000", "--reward", "margin"]  # decisions earn while they wait
    folder = tmp_path_factory.mktemp("runs") / "straight"
    trained(*words, "--out", str(folder))
    return words, folder


# what a run leaves


def test_every_promised_file_is_there(whole):
    folder, result = whole
    assert (result.code, result.err) == (0, "")
    promised = {line.split()[0] for line in CONTENTS.splitlines()}
    assert promised | {"tensorboard"} == {path.name for path in folder.iterdir()}
    assert all(line in result.out.replace(" \n", " ") for line in CONTENTS.splitlines())


@pytest.mark.parametrize("name", ["model.zip", "best.zip"])
def test_models_are_stable_baselines_3_models(name, whole):
    model = MaskablePPO.load(whole[0] / name)
    env = SB3VecEnv(GAME, num_envs=5, seed=1)
    observation = env.reset()
    for _ in range(5):
        masks = np.array(env.env_method("action_masks"))
        action, _ = model.predict(observation, action_masks=masks, deterministic=True)
        assert masks[np.arange(5), action].all()
        observation, *_ = env.step(action)
    assert model.num_timesteps >= 700


def test_the_config_holds_all_settings_with_versions_and_commit(whole):
    folder, _ = whole
    text = (folder / "config.yaml").read_text()
    comment = dict(line[2:].split(": ") for line in text.splitlines() if line.startswith("# "))
    assert comment == {name: str(value) for name, value in command_line.versions().items()}
    assert {"python", "torch", "stable_baselines3", "commit", "dirty"} <= comment.keys()
    content = yaml.safe_load(text)
    assert content.keys() == {field.name for field in dataclasses.fields(TrainSettings)}
    again = command_line.read_settings(TrainSettings, train.PROGRAM, [f"--config={folder / 'config.yaml'}"])
    words = [*SMALL, *EVALUATED, "--seed", "3", "--out", str(folder)]
    assert again == command_line.read_settings(TrainSettings, train.PROGRAM, words, game_defaults=True)


def test_the_evaluation_has_a_row_for_each_baseline_and_table_size(whole):
    rows = json.loads((whole[0] / "evaluation.json").read_text())
    check(rows, list[EvaluationRow])
    assert [(row["opponent"], row["num_players"]) for row in rows] == [
        (opponent, size) for opponent in ("random", "greedy") for size in (2, 3, 4, 5)
    ]
    assert {row["games"] for row in rows} == {60}
    for row in rows:
        assert f"{row['win_share']:.3f}" in whole[1].out
        assert f"{row['interval'][0]:.3f}–{row['interval'][1]:.3f}" in whole[1].out


def test_a_run_is_measured_against_those_whom_its_settings_name(tmp_path):
    words = [*SMALL, *AT_FOUR, "--evaluate_against", "greedy", "--out", str(tmp_path / "run")]
    result = command(*words)
    assert (result.code, result.err) == (0, "")
    (point,) = json.loads((tmp_path / "run" / "history.json").read_text())["history"]
    (row,) = json.loads((tmp_path / "run" / "evaluation.json").read_text())
    assert (list(point["win_shares"]), row["opponent"]) == (["greedy"], "greedy")


def test_the_history_and_its_picture_show_every_evaluation(whole):
    history = json.loads((whole[0] / "history.json").read_text())
    assert history["game"] == "dokitto"
    assert history["training"]["settings"] == (whole[0] / "config.yaml").read_text()
    (point,) = history["history"]
    assert point["decisions"] >= 700
    assert point["win_shares"].keys() == {"random", "greedy"}
    assert point["win_shares"]["random"].keys() == {"2", "3", "4", "5"}
    picture = matplotlib.image.imread(whole[0] / "curves.png")
    assert picture.shape[1] > picture.shape[0] > 200
    assert len(np.unique(picture[..., :3].reshape(-1, 3), axis=0)) > 50  # curves of several colors


def test_tensorboard_reads_the_curves(whole):
    events = EventAccumulator(str(whole[0] / "tensorboard")).Reload()
    tags = set(events.Tags()["scalars"])
    assert {f"win_share/{name}_{size}_seats" for name in ("random", "greedy") for size in (2, 3, 4, 5)} <= tags
    assert {"training/teacher_loss", "training/policy_loss", "training/steps_per_second"} <= tags
    rounds = [event.step for event in events.Scalars("training/value_loss")]
    assert len(rounds) > 1
    assert rounds == sorted(set(rounds))
    taught, played = (
        {event.step for event in events.Scalars(f"training/{name}")} for name in ("teacher_loss", "policy_loss")
    )
    assert max(taught) < min(played), "first the search teaches, then self-play"


def test_the_agent_is_the_best_network_and_plays(whole):
    agent = agents.load(whole[0] / "agent.json", GAME)
    assert agent.name == "whole"
    row = evaluate(agent, agents.load("random", GAME), GAME, 3, 60)
    assert row["games"] == 60
    network = NetworkAgent(ActorCritic(MaskablePPO.load(whole[0] / "best.zip", device="cpu").policy), GAME)
    assert evaluate(network, agents.load("random", GAME), GAME, 3, 60)["win_share"] == row["win_share"]


def test_the_command_says_what_it_does_and_what_to_type_next(whole):
    folder, result = whole
    out = " ".join(result.out.split())
    assert out.startswith("Training an agent for Dokitto! Ice (2, 3, 4, 5 seats, one network for all) on cpu")
    assert "for 700 decisions" in out
    assert f"Everything goes into {folder}" in out
    assert "steps/s vs random 0." in out
    commands = [line.split()[2:] for line in result.out.splitlines() if line.strip().startswith("python -m training")]
    (evaluation, *words), (_, *resume) = commands
    assert evaluation == "training.evaluate"
    settings = command_line.read_settings(EvaluationSettings, evaluation, words)
    assert settings.agent == str(folder / "agent.json")
    assert command_line.read_settings(TrainSettings, train.PROGRAM, resume).resume == folder


def test_table_size_and_rule_options_reach_games_evaluation_and_manifest(tmp_path):
    words = [*SMALL, *AT_FOUR, "--steps", "100", "--options.target_score", "3", "--opponents.greedy", "0.5"]
    assert command(*words, "--out", str(tmp_path / "run")).code == 0
    manifest = read_manifest(tmp_path / "run" / "agent.json")
    assert manifest["seats"] == [4]
    assert [row["num_players"] for row in manifest["evaluation"]] == [4, 4]
    assert "4 seats" in manifest["description"]
    assert manifest["options"]["target_score"] == 3
    assert {row["options"]["target_score"] for row in manifest["evaluation"]} == {3}
    run = begun("--resume", str(tmp_path / "run"))
    assert set(run.self_play.batch.states["num_players"]) == {4}
    assert set(run.self_play.batch.states["target_score"]) == {3}
    assert [part.agent.name for part in run.self_play.opponents] == ["random", "greedy"]
    assert 0.3 < run.self_play.opponents[1].seats.any(axis=1).mean() < 0.7


def test_a_table_size_named_twice_gets_twice_the_games(tmp_path):
    words = ["--num_players", "3", "2", "3", "--games", "30", "--horizon", "10", "--minutes", "1"]
    run = begun(*words, "--out", str(tmp_path / "run"))
    assert np.bincount(run.self_play.batch.states["num_players"]).tolist() == [0, 0, 10, 20]
    assert run.sizes == (2, 3)


def test_against_fixed_opponents_the_learner_sits_in_every_seat(tmp_path):
    run = begun(*SMALL, "--games", "400", "--opponents.random", "0.5", "--out", str(tmp_path / "run"))
    sizes = run.self_play.batch.states["num_players"]
    (part,) = run.self_play.opponents
    fixed = part.seats.any(axis=1)
    assert 0.4 < fixed.mean() < 0.6
    for size in (2, 3, 4, 5):
        (_, learners) = np.nonzero(~part.seats[fixed & (sizes == size), :size])
        assert len(learners) == (fixed & (sizes == size)).sum(), "one learner in each game"
        assert set(learners) == set(range(size))


def test_the_progress_bar_shows_speed_time_left_and_win_shares(tmp_path):
    run = begun(*SMALL, *AT_FOUR, *ALWAYS, "--out", str(tmp_path / "run"))
    with (tmp_path / "screen").open("w") as screen:
        assert train.train(run, Console(file=screen, force_terminal=True, width=120))
    shown = (tmp_path / "screen").read_text()
    assert "steps/s" in shown
    assert "vs random 0." in shown
    assert "100%" in shown
    assert re.search(r"\d:\d\d:\d\d", shown)  # the time left


# the same again


def test_two_runs_of_one_seed_are_the_same_and_of_another_not(straight, tmp_path):
    words, folder = straight
    clock = ["--minutes", "1000"]  # does not matter to a run that has a number of steps
    trained(*words, *ALWAYS, *clock, "--steps", "1000", "--out", str(tmp_path / "often"))
    trained(*words, "--steps", "1000", "--out", str(tmp_path / "once"))
    assert parameters(tmp_path / "often") == parameters(tmp_path / "once") != parameters(folder)
    for seed in (1, 1 << 40):  # more than Stable-Baselines3 takes
        run = begun(*words, "--seed", str(seed), "--out", str(tmp_path / f"seed{seed}"))
        first = {key: value.numpy().tobytes() for key, value in run.model.policy.state_dict().items()}
        layer = "features_extractor.layers.0.whole.weight"
        assert first[layer] != parameters(folder)[layer]


def test_a_finished_run_can_be_continued_under_new_flags(straight, tmp_path):
    trained(*straight[0], "--steps", "1000", "--out", str(tmp_path / "run"))
    before = parameters(tmp_path / "run")
    assert command("--resume", str(tmp_path / "run"), "--steps", "2000", "--final_learning_rate", "0").code == 0
    assert parameters(tmp_path / "run") != before
    content = yaml.safe_load((tmp_path / "run" / "config.yaml").read_text())
    assert (content["steps"], content["final_learning_rate"], content["games"]) == (2000, 0, 32)
    assert content["resume"] is None  # so the file can start another run
    history = json.loads((tmp_path / "run" / "history.json").read_text())["history"]
    assert [point["decisions"] // 1000 for point in history] == [1, 2]


def test_evaluations_by_steps_choose_the_same_best_network(straight, tmp_path):
    words = [*straight[0], "--steps", "3000", "--evaluate_steps", "1000"]
    runs = [trained(*words, "--out", str(tmp_path / name)) for name in ("once", "again")]
    decisions = [[point["decisions"] for point in run.history] for run in runs]
    assert decisions[0] == decisions[1]
    assert [before // 1000 for before in decisions[0]] == [1, 2, 3]
    assert parameters(tmp_path / "once", "best.zip") == parameters(tmp_path / "again", "best.zip")


def test_minutes_end_a_run_that_has_steps_left(tmp_path):
    run = trained(*SMALL, *AT_FOUR, "--steps", "1000000", "--minutes", "0.001", "--out", str(tmp_path / "run"))
    assert run.ended
    assert run.progress < 0.1


# interrupted


def test_everything_that_changes_in_a_run_is_saved(straight, tmp_path):
    run = begun(*straight[0], "--out", str(tmp_path / "run"))
    for _ in range(8):
        run.learn()
    run.checkpoint()
    assert run.self_play.earned[run.self_play.carried].any(), "no decision has earned anything while it waits"
    again = begun("--resume", str(tmp_path / "run"))
    for _ in range(4):
        run.learn()
        again.learn()
        assert again.losses == run.losses
        assert again.self_play.batch.states.tobytes() == run.self_play.batch.states.tobytes()
    assert (again.iteration, again.decisions, again.best) == (run.iteration, run.decisions, run.best)
    assert again.history == run.history


def readable(path):
    """Load a file of a run in the way of its readers."""
    if path.suffix == ".zip":
        MaskablePPO.load(path)
    elif path.suffix == ".pt":
        torch.load(path, weights_only=True)
    elif path.suffix == ".yaml":
        yaml.safe_load(path.read_text())
    elif path.suffix == ".png":
        matplotlib.image.imread(path)
    elif path.name == "agent.json" and not path.with_name("agent.onnx").exists():
        raise AssertionError("a manifest without its model")
    elif path.suffix == ".json":
        json.loads(path.read_text())


def check_folder(folder):
    """Assert that the run can be resumed and all that is in its folder can be read; return its rounds of learning."""
    for path in folder.iterdir():
        if not path.name.startswith(".partial."):
            readable(path)
    return begun("--resume", str(folder)).iteration


def test_a_run_killed_three_times_ends_like_a_straight_one(straight, tmp_path):
    words, folder = straight
    killed, dice = tmp_path / "killed", random.Random(5)
    start, rounds = [*words, *ALWAYS, "--out", str(killed)], [0]
    for _ in range(3):
        resume, before = killed / "resume.pt", changed(killed / "resume.pt")
        running = process(*start)
        wait_until(lambda: changed(resume) not in (None, before), running)  # noqa: B023  # called at once
        time.sleep(dice.random() / 2)
        running.kill()
        running.communicate()
        assert running.returncode == -signal.SIGKILL
        rounds.append(check_folder(killed))
        start = ["--resume", str(killed)]
    assert sorted(rounds) == rounds
    assert rounds[-1] > 0
    trained("--resume", str(killed), "--evaluate_minutes", "1")
    assert parameters(killed) == parameters(folder)


def test_a_run_stopped_by_ctrl_c_says_how_to_go_on_and_ends_like_a_straight_one(straight, tmp_path):
    words, folder = straight
    stopped = tmp_path / "a folder whose name is so long that a terminal of eighty columns would break the line"
    running = process(*words, *ALWAYS, "--out", str(stopped))
    wait_until((stopped / "history.json").exists, running)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate()
    assert (running.returncode, err) == (130, "")
    assert "Stopping after this round of learning" in out
    go_on = f"Stopped and saved. Go on with: python -m training.train --resume '{stopped}'"
    assert out.splitlines()[-1] == go_on
    assert check_folder(stopped) == len(json.loads((stopped / "history.json").read_text())["history"]) > 0
    trained(*shlex.split(go_on)[9:], "--evaluate_minutes", "1")
    assert parameters(stopped) == parameters(folder)


def test_ctrl_c_saves_the_round_that_it_falls_into(tmp_path, monkeypatch):
    learn = train.Run.learn

    def interrupted(run):
        learn(run)
        if run.iteration == 3:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(train.Run, "learn", interrupted)
    assert command(*SMALL, *AT_FOUR, "--steps", "5000", "--out", str(tmp_path / "run")).code == 130
    assert check_folder(tmp_path / "run") == 3


def test_a_second_ctrl_c_stops_at_once(tmp_path, monkeypatch):
    def learn(run):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("it goes on")

    monkeypatch.setattr(train.Run, "learn", learn)
    code, out, err = command(*SMALL, *AT_FOUR, "--out", str(tmp_path / "run"))
    assert (code, err) == (130, "")
    assert "--resume" in out
    assert check_folder(tmp_path / "run") == 0


def test_ctrl_c_before_the_run_has_begun_leaves_no_run(tmp_path, monkeypatch):
    def stop(*arguments):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(train, "Run", stop)
    words = [*SMALL, *AT_FOUR, "--out", str(tmp_path / "run")]
    assert command(*words) == (130, "", "Stopped.\n")
    monkeypatch.undo()
    assert begun(*words).iteration == 0  # the folder can be used


def test_ctrl_c_in_the_final_evaluation_loses_nothing(tmp_path, monkeypatch):
    def stop(*arguments):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(train, "finish", stop)
    assert command(*SMALL, *AT_FOUR, "--out", str(tmp_path / "run")).code == 130
    monkeypatch.undo()
    assert command("--resume", str(tmp_path / "run")).code == 0
    assert (tmp_path / "run" / "agent.json").exists()


def test_at_every_moment_the_folder_holds_whole_files(tmp_path, monkeypatch):
    """Files change only by being replaced, and after each replacement the run can be resumed."""
    folder, seen, replace = tmp_path / "run", [{}], files.os.replace

    def content():
        paths = [path for path in folder.iterdir() if path.is_file() and not path.name.startswith(".partial.")]
        return {path.name: path.read_bytes() for path in paths}

    def watched(source, target):
        assert content() == seen[-1]
        replace(source, target)
        seen.append(content())

    monkeypatch.setattr(files.os, "replace", watched)
    assert command(*SMALL, *AT_FOUR, *ALWAYS, "--steps", "400", "--out", str(folder)).code == 0
    monkeypatch.undo()
    assert content() == seen[-1]
    assert len(seen) > 14
    for moment, found in enumerate(seen[1:]):
        place = tmp_path / f"moment {moment}"
        place.mkdir()
        for name, data in found.items():
            (place / name).write_bytes(data)
        if "config.yaml" in found:  # a folder without one holds no run yet: see test_train_refuses
            check_folder(place)
