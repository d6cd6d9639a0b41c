"""Proximal policy optimization (Schulman et al. 2017) with action masks, on decisions from self-play."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from ice_envs.errors import check_range, whole_number
from training.network import ActorCritic
from training.selfplay import Decisions, torch_generator


@dataclass(frozen=True)
class PPO:
    """Settings of learning from self-play."""

    epochs: int = 2
    """Times that each decision is learned from."""
    minibatch: int = 4096
    """Decisions in one step of the optimizer."""
    clip: float = 0.2
    """How far the probability of an action may move before its gradient is cut off, as a ratio."""
    entropy: float = 0.01
    """Weight of the policy's entropy."""
    value_weight: float = 0.5
    """Weight of the value's squared error."""
    max_grad_norm: float = 0.5
    """Longer gradients are shortened to this norm."""

    def __post_init__(self) -> None:
        whole_number("ppo.epochs", self.epochs, 1, 1 << 10)
        whole_number("ppo.minibatch", self.minibatch, 1, 1 << 30)
        for name in ("clip", "entropy", "value_weight", "max_grad_norm"):
            check_range(f"ppo.{name}", getattr(self, name), 0)

    def learn(
        self,
        network: ActorCritic,
        optimizer: torch.optim.Optimizer,
        decisions: Decisions,
        seed: np.random.SeedSequence,
    ) -> dict[str, float]:
        """Improve the network on these decisions; return means over the minibatches for the curves."""
        device = next(network.parameters()).device
        observation, mask, action, log_probability, value, advantage = (
            torch.from_numpy(part).to(device) for part in decisions[1:]
        )
        returns = value + advantage
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        sums: dict[str, float] = {}
        batches = 0
        for rows in self._minibatches(len(action), torch_generator(seed)):
            losses = self._losses(
                network,
                observation.index_select(0, rows),  # copies whole rows, seven times faster than observation[rows]
                mask.index_select(0, rows),
                action[rows],
                log_probability[rows],
                advantage[rows],
                returns[rows],
            )
            optimizer.zero_grad(set_to_none=True)
            losses["loss"].backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(network.parameters(), self.max_grad_norm)
            optimizer.step()
            batches += 1
            for name, loss in losses.items():
                sums[name] = sums.get(name, 0.0) + float(loss.detach())
        means = {name: total / batches for name, total in sums.items()}
        means["explained_variance"] = float(1 - np.var(decisions.advantage) / (np.var(returns.cpu().numpy()) + 1e-8))
        return means

    def _minibatches(self, rows: int, generator: torch.Generator) -> Iterator[torch.Tensor]:
        for _ in range(self.epochs):
            order = torch.randperm(rows, generator=generator)
            yield from torch.tensor_split(order, max(rows // self.minibatch, 1))

    def _losses(
        self,
        network: ActorCritic,
        observation: torch.Tensor,
        mask: torch.Tensor,
        action: torch.Tensor,
        log_probability: torch.Tensor,
        advantage: torch.Tensor,
        returns: torch.Tensor,
    ) -> dict[str, torch.Tensor]:
        logits, value = network(observation.float(), mask.float())
        log_probabilities = torch.log_softmax(logits, dim=-1)
        chosen = log_probabilities.gather(1, action[:, None])[:, 0]
        ratio = torch.exp(chosen - log_probability)
        clipped = torch.clamp(ratio, 1 - self.clip, 1 + self.clip)
        policy_loss = -torch.minimum(ratio * advantage, clipped * advantage).mean()
        value_loss = torch.nn.functional.mse_loss(value[:, 0], returns)
        # softmax and not exp(log_softmax): exp is fifteen times slower where it underflows, at the masked actions
        entropy = -(torch.softmax(logits, dim=-1) * log_probabilities).sum(dim=-1).mean()
        with torch.no_grad():
            divergence = ((ratio - 1) - torch.log(ratio)).mean()
            outside = ((ratio - 1).abs() > self.clip).float().mean()
        return {
            "loss": policy_loss + self.value_weight * value_loss - self.entropy * entropy,
            "policy_loss": policy_loss,
            "value_loss": value_loss,
            "entropy": entropy,
            "kl": divergence,
            "clipped": outside,
        }
