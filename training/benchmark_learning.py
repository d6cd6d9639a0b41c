"""The benchmark's section on training: from end to end, next to the arithmetic alone and to a stock learner."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger

from ice_envs.engine.game import Game
from ice_envs.faces.sb3 import SB3VecEnv
from training import command_line
from training.benchmark_games import RATIO, Bench, Measurement, Work, ratios, speed
from training.network import ActorCritic, new_model
from training.run import Run, TrainSettings
from training.run_folder import RunFolder
from training.starting import SHAPE
from training.train import PROGRAM

STOCK_MINIBATCHES = 4
BOXED_GAMES = 8
"""Stable-Baselines3 has no default for these; its guide's examples play from 4 to 16."""


class Arithmetic:
    """The passes through the network that one round of training makes, on ready float tensors: nothing else.

    Args:
        run: the training run.
        decisions: how many it learns from in a round; as many are taken to be chosen in `horizon` forward passes.
    """

    def __init__(self, run: Run, decisions: int) -> None:
        settings = run.settings
        self._decisions, self._choices = decisions, settings.horizon
        count = max(decisions // settings.ppo.minibatch, 1)
        self._steps = settings.ppo.epochs * count
        # a rate of 0 costs what any other does, and the network stays as it is
        model = new_model(run.game, settings.shape, 0.0, settings.seed, "cpu")
        self._network, self._optimizer = ActorCritic(model.policy), model.policy.optimizer
        self._chosen = self._inputs(run.game, decisions // settings.horizon)
        self._learned = self._inputs(run.game, decisions // count)
        self._gradients = [torch.full_like(output, 1e-3) for output in self._network(*self._learned)]

    @staticmethod
    def _inputs(game: Game, rows: int) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.ones(rows, game.layout.size), torch.ones(rows, game.num_actions)

    def work(self) -> float:
        """Make the passes of one round; return the number of decisions."""
        with torch.no_grad():
            for _ in range(self._choices):
                self._network(*self._chosen)
        for _ in range(self._steps):
            self._optimizer.zero_grad(set_to_none=True)
            torch.autograd.backward(self._network(*self._learned), self._gradients)
            self._optimizer.step()
        return self._decisions


def training(bench: Bench) -> list[Measurement]:
    """Measure training from end to end, next to its network's arithmetic alone and to stock MaskablePPO."""
    run, taught = new_run(bench, taught=False), new_run(bench, taught=True)
    learn_work(run)  # the first rollout keeps the last decision of every seat for the next one
    arithmetic = Arithmetic(run, int(learn_work(run)))
    stock = [stock_learner(run, games, bench.num_players) for games in bench.effort.stock_games]
    boxed = boxed_learner(run, bench.num_players, bench.effort.stock_horizon)
    works: list[Work] = [partial(learn_work, run), arithmetic.work, partial(learn_work, taught)]
    works += [partial(stock_work, model) for model in [*stock, boxed]]
    samples = [partial(speed, work, 0.0) for work in works]
    for sample in samples:
        sample()
    ours, bound, teaching, *others, plain = bench.in_turn("training", samples, bench.effort.slow_repeats)
    fastest = max(others, key=np.median)
    described, teacher = described_training(run), asdict(taught.settings.teacher)
    described_stock = [
        described
        | {"num_players": bench.num_players, "opponents": "random"}
        | {"games": model.n_envs, "horizon": model.n_steps, "minibatch": model.batch_size}
        for model in stock
    ]
    described_boxed = described_stock[0] | {
        "games": boxed.n_envs,
        "horizon": boxed.n_steps,
        "minibatch": boxed.batch_size,
        "epochs": boxed.n_epochs,
    }
    return [
        Measurement("learning included", "decisions/s", ours, described),
        Measurement("the network's arithmetic alone", "decisions/s", bound, described),
        Measurement("taught by the search", "decisions/s", teaching, {**described, "teacher": teacher}),
        *(
            Measurement(f"stock MaskablePPO, {theirs['games']} games", "decisions/s", values, theirs)
            for theirs, values in zip(described_stock, others, strict=True)
        ),
        Measurement("stock MaskablePPO, its own defaults", "decisions/s", plain, described_boxed),
        Measurement("over the arithmetic alone", RATIO, ratios(ours, bound), described),
        Measurement("over the fastest stock MaskablePPO", RATIO, ratios(ours, fastest), described),
        Measurement("over stock MaskablePPO, its own defaults", RATIO, ratios(ours, plain), described),
    ]


def new_run(bench: Bench, taught: bool) -> Run:
    """Return a run with the game's default settings, on the CPU: of its taught part, or of self-play with PPO."""
    settings = command_line.read_settings(TrainSettings, PROGRAM, [f"--env={bench.game.name}"], game_defaults=True)
    settings = replace(
        settings,
        games=bench.effort.games or settings.games,
        horizon=bench.effort.horizon or settings.horizon,
        threads=bench.threads,
        seed=bench.seed,
        device="cpu",
        teacher=replace(settings.teacher, share=float(taught)),
        ppo=replace(settings.ppo, minibatch=bench.effort.minibatch or settings.ppo.minibatch),
    )
    return Run(settings, RunFolder(os.devnull))  # nothing is ever written


def learn_work(run: Run) -> float:
    """Let a run play and learn once; return the number of decisions."""
    before = run.decisions
    run.learn()
    return run.decisions - before


def described_training(run: Run) -> dict[str, Any]:
    """Return the settings that training's speed depends on."""
    settings = run.settings
    names = ("env", "games", "horizon", *SHAPE, "threads", "opponents")
    return {
        **{name: getattr(settings, name) for name in names},
        "num_players": list(run.sizes),
        "minibatch": settings.ppo.minibatch,
        "epochs": settings.ppo.epochs,
    }


def stock_learner(run: Run, games: int, num_players: int) -> MaskablePPO:
    """Return stock MaskablePPO with our network and our settings; its opponents cost least: they play at random."""
    settings, ppo = run.settings, run.settings.ppo
    steps = max(STOCK_MINIBATCHES * ppo.minibatch // games, 1)
    model = MaskablePPO(
        run.model.policy_class,  # type: ignore[arg-type]  # a policy with masks, as ours is
        SB3VecEnv(run.game, games, num_players, opponents="random", seed=settings.seed),
        learning_rate=settings.learning_rate,
        n_steps=steps,
        batch_size=games * steps // STOCK_MINIBATCHES,
        n_epochs=ppo.epochs,
        gamma=settings.gamma,
        gae_lambda=settings.trace,
        clip_range=ppo.clip,
        ent_coef=ppo.entropy,
        vf_coef=ppo.value_weight,
        max_grad_norm=ppo.max_grad_norm,
        policy_kwargs=run.model.policy_kwargs,
        seed=settings.seed,
        device="cpu",
    )
    model.set_logger(Logger(None, []))  # its own would leave a folder behind
    return model


def boxed_learner(run: Run, num_players: int, horizon: int) -> MaskablePPO:
    """Return stock MaskablePPO as it comes, but for our network and a horizon that the benchmark may shorten."""
    model = MaskablePPO(
        run.model.policy_class,  # type: ignore[arg-type]  # a policy with masks, as ours is
        SB3VecEnv(run.game, BOXED_GAMES, num_players, opponents="random", seed=run.settings.seed),
        n_steps=horizon,
        policy_kwargs=run.model.policy_kwargs,
        seed=run.settings.seed,
        device="cpu",
    )
    model.set_logger(Logger(None, []))
    return model


def stock_work(model: MaskablePPO) -> float:
    """Let stock MaskablePPO play and learn once; return the number of decisions."""
    decisions = model.n_envs * model.n_steps
    model.learn(decisions, reset_num_timesteps=False, log_interval=sys.maxsize)  # never log
    return decisions
