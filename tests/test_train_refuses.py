"""What the training command refuses, with one sentence and before any work: bad input, damaged and foreign files."""

from __future__ import annotations

import dataclasses
import io
import os
import shutil
import zipfile

import pytest
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3 import PPO

from ice_envs import find_game
from ice_envs.errors import IceError
from ice_envs.faces.sb3 import SB3VecEnv
from tests.training_runs import AT_FOUR, EVALUATED, SMALL, begun, command, trained
from training import ppo
from training.network import NetworkShape, new_model
from training.run import Run, TrainSettings
from training.run_folder import RunFolder
from training.teacher import TeacherSettings

GAME = find_game("dokitto")


def refused(sentence, *words):
    """Assert that the command answers with this one sentence and exit code 2."""
    code, out, err = command(*words)
    assert (code, out) == (2, "")
    assert sentence in err
    assert (err.count("\n"), "Traceback" in err) == (1, False)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--env dokito", "unknown game 'dokito' (did you mean 'dokitto'?)"),
        ("--stpes 3", "unknown flag --stpes (did you mean '--steps'?)"),
        ("--ppo.clp 0.1", "unknown flag --ppo.clp (did you mean '--ppo.clip'?)"),
        ("--options.target_scor 3", "dokitto has no option 'target_scor' (did you mean 'target_score'?)"),
        ("--options.target_score 99", "target_score must be from 1 to 30, not 99"),
        ("--options.target_score many", "target_score must be a whole number from 1 to 30, not 'many'"),
        ("--opponents.gredy 0.2", "unknown agent 'gredy' (did you mean 'greedy'?)"),
        ("--opponents.greedy 1.5", "opponents.greedy is a part of the games, from 0 to 1, not 1.5"),
        ("--opponents.greedy 0.9", "the parts of the games in opponents add up to more than 1"),
        ("--reward wim", "unknown reward 'wim' (did you mean 'win'?)"),
        ("--num_players 6", "dokitto is played by 2 to 5 seats, not 6"),
        ("--num_players 1", "dokitto is played by 2 to 5 seats, not 1"),
        ("--num_players 2 every", "num_players must be a list, each a whole number or one of all, not 'every'"),
        ("--device nonsense", "torch has no device 'nonsense' here"),
        ("--steps 0", "steps must be from 1"),
        ("--steps many", "steps must be a whole number or null, not 'many'"),
        ("--steps null", "give the run an end: --minutes or --steps"),
        ("--minutes 0", "minutes must be more than 0, not 0"),
        ("--minutes nan", "minutes must be a number or null, not 'nan'"),
        ("--evaluate_minutes -1", "evaluate_minutes must be more than 0, not -1"),
        ("--seed -1", "seed must be from 0"),
        ("--threads 0", "threads must be from 1"),
        ("--games 0", "games must be from 1"),
        ("--horizon 9", "horizon must be from 10"),  # five seats twice: no decision would have a successor
        ("--hidden 0", "hidden must be one or more widths of at least 1, not [0]"),
        ("--hidden=[]", "hidden must be one or more widths of at least 1, not []"),
        ("--action_hidden 0", "action_hidden must be widths of at least 1, or none, not [0]"),
        ("--kind_hidden 8 8", "kind_hidden must be as many widths of at least 1 as hidden, 1, or none, not [8, 8]"),
        ("--kind_hidden 0", "kind_hidden must be as many widths of at least 1 as hidden, 1, or none, not [0]"),
        ("--teacher.passes 2 --teacher.memory 0", "teacher.passes of more than 1 need a teacher.memory"),
        ("--learning_rate 0", "learning_rate must be more than 0, not 0"),
        ("--final_learning_rate -1", "final_learning_rate must be at least 0, not -1"),
        ("--gamma 1.1", "gamma must be from 0 to 1, not 1.1"),
        ("--trace -0.1", "trace must be from 0 to 1, not -0.1"),
        ("--ppo.epochs 0", "ppo.epochs must be from 1"),
        ("--teacher.playouts 0", "teacher.playouts must be from 1"),
        ("--teacher.simulations -1", "teacher.simulations must be from 0"),
        ("--teacher.tree_after 2", "teacher.tree_after must be from 0 to 1"),
        (
            "--evaluation_games 50",
            "50 games are not two or more whole deals in every seat at 2, 3, 4, 5 seats: take 60",
        ),
        ("--final_games 70", "70 games are not two or more whole deals in every seat at 2, 3, 4, 5 seats: take 60"),
        ("--start nowhere", "cannot read nowhere/best.zip: No such file or directory"),
        ("--start nowhere.json", "cannot read nowhere.json: No such file or directory"),
        (
            "--evaluate_against greedy greedy",
            "evaluate_against must name one or more different agents, not greedy, greedy",
        ),
        ("--evaluate_against=[]", "evaluate_against must name one or more different agents, not none"),
        ("--evaluate_against gredy", "unknown agent 'gredy' (did you mean 'greedy'?)"),
        ("--config nowhere.yaml", "cannot read the config file nowhere.yaml: No such file or directory"),
        ("--config typo.yaml", "the config file typo.yaml has an unknown key 'teacher.playout' (did you mean"),
        ("stray", "unrecognized arguments: stray"),
    ],
)
def test_bad_input(words, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "typo.yaml").write_text("teacher: {playout: 3}")
    refused(sentence, *SMALL, *EVALUATED, "--out", "run", *words.split())
    left = {path.name for path in (tmp_path / "run").iterdir()} if (tmp_path / "run").exists() else set()
    assert left == set()  # the same command without the mistake can use the folder


def test_a_part_of_a_config_that_is_empty(tmp_path):
    (tmp_path / "empty.yaml").write_text("teacher:")
    refused("must hold lines of the form 'name: value' below 'teacher'", "--config", str(tmp_path / "empty.yaml"))


def test_the_help_names_every_setting_with_its_text():
    code, out, err = command("--help")
    assert (code, err) == (0, "")
    shown = " ".join(out.split())
    assert "python -m training.train --env dokitto" in shown
    for kind, prefix in ((TrainSettings, ""), (ppo.PPO, "ppo."), (TeacherSettings, "teacher.")):
        for field in dataclasses.fields(kind):
            assert f"--{prefix}{field.name}" in shown
    for text in (
        "Length of the whole run, final evaluation and export included",
        "The search that teaches the first part of the run",
        "Playouts for each legal action at the largest table",
        "Weight of the policy's entropy",
    ):
        assert text in shown


# folders


def test_a_network_of_other_layers_is_nothing_to_begin_with(run, tmp_path):
    widths = ["--hidden", "16", "8", "--kind_hidden", "16", "16"]
    words = [*SMALL, *EVALUATED, *widths, "--start", str(run), "--out", str(tmp_path / "new")]
    refused(f"the network in {run} has layers of [16], not of [16, 8]: set hidden", *words)
    assert not (tmp_path / "new").exists()


def test_an_occupied_folder_is_not_overwritten(run):
    before = contents(run)
    refused(f"{run} holds a run already: continue it with --resume {run} or choose another --out", "--out", str(run))
    assert contents(run) == before


def test_a_folder_that_cannot_be_made_or_written_is_named_before_the_work_begins(tmp_path, monkeypatch):
    def work(*arguments):
        raise AssertionError("the work has begun")

    monkeypatch.setattr(Run, "__init__", work)
    (tmp_path / "file").write_text("")
    refused(f"cannot make the folder {tmp_path / 'file'}: File exists", "--out", str(tmp_path / "file"))
    refused("cannot make the folder", "--out", str(tmp_path / "file" / "run"))

    monkeypatch.setattr(os, "access", lambda *arguments: False)  # a superuser may write anywhere
    refused("is not writable", "--out", str(tmp_path / "run"))


def test_a_disk_that_is_full_is_one_sentence(tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(torch, "save", full)
    refused("resume.pt: No space left on device", *SMALL, *EVALUATED, "--out", str(tmp_path / "run"))
    monkeypatch.undo()
    assert begun(*SMALL, *EVALUATED, "--out", str(tmp_path / "run")).iteration == 0


# resuming


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "made"
    trained(*SMALL, *AT_FOUR, "--out", str(folder))
    return folder


@pytest.fixture
def run(made, tmp_path):
    """A copy of a run that has learned to its end."""
    return shutil.copytree(made, tmp_path / "run")


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def saved(value):
    """Return what torch saves of a value."""
    file = io.BytesIO()
    torch.save(value, file)
    return file.getvalue()


HALF = object()
"""Only the first half of what the file holds."""


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("resume.pt", None, "cannot resume from {run}: No such file or directory"),
        ("resume.pt", HALF, "resume.pt is damaged, or not of a training run"),
        ("resume.pt", b"", "resume.pt is damaged, or not of a training run"),
        ("resume.pt", b"nonsense", "resume.pt is damaged, or not of a training run"),
        ("resume.pt", saved([1]), "resume.pt is not of a training run"),
        ("resume.pt", saved({}), "resume.pt does not fit the run's settings"),
        ("resume.pt", saved({"network": 3}), "resume.pt does not fit the run's settings"),
        ("config.yaml", None, "cannot read the config file {run}/config.yaml: No such file or directory"),
        ("config.yaml", b"env: dokitto\nnum_pla", "config.yaml is not YAML: "),
        ("config.yaml", b"", "config.yaml must hold lines of the form 'name: value'"),
        ("config.yaml", b"env: dokitto\n", "config.yaml is cut off or of another version: it lacks"),
        ("config.yaml", b"lr: 3\n", "config.yaml has an unknown key 'lr'"),
        ("config.yaml", b"\xff\xfe", "cannot read the config file"),
    ],
)
def test_damaged_and_foreign_files_are_not_resumed_from(run, name, content, sentence):
    path = run / name
    if content is None:
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2] if content is HALF else content)
    before = contents(run)
    refused(sentence.format(run=run), "--resume", str(run))
    assert contents(run) == before


def test_a_config_cut_off_anywhere_is_not_resumed_from(run):
    lines = (run / "config.yaml").read_text().splitlines(keepends=True)
    for kept in range(10, len(lines) - 1):  # the last line only says that the file is whole
        (run / "config.yaml").write_text("".join(lines[:kept]))
        with pytest.raises(IceError, match=r"lacks|must hold lines"):
            begun("--resume", str(run))
    (run / "config.yaml").write_text("".join(lines))
    assert begun("--resume", str(run)).iteration > 0


def test_a_setting_that_the_runs_version_did_not_have_is_the_default(run, capfd):
    path = run / "config.yaml"
    whole = path.read_text()
    path.write_text(whole.replace("handicapped: 0.0\n", "").replace("  passes: ", "  # passes: "))
    resumed = begun("--resume", str(run))
    assert capfd.readouterr().err == (
        f"{path} is of an earlier version: it lacks handicapped, teacher.passes, which are set to their defaults.\n"
    )
    assert (resumed.settings.handicapped, resumed.settings.teacher.passes) == (0.0, TeacherSettings().passes)
    assert "handicapped: 0.0\n" in path.read_text()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--hidden 32", "hidden cannot change when a run is continued: it was [16], not [32]"),
        ("--kind_hidden 32", "kind_hidden cannot change when a run is continued: it was [16], not [32]"),
        ("--teacher.memory 9", "teacher.memory cannot change when a run is continued: it was 500, not 9"),
        (
            "--evaluate_against random",
            "evaluate_against cannot change when a run is continued: it was ['random', 'greedy'], not ['random']",
        ),
        ("--games 64", "games cannot change when a run is continued: it was 32, not 64"),
        ("--num_players 5", "num_players cannot change when a run is continued: it was [4], not [5]"),
        (
            "--options.target_score 5",
            "options cannot change when a run is continued: it was {}, not {'target_score': 5}",
        ),
        ("--env dokito", "unknown game 'dokito' (did you mean 'dokitto'?)"),
        ("--gamma 2", "gamma must be from 0 to 1, not 2"),
    ],
)
def test_what_a_run_is_made_of_cannot_change(run, words, sentence):
    before = contents(run)
    refused(sentence, "--resume", str(run), *words.split())
    assert contents(run) == before


def test_a_folder_without_a_run_is_not_resumed_from(tmp_path):
    refused("cannot read the config file nowhere/config.yaml", "--resume", "nowhere")
    refused("config.yaml: No such file or directory", "--resume", str(tmp_path))


# models


def zipped(model):
    file = io.BytesIO()
    model.save(file)
    return file.getvalue()


def foreign_models():
    """Return files that hold other things than a model of ours for this game."""
    nothing = io.BytesIO()
    with zipfile.ZipFile(nothing, "w") as archive:
        archive.writestr("hello", "world")
    other_rules = dataclasses.replace(GAME, labels=GAME.labels[:-1], kinds=None, action_slices=())
    other_game = new_model(other_rules, NetworkShape([8], [8], [8]), 1e-3, 0, "cpu")
    env = SB3VecEnv(GAME, num_envs=1)
    return {
        "a zip file": (nothing.getvalue(), "is not a whole model of a training run"),
        "another algorithm": (zipped(PPO("MlpPolicy", env)), "is not a whole model of a training run"),
        "another network": (zipped(MaskablePPO("MlpPolicy", env)), "is not a model of a training run"),
        "another game": (zipped(other_game), "was made for other observations or actions than dokitto has here"),
    }


def test_damaged_and_foreign_models_are_not_loaded(run):
    folder, whole = RunFolder(run), (run / "model.zip").read_bytes()
    assert folder.load_model("model.zip", GAME).num_timesteps >= 700
    (run / "best.zip").unlink()
    with pytest.raises(IceError, match=r"cannot read .*best.zip: No such file or directory"):
        folder.load_model("best.zip", GAME)
    for size in (0, 10, len(whole) // 2, len(whole) - 1):
        (run / "model.zip").write_bytes(whole[:size])
        with pytest.raises(IceError, match="is not a whole model of a training run"):
            folder.load_model("model.zip", GAME)
    for content, words in foreign_models().values():
        (run / "model.zip").write_bytes(content)
        with pytest.raises(IceError, match=words):
            folder.load_model("model.zip", GAME)


def test_the_last_step_refuses_a_damaged_best_network(run):
    (run / "best.zip").write_bytes(b"")
    code, _, err = command("--resume", str(run))
    assert code == 2
    assert "best.zip is not a whole model of a training run" in err
    assert err.count("\n") == 1
