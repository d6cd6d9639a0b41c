"""A run's folder: what is in it, and how it is written so that a run killed at any moment can go on."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypedDict

import torch
import yaml
from gymnasium.spaces import Discrete
from sb3_contrib import MaskablePPO

from ice_envs.agents.manifest import EvaluationRow, check
from ice_envs.engine.game import Game
from ice_envs.errors import IceError
from ice_envs.faces.common import observation_box
from ice_envs.files import check_writable, make_folder, read_json, reason, replacing, write_json
from ice_envs.games import find_game
from training import command_line
from training.network import ActorCritic, Trunk

CONTENTS = """\
model.zip        the last network, in Stable-Baselines3's format (sb3_contrib.MaskablePPO.load)
best.zip         the network that did best in the evaluations during the run
config.yaml      every setting of the run, with versions and commit
evaluation.json  the final evaluation of the best network
history.json     what was measured during the run
curves.png       the same as a picture
agent.onnx       the best network for any front end
agent.json       its manifest: what goes in, what comes out, where it comes from
parity.json      positions with its answers, with which a front end tests itself
README.md        its model card, made from the manifest
resume.pt        what --resume needs
"""


LOSSES = ("teacher_loss", "value_loss", "entropy")
"""What the curves show of learning: all positive, on a logarithmic scale."""


class Origin(TypedDict):
    """Where a network comes from, as a manifest tells it."""

    algorithm: str
    decisions: int
    seconds: float
    seed: int
    num_players: list[int]
    options: dict[str, Any]
    reward: str
    settings: str
    command: str
    machine: str
    versions: dict[str, str | bool | None]
    """Those of the last command."""
    commits: list[str | bool | None]
    """Of each command that had another than the one before it."""


class RunFolder:
    """The folder of one training run. Files are replaced whole, never in part."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @staticmethod
    def default_path(game: str, seed: int) -> Path:
        """Return a new run's folder, named by the time and the seed."""
        return Path("checkpoints") / game / "runs" / f"{datetime.now():%Y-%m-%d-%H%M%S}-seed{seed}"

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def make(self) -> None:
        """Make the folder; raise IceError if it holds a run already or cannot be written."""
        if (self / "config.yaml").exists():
            raise IceError(
                f"{self.path} holds a run already: continue it with --resume {self.path} or choose another --out"
            )
        make_folder(self.path)
        check_writable(self / "config.yaml")

    def write_settings(self, settings: Any, name: str = "config.yaml") -> None:
        """Write every setting as YAML, versions and commit in the comment above."""
        plain = json.loads(json.dumps(dataclasses.asdict(settings), default=str))
        versions = "".join(f"# {name}: {version}\n" for name, version in command_line.versions().items())
        with replacing(self / name) as partial:
            text = yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, explicit_end=True)
            partial.write_text(versions + text, encoding="utf-8")

    def save_model(self, model: MaskablePPO, name: str) -> None:
        """Write a model in Stable-Baselines3's format as `name`."""
        with replacing(self / name) as partial, partial.open("wb") as file:
            model.save(file)

    def load_model(self, name: str, game: Game) -> MaskablePPO:
        """Return a model of this run (only of your own runs: the format can carry code).

        Raises IceError if it is missing, cut off, or no model of ours for this game.
        """
        try:
            model = MaskablePPO.load(self / name, device="cpu")
        except OSError as error:
            raise IceError(f"cannot read {self / name}: {reason(error)}") from error
        except Exception as error:  # what damaged files raise shares no base class
            raise IceError(f"{self / name} is not a whole model of a training run") from error
        if not isinstance(getattr(model.policy, "features_extractor", None), Trunk):
            raise IceError(f"{self / name} is not a model of a training run, but of something else")
        if (model.observation_space, model.action_space) != (observation_box(game), Discrete(game.num_actions)):
            raise IceError(f"{self / name} was made for other observations or actions than {game.name} has here")
        return model

    def save_state(self, state: Mapping[str, Any]) -> None:
        """Write what a resumed run needs."""
        with replacing(self / "resume.pt") as partial:
            torch.save(dict(state), partial)

    def load_state(self) -> dict[str, Any]:
        """Return what `save_state` wrote; raise IceError if it is missing or damaged."""
        try:
            state: dict[str, Any] = torch.load(self / "resume.pt", map_location="cpu", weights_only=True)
        except OSError as error:
            raise IceError(f"cannot resume from {self.path}: {reason(error)}") from error
        except Exception as error:  # torch's errors for damaged files share no base class
            raise IceError(f"{self / 'resume.pt'} is damaged, or not of a training run") from error
        if not isinstance(state, dict):
            raise IceError(f"{self / 'resume.pt'} is not of a training run")
        return state

    def read_for_export(self) -> tuple[ActorCritic, Game, Origin, list[EvaluationRow]]:
        """Return the best network, its game, its origin and its evaluation; raise IceError if one is missing."""
        game, training, _, evaluation = self.read_results()
        return ActorCritic(self.load_model("best.zip", game).policy), game, training, evaluation

    def read_results(self) -> tuple[Game, Origin, list[dict[str, Any]], list[EvaluationRow]]:
        """Return the game, the network's origin, what was measured during the run, and the final evaluation.

        Raises IceError if the run is not finished, or a file is missing or damaged.
        """
        if not (self / "evaluation.json").exists():
            raise IceError(f"there is no finished run in {self.path}: evaluation.json is missing")
        evaluation: list[EvaluationRow] = read_json(self / "evaluation.json")
        check(evaluation, list[EvaluationRow], str(self / "evaluation.json"))
        if not evaluation:
            raise IceError(f"{self / 'evaluation.json'} holds no results")
        told = read_json(self / "history.json")
        try:
            return find_game(told["game"]), told["training"], told["history"], evaluation
        except (KeyError, TypeError) as error:
            raise IceError(f"{self / 'history.json'} does not tell of a training run") from error

    def write_history(self, game: Game, training: Origin, history: Sequence[Mapping[str, Any]]) -> None:
        """Write what was measured during the run, as data and as a picture."""
        write_json(self / "history.json", {"game": game.name, "training": training, "history": list(history)})
        if history:
            with replacing(self / "curves.png") as partial:
                draw_curves(game, history, partial)


def draw_curves(game: Game, history: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw win shares, one panel for each opponent, and how learning goes, against the decisions learned from."""
    from matplotlib.figure import Figure

    opponents = list(history[0]["win_shares"])
    figure = Figure(figsize=(5 * (len(opponents) + 1), 4), layout="constrained")
    panels = figure.subplots(1, len(opponents) + 1)
    decisions = [point["decisions"] / 1e6 for point in history]
    for panel, opponent in zip(panels, opponents, strict=False):
        for size in history[0]["win_shares"][opponent]:
            shares = [point["win_shares"][opponent][size] for point in history]
            (line,) = panel.plot(decisions, shares, marker=".", label=f"{size} seats")
            panel.axhline(1 / int(size), color=line.get_color(), linestyle=":", linewidth=1)
        panel.set(title=f"{game.title} against {opponent}", ylabel="win share (dotted: fair share)", ylim=(0, 1))
        panel.legend()
    for name in LOSSES:
        points = [
            (at, point["losses"][name]) for at, point in zip(decisions, history, strict=True) if name in point["losses"]
        ]
        if points:
            panels[-1].plot(*zip(*points, strict=True), marker=".", label=name.replace("_", " "))
    panels[-1].set(title="learning", yscale="log")
    if panels[-1].lines:  # a network that a run begins with has not learned in it yet
        panels[-1].legend()
    for panel in panels:
        panel.set(xlabel="million decisions learned from")
        panel.grid(alpha=0.3)
    figure.savefig(path, dpi=100)
