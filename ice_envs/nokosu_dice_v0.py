"""
# Nokosu Dice

A trick-taking game with cards and open dice for three or four. Cards and dice are played alike and must follow suit.
The die that is left of the draft makes a color and a number trumps, and the die that a seat keeps says how many tricks
it has to win.

| Creation           | `pettingzoo.make("aec", "ice_envs/nokosu_dice-v0")`  |
|--------------------|------------------------------------------------------|
| Import             | `from ice_envs import nokosu_dice_v0`                |
| Actions            | Discrete                                             |
| Parallel API       | No                                                   |
| Manual Control     | No                                                   |
| Agents             | `agents= ['player_0', 'player_1', …]`                |
| Number of agents   | 3 to 4 (default 4)                                   |
| Action Shape       | ()                                                   |
| Action Values      | Discrete(71)                                         |
| Observation Shape  | (975,)                                               |
| Observation Values | [0, 160]                                             |

### Arguments

`env(num_players=4, reward="win", render_mode=None, **options)`. The options are the fields of `NokosuDiceOptions`, each
described there: `zero_call`, `tie`, `bonus`. They may also be given for one game:
`env.reset(seed=0, options={"zero_call": "secret"})`.

### Observation Space

A dictionary. `"observation"` is a vector of small whole numbers: all that a seat with a perfect memory knows, its own
seat first and the others clockwise. Its named parts are `find_game("nokosu_dice").layout`, a table of them is in the
docs. All table sizes have one length, so one agent can play them all.

#### Legal Actions Mask

`"action_mask"` is 1 for each legal action of the agent to move, and all zero for the other agents; the same mask is in
`infos[agent]["action_mask"]`. An illegal action ends the game with −1 for the agent that took it and 0 for the others;
`raw_env` refuses it with an error and stays as it was.

### Action Space

0–39 play a card (`color * 8 + number`), 40–69 a die (`40 + color * 6 + number - 1`): taken in the draft, returned for a
zero call, or played to a trick; 70 make no zero call. `find_game("nokosu_dice").labels` names them.

### Rewards

`"win"` (default) comes at the end: (n · share − 1) / (n − 1), where the k leaders of n seats share the win, 1/k each;
so 1 for winning alone, and the sum is zero. `"score"` gives points when a round is scored, `"margin"` the same minus
the mean of the others' points.

### Ending

The game terminates after as many rounds as there are seats; it is never truncated.

### Rendering

`render_mode="ansi"` returns, and `"human"` prints, the table as the agent to move sees it: hidden cards stay hidden.

### Version History

* v0: First version (0.1.0)
"""  # noqa: D212, D415 – a page in PettingZoo's form

from __future__ import annotations

from typing import Any

from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from ice_envs.faces.aec import CardGameEnv, Observation, aec_metadata, wrapped
from ice_envs.games import find_game

_GAME = find_game("nokosu_dice")


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
