"""Who teaches at which point of a run, and that the command and the manifest say so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from training.ppo import PPO
from training.run import Run, TrainSettings
from training.run_folder import RunFolder
from training.teacher import TeacherSettings
from training.train import teaching

WHOLE: dict[str, Any] = {
    "share": 0.8, "greedy_bonus": 1, "imitate_until": 0.1, "skilled_after": 0.3, "simulations": 50, "tree_after": 0.6,
}  # fmt: skip
NO_TREE = {**WHOLE, "simulations": 0}
TREE_ALONE = {"share": 1, "skilled_after": 0, "simulations": 50, "tree_after": 0}


def begun(folder: Path, teacher: dict[str, Any]) -> Run:
    """Return a small run of 100 decisions that has learned from none."""
    settings = TrainSettings(
        steps=100, games=8, horizon=10, hidden=[8], kind_hidden=[8], action_hidden=[], opponents={},
        teacher=TeacherSettings(**teacher),
    )  # fmt: skip
    return Run(settings, RunFolder(folder))


@pytest.mark.parametrize(
    ("teacher", "expected"),
    [
        (WHOLE, {0: ("greedy", 0), 9: ("greedy", 0), 10: ("flat", 0), 30: ("flat", 2), 60: ("tree", 2), 80: None}),
        (NO_TREE, {10: ("flat", 0), 60: ("flat", 2), 79: ("flat", 2), 80: None, 99: None}),
        (TREE_ALONE, {0: ("tree", 2), 99: ("tree", 2), 100: None}),
    ],
    ids=["whole", "no tree", "tree alone"],
)
def test_each_stage_has_its_teacher(tmp_path: Path, teacher: dict[str, Any], expected: dict[int, Any]):
    run = begun(tmp_path, teacher)
    for decisions, who in expected.items():
        run.decisions = decisions
        learner = run.learner()
        if who is None:
            assert isinstance(learner, PPO)
        else:
            assert not isinstance(learner, PPO)
            assert (learner.method, learner.settings.skilled) == who
            assert learner.memory is run.memory


@pytest.mark.parametrize(
    ("teacher", "told", "noted"),
    [
        (
            WHOLE,
            ["For the first 60% it is taught by a search", "From 60% on until 80%", "of 50 imagined", "Then it learns"],
            "imitation of the greedy baseline until 10%, then flat Monte-Carlo search as teacher until 60%, then "
            "expert iteration with search:50 until 80%, then masked PPO in self-play, every seat learned from",
        ),
        (
            NO_TREE,
            ["For the first 80% it is taught by a search", "Then it learns"],
            "imitation of the greedy baseline until 10%, then flat Monte-Carlo search as teacher until 80%, then "
            "masked PPO in self-play, every seat learned from",
        ),
        (TREE_ALONE, ["From 0% on it is taught by a tree"], "expert iteration with search:50 until 100%"),
        ({"share": 0}, [], "masked PPO in self-play, every seat learned from"),
    ],
    ids=["whole", "no tree", "tree alone", "no teacher"],
)
def test_the_command_and_the_manifest_tell_of_each_stage(
    tmp_path: Path, teacher: dict[str, Any], told: list[str], noted: str
):
    sentences = list(teaching(TeacherSettings(**teacher)))
    text = " ".join(sentences)
    assert [words for words in told if words not in text] == []
    assert ("tree" in text) == ("expert" in noted)
    assert ("every move" in text) == ("flat" in noted)
    assert begun(tmp_path, teacher)._algorithm() == noted
