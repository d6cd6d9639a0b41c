"""A training run: its settings, and all that changes while it goes on."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO

from ice_envs import agents
from ice_envs.agents.manifest import EvaluationRow
from ice_envs.engine.batch import Batch
from ice_envs.engine.game import Game
from ice_envs.errors import IceError, check_range, choose, whole_number
from ice_envs.games import find_game
from training import command_line, handicaps
from training.evaluate import check_games, evaluate
from training.network import ActorCritic, NetworkAgent, NetworkShape, new_model, pick_device
from training.ppo import PPO
from training.run_folder import Origin, RunFolder
from training.selfplay import Opponents, SelfPlay
from training.teacher import Memory, Teacher, TeacherSettings

SECONDS_TO_EXPORT = 15.0
GAMES, NETWORK, SEATING, ITERATION, CHOOSING, FINAL, HANDICAPS = range(7)
"""What a seed is drawn for. The best network is chosen by some deals and measured, at the end, on others."""


@dataclass(frozen=True)
class TrainSettings:
    """Settings of a training run."""

    env: str = "dokitto"
    """The game."""
    num_players: list[int | Literal["all"]] = field(default_factory=lambda: ["all"])
    """Table sizes to learn, such as 2 3 4 5, or all; a size named twice gets twice the games."""
    minutes: float | None = 10.0
    """Length of the whole run, final evaluation and export included; null: no limit but steps."""
    steps: int | None = None
    """End after learning from this many decisions; rates and stages then follow them, not the clock."""
    seed: int = 0
    """Seed of everything that is drawn: runs of one length in steps, on one thread, end with the same network."""
    threads: int = 2
    """Threads for the network's arithmetic and the search."""
    device: str = "auto"
    """Where the network learns: auto, cpu, cuda or another name that torch knows."""
    out: Path | None = None
    """The run's folder; null: a new one in checkpoints/<game>/runs."""
    resume: Path | None = None
    """The folder of a run to continue, with its own settings; flags given now win."""
    start: Path | None = None
    """A run's folder or an agent.json, whose network this run begins with, instead of an untrained one."""
    options: dict[str, Any] = field(default_factory=dict)
    """Rule options of the game."""
    handicapped: float = 0.0
    """Part of the games in which every seat has a handicap of its own, drawn by chance; for games with handicaps."""
    reward: str = "win"
    """What the value learns: win (zero-sum utility of the win share), score or margin (points)."""
    games: int = 1024
    """Games played side by side."""
    horizon: int = 64
    """Actions played in each of them between two rounds of learning."""
    hidden: list[int] = field(default_factory=lambda: [256, 256])
    """Widths of the network's layers."""
    kind_hidden: list[int] = field(default_factory=lambda: [128, 128])
    """Widths of the same layers' part for each kind, such as a flavor, in games with kinds that are alike; or none."""
    action_hidden: list[int] = field(default_factory=lambda: [32, 16])
    """Widths of a small network that scores all actions alike, in games whose observation describes each; or none."""
    learning_rate: float = 1e-3
    """Step size of the optimizer at the beginning; it falls on a straight line."""
    final_learning_rate: float = 5e-5
    """Step size at the end."""
    gamma: float = 1.0
    """Discount from one decision of a seat to its next."""
    trace: float = 0.95
    """The λ of generalized advantage estimation."""
    opponents: dict[str, float] = field(default_factory=lambda: {"random": 0.3})
    """Agents, each with the part of the games in which it plays all seats but one; that one is drawn by chance."""
    teacher: TeacherSettings = field(default_factory=TeacherSettings)
    """The search that teaches the first part of the run."""
    ppo: PPO = field(default_factory=PPO)
    """Learning from self-play."""
    evaluate_minutes: float = 1.0
    """Minutes between evaluations; each also saves all that --resume needs."""
    evaluate_steps: int | None = None
    """Decisions between evaluations instead of minutes; with it, the same network is chosen as the best, too."""
    evaluate_against: list[str] = field(default_factory=lambda: ["random", "greedy"])
    """Whom the evaluations are against; the best network is the one that does best against all of them."""
    evaluation_games: int = 480
    """Games of each evaluation during the run, at each table size against each of them."""
    final_games: int = 2400
    """Games of the final evaluation, at each table size against each of them."""

    @property
    def shape(self) -> NetworkShape:
        """What the network is made of."""
        return NetworkShape(self.hidden, self.kind_hidden, self.action_hidden)


class Run:
    """One training run: all that changes while it goes on."""

    def __init__(self, settings: TrainSettings, folder: RunFolder) -> None:
        self.settings, self.folder = settings, folder
        self.game = find_game(settings.env)
        self._tables = command_line.choose_table_sizes(self.game, settings.num_players)
        self.sizes = tuple(sorted(set(self._tables)))
        self.device = pick_device(settings.device)
        torch.set_num_threads(settings.threads)
        seed = self._seed(NETWORK).generate_state(1)[0]  # Stable-Baselines3 takes 32 bits
        self.model = new_model(self.game, settings.shape, settings.learning_rate, int(seed), self.device)
        self.network = ActorCritic(self.model.policy)
        self.optimizer: torch.optim.Optimizer = self.model.policy.optimizer
        self.self_play = self._self_play()
        self.memory = Memory(self.game, settings.teacher.memory)
        self.rivals = load_rivals(settings, self.game)
        self.iteration = 0
        self.decisions = 0
        self.seconds = 0.0
        self.best = -1.0
        self.losses: dict[str, float] = {}
        self.history: list[dict[str, Any]] = []
        self.commands = [command_line.typed()]
        self.commits = [command_line.versions()["commit"]]

    def _self_play(self) -> SelfPlay:
        settings = self.settings
        batch = Batch(
            self.game,
            settings.games,
            seed=self._seed(GAMES),
            num_players=self._tables,
            num_threads=settings.threads,
            reward=settings.reward,
            **settings.options,
        )
        if settings.handicapped > 0:
            handicaps.give(self.game, batch.states, settings.options, settings.handicapped, self._seed(HANDICAPS))
        generator = np.random.default_rng(self._seed(SEATING))
        draws = generator.random(settings.games)
        learner = generator.integers(batch.states["num_players"])
        others = np.arange(batch.last_shares.shape[1]) != learner[:, None]
        opponents, edge = [], 0.0
        for name, share in settings.opponents.items():
            chosen = (draws >= edge) & (draws < edge + share)
            opponents.append(Opponents(agents.load(name, self.game), others & chosen[:, None]))
            edge += share
        return SelfPlay(batch, self.network, opponents, settings.horizon, settings.gamma, settings.trace)

    def _seed(self, *purpose: int) -> np.random.SeedSequence:
        """Return the seed for one purpose; iterations have their own, so a resumed run draws as a straight one does."""
        return np.random.SeedSequence(self.settings.seed, spawn_key=purpose)

    @property
    def budget(self) -> float:
        """Seconds for learning; the rest of `minutes` is for the final evaluation and the export."""
        minutes = self.settings.minutes
        if minutes is None:
            return float("inf")
        spent = [point["evaluation_seconds"] for point in self.history]
        final = max(spent, default=0.0) * self.settings.final_games / self.settings.evaluation_games
        return max(60 * minutes - final - SECONDS_TO_EXPORT, 30 * minutes)

    @property
    def progress(self) -> float:
        """The part of the run that is done, 0 to 1: of its steps, if it has a number of them, else of its time."""
        done = self.decisions / self.settings.steps if self.settings.steps else self.seconds / self.budget
        return min(done, 1.0)

    @property
    def ended(self) -> bool:
        """Whether the steps are done or the time is over."""
        return self.progress >= 1 or self.seconds >= self.budget

    @property
    def evaluation_due(self) -> bool:
        """Whether it is time for an evaluation: after so many steps, if the settings say so, or so many minutes."""
        last = self.history[-1] if self.history else {"decisions": 0, "seconds": 0.0, "evaluation_seconds": 0.0}
        if self.settings.evaluate_steps:
            return self.decisions - int(last["decisions"]) >= self.settings.evaluate_steps
        since = self.seconds - last["seconds"] - last["evaluation_seconds"]
        return bool(since >= 60 * self.settings.evaluate_minutes)

    def learn(self) -> None:
        """Play one rollout and learn from it."""
        self.iteration += 1
        playing, learning = self._seed(ITERATION, self.iteration).spawn(2)
        settings = self.settings
        rate = settings.learning_rate + self.progress * (settings.final_learning_rate - settings.learning_rate)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        decisions = self.self_play.rollout(playing)
        if len(decisions.action):
            self.losses = self.learner().learn(self.network, self.optimizer, decisions, learning)
        self.decisions += len(decisions.action)
        self.model.num_timesteps = self.decisions

    def learner(self) -> Teacher | PPO:
        """Return who improves the network at this point of the run."""
        progress, settings, ppo = self.progress, self.settings.teacher, self.settings.ppo
        if progress >= settings.share:
            return ppo
        method: Literal["greedy", "flat", "tree"] = "flat"
        if progress < settings.imitate_until:
            method = "greedy"
        elif settings.simulations and progress >= settings.tree_after:
            method = "tree"
        if progress < settings.skilled_after:
            settings = replace(settings, skilled=0)
        threads = self.settings.threads
        return Teacher(self.game, settings, ppo.value_weight, ppo.max_grad_norm, threads, self.memory, method)

    def evaluate(self, games: int, purpose: int) -> list[EvaluationRow]:
        """Return evaluation rows of the network for each rival and table size, each purpose on deals of its own."""
        seed = int(self._seed(purpose).generate_state(1)[0])
        agent = NetworkAgent(self.network, self.game, self.folder.path.name)
        return [
            evaluate(agent, rival, self.game, size, games, seed, self.settings.options)
            for rival in self.rivals
            for size in self.sizes
        ]

    def checkpoint(self) -> dict[str, Any]:
        """Evaluate, note the figures down, keep the best network and save all that --resume needs."""
        began = time.perf_counter()
        rows = self.evaluate(self.settings.evaluation_games, CHOOSING)
        shares: dict[str, dict[str, float]] = {}
        for row in rows:
            shares.setdefault(row["opponent"], {})[str(row["num_players"])] = row["win_share"]
        strength = float(np.mean([row["win_share"] * row["num_players"] for row in rows]))
        point = {
            "decisions": self.decisions,
            "seconds": self.seconds,
            "win_shares": shares,
            "losses": self.losses,
            "evaluation_seconds": time.perf_counter() - began,
        }
        self.history.append(point)
        self.folder.save_model(self.model, "model.zip")
        if strength >= self.best:
            self.best = strength
            self.folder.save_model(self.model, "best.zip")
        self.folder.write_history(self.game, self.origin(), self.history)
        self.folder.save_state(self.state())
        return point

    def origin(self) -> Origin:
        """Return where the network comes from, as the manifest tells it."""
        return Origin(
            algorithm=self._algorithm(),
            decisions=self.decisions,
            seconds=round(self.seconds, 1),
            seed=self.settings.seed,
            num_players=list(self.sizes),
            options=asdict(self.game.make_options(self.settings.options)),
            reward=self.settings.reward,
            settings=(self.folder / "config.yaml").read_text(encoding="utf-8"),
            command=" && ".join(self.commands),
            machine=command_line.cpu_name(),
            versions=command_line.versions(),
            commits=self.commits,
        )

    def _algorithm(self) -> str:
        teacher = self.settings.teacher
        share = teacher.share
        imitated = min(teacher.imitate_until, share)
        tree = max(min(teacher.tree_after, share), imitated) if teacher.simulations else share
        stages = [
            f"imitation of the greedy baseline until {imitated:.0%}" if imitated > 0 else "",
            f"flat Monte-Carlo search as teacher until {tree:.0%}" if tree > imitated else "",
            f"expert iteration with search:{teacher.simulations} until {share:.0%}" if share > tree else "",
            f"masked PPO {self._playing()}" if share < 1 else "",
        ]
        return ", then ".join(filter(None, stages))

    def _playing(self) -> str:
        opponents = self.settings.opponents
        alone = sum(opponents.values()) == 1
        return f"in one seat against {', '.join(opponents)}" if alone else "in self-play, every seat learned from"

    def begin_with(self, model: MaskablePPO) -> None:
        """Take over the parameters of a network of the same shape."""
        self.model.policy.load_state_dict(model.policy.state_dict())

    def state(self) -> dict[str, Any]:
        """Return all that changes during a run, as tensors and plain data."""
        play = self.self_play
        return {
            "network": self.model.policy.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "games": torch.from_numpy(as_bytes(play.batch.states)),
            "carried": torch.from_numpy(play.carried),
            "earned": torch.from_numpy(play.earned),
            "waiting": [torch.from_numpy(as_bytes(part)) for part in play.waiting()],
            "memory": [torch.from_numpy(as_bytes(part)) for part in self.memory.lessons],
            "remembered": self.memory.added,
            "iteration": self.iteration,
            "decisions": self.decisions,
            "seconds": self.seconds,
            "best": self.best,
            "losses": self.losses,
            "history": self.history,
            "commands": self.commands,
            "commits": self.commits,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go back to a saved state; raise IceError if it belongs to a run of other shape."""
        play = self.self_play
        try:
            self.model.policy.load_state_dict(state["network"])
            self.optimizer.load_state_dict(state["optimizer"])
            as_bytes(play.batch.states)[:] = state["games"].numpy()
            for part, saved in zip(map(as_bytes, play.waiting()), state["waiting"], strict=True):
                part[:] = saved.numpy()
            for part, saved in zip(map(as_bytes, self.memory.lessons), state["memory"], strict=True):
                part[:] = saved.numpy()
            self.memory.added = state["remembered"]
            play.carried, play.earned = state["carried"].numpy(), state["earned"].numpy()
            self.iteration, self.decisions, self.seconds = state["iteration"], state["decisions"], state["seconds"]
            self.best, self.losses, self.history = state["best"], state["losses"], state["history"]
            self.commands = list(dict.fromkeys([*state.get("commands", []), *self.commands]))
            self.commits = list(dict.fromkeys([*state.get("commits", []), *self.commits]))
        except (KeyError, ValueError, TypeError, AttributeError, RuntimeError) as error:
            raise IceError(
                f"{self.folder / 'resume.pt'} does not fit the run's settings: {' '.join(str(error).split())[:200]}"
            ) from error


def load_rivals(settings: TrainSettings, game: Game) -> list[agents.Agent]:
    """Return whom the evaluations are against; raise IceError if there are none, or two of one name."""
    rivals = [agents.load(name, game) for name in settings.evaluate_against]
    names = [rival.name for rival in rivals]
    if not rivals or len(set(names)) < len(names):
        raise IceError(f"evaluate_against must name one or more different agents, not {', '.join(names) or 'none'}")
    return rivals


def as_bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    """Return the memory of a contiguous array as a view of bytes, which torch can save whatever the type."""
    return array.reshape(-1).view(np.uint8)


def check(settings: TrainSettings) -> None:
    """Raise IceError, before any work is done, for settings that cannot be trained with."""
    game = find_game(settings.env)
    sizes = tuple(sorted(set(command_line.choose_table_sizes(game, settings.num_players))))
    game.make_options(settings.options)
    handicaps.check_part(game, settings.handicapped)
    choose("reward", settings.reward, ("win", "score", "margin"))
    if settings.minutes is None and settings.steps is None:
        raise IceError("give the run an end: --minutes or --steps")
    for name in ("minutes", "evaluate_minutes", "learning_rate"):
        value = getattr(settings, name)
        if value is not None and not value > 0:
            raise IceError(f"{name} must be more than 0, not {value}")
    for name in ("steps", "evaluate_steps"):
        if getattr(settings, name) is not None:
            whole_number(name, getattr(settings, name), 1, 1 << 62)
    whole_number("seed", settings.seed, 0, 1 << 63)
    for name in ("threads", "games"):
        whole_number(name, getattr(settings, name), 1, 1 << 20)
    whole_number("horizon", settings.horizon, 2 * max(sizes), 1 << 20)  # what is learned from has a successor
    check_range("final_learning_rate", settings.final_learning_rate, 0)
    check_range("gamma", settings.gamma, 0, 1)
    check_range("trace", settings.trace, 0, 1)
    if min(settings.hidden, default=0) < 1:
        raise IceError(f"hidden must be one or more widths of at least 1, not {settings.hidden}")
    if min(settings.action_hidden, default=1) < 1:
        raise IceError(f"action_hidden must be widths of at least 1, or none, not {settings.action_hidden}")
    kinds = settings.kind_hidden
    if game.kinds and kinds and (len(kinds) != len(settings.hidden) or min(kinds) < 1):
        raise IceError(
            f"kind_hidden must be as many widths of at least 1 as hidden, {len(settings.hidden)}, or none, not {kinds}"
        )
    for name, share in settings.opponents.items():
        agents.load(name, game)
        if not 0 <= share <= 1:
            raise IceError(f"opponents.{name} is a part of the games, from 0 to 1, not {share}")
    if sum(settings.opponents.values()) > 1:
        raise IceError("the parts of the games in opponents add up to more than 1")
    load_rivals(settings, game)
    check_games(settings.evaluation_games, sizes)
    check_games(settings.final_games, sizes)
