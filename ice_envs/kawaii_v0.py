"""
# Kawaii

A slapping game in real time for two to five, told in ticks. Everybody flips ice creams onto piles, and whoever slaps a
pile first with a token takes it: those of the favorite flavor and shape count. The token goes to the pile's owner.

| Creation           | `pettingzoo.make("aec", "ice_envs/kawaii-v0")`   |
|--------------------|--------------------------------------------------|
| Import             | `from ice_envs import kawaii_v0`                 |
| Actions            | Discrete                                         |
| Parallel API       | Yes: `make("parallel", …)` or `parallel_env()`   |
| Manual Control     | No                                               |
| Agents             | `agents= ['player_0', 'player_1', …]`            |
| Number of agents   | 2 to 5 (default 4)                               |
| Action Shape       | ()                                               |
| Action Values      | Discrete(32)                                     |
| Observation Shape  | (907,)                                           |
| Observation Values | [0, 189]                                         |

### Arguments

`env(num_players=4, reward="win", render_mode=None, **options)`. The options are the fields of `KawaiiOptions`, each
described there: `window_ticks`, `reaction_ticks`, `handicaps`, `flipper_delay`, `favorites`, `memory`. They may also be
given for one game: `env.reset(seed=0, options={"window_ticks": 5})`. `parallel_env` has the same arguments and
`illegal="lose"` or `"raise"`.

### The two faces

In `env` the seats of one tick are asked one after the other, clockwise from the left of the last flipper, none seeing
what the others of that tick do. In `parallel_env` a step is such a tick: all agents act, and those that are not asked
may only let it pass. Ticks in which nobody is asked are no steps. One seed and the same decisions are the same game.

### Observation Space

A dictionary. `"observation"` is a vector of small whole numbers: all that lies open, and the own secret favorites;
the own seat comes first, then the others clockwise. With `memory=True` it says only what can be seen at the moment. Its
named parts are `find_game("kawaii").layout`, a table of them is in the docs. All table sizes have one length, so one
agent can play them all.

#### Legal Actions Mask

`"action_mask"` is 1 for each legal action; the same mask is in `infos[agent]["action_mask"]`. In `env` it is all zero
for agents that are not to move, in `parallel_env` it then allows action 0 alone. An illegal action ends the game with
−1 for the agent that took it and 0 for the others; `raw_env` and `illegal="raise"` refuse it with an error and stay as
they were.

### Action Space

A set of piles to slap: bit k stands for the pile k places clockwise of the own one (bit 0), action 0 lets it pass.
`find_game("kawaii").labels` names them.

### Rewards

`"win"` (default) comes at the end: (n · share − 1) / (n − 1), where the k leaders of n seats share the win, 1/k each;
so 1 for winning alone, and the sum is zero. `"score"` gives points when a round is scored, `"margin"` the same minus
the mean of the others' points.

### Ending

The game terminates after three rounds. It is never truncated.

### Rendering

`render_mode="ansi"` returns, and `"human"` prints, the table as the agent to move sees it: hidden cards stay hidden.
The parallel face shows it as the first agent that is asked sees it.

### Version History

* v0: First version (0.1.0)
"""  # noqa: D212, D415 – a page in PettingZoo's form

from __future__ import annotations

from typing import Any

from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from ice_envs.faces.aec import CardGameEnv, Observation, aec_metadata, wrapped
from ice_envs.faces.parallel import ParallelCardGameEnv
from ice_envs.games import find_game

_GAME = find_game("kawaii")


class raw_env(CardGameEnv):  # noqa: N801 – PettingZoo's name for it
    """The game without wrappers; see `CardGameEnv` for the arguments."""

    metadata = aec_metadata(_GAME)

    def __init__(
        self, num_players: int = 4, reward: str = "win", render_mode: str | None = None, **options: Any
    ) -> None:
        super().__init__(_GAME, num_players, reward, render_mode, **options)


def env(
    num_players: int = 4, reward: str = "win", render_mode: str | None = None, **options: Any
) -> OrderEnforcingWrapper[str, Observation, Any]:
    """Return the game in PettingZoo's usual wrappers; see `CardGameEnv` for the arguments."""
    return wrapped(raw_env(num_players, reward, render_mode, **options))


def parallel_env(
    num_players: int = 4,
    reward: str = "win",
    render_mode: str | None = None,
    illegal: str = "lose",
    **options: Any,
) -> ParallelCardGameEnv:
    """Return the game in which a step is a tick; see `ParallelCardGameEnv` for the arguments."""
    return ParallelCardGameEnv(_GAME, num_players, reward, render_mode, illegal, **options)
