"""
# Ice Split

A drafting game for two to four. Every card is a goal on its left half and a flavor of ice cream on its right half: laid
at the left end of one's display it shows the goal, laid at the right end the flavor. After thirteen cards each, goals
that the flavors meet pay their points.

The published list of the 63 cards could not be found: the default deck is a reconstruction. Owners of the game can pass
the real cards: `deck="path.csv"`.

| Creation           | `pettingzoo.make("aec", "ice_envs/ice_split-v0")` |
|--------------------|---------------------------------------------------|
| Import             | `from ice_envs import ice_split_v0`               |
| Actions            | Discrete                                          |
| Parallel API       | No                                                |
| Manual Control     | No                                                |
| Agents             | `agents= ['player_0', 'player_1', …]`             |
| Number of agents   | 2 to 4 (default 4)                                |
| Action Shape       | ()                                                |
| Action Values      | Discrete(253)                                     |
| Observation Shape  | (834,)                                          |
| Observation Values | [0, 63]                                           |

### Arguments

`env(num_players=4, reward="win", render_mode=None, **options)`. The options are the fields of `IceSplitOptions`, each
described there: `sequence`, `two_pairs`, `duplicate_goals`, `deck`. They may also be given for one game:
`env.reset(seed=0, options={"sequence": "subsequence"})`.

### Observation Space

A dictionary. `"observation"` is a vector of small whole numbers: all that a seat with a perfect memory knows, its own
seat first and the others clockwise. Its named parts are `find_game("ice_split").layout`; the docs have a table of them.
All table sizes have one length, so one agent can play them all.

#### Legal Actions Mask

`"action_mask"` is 1 for each legal action of the agent to move, and all zero for the other agents; the same mask is in
`infos[agent]["action_mask"]`. An illegal action ends the game with −1 for the agent that took it and 0 for the others;
`raw_env` refuses it with an error and stays as it was.

### Action Space

With cards numbered from 0 to 62: 0–62 start with a card, 63–125 play it as a goal, 126–188 play it as a flavor, 189–251
take it from the market, 252 draw from the deck. `find_game("ice_split").labels` names them.

### Rewards

`"win"` (default) comes at the end: (n · share − 1) / (n − 1), where the k winners of n seats share the win, 1/k each;
so 1 for winning alone, and the sum is zero. `"score"` gives the change of the points of the goals met, which may be
negative: a goal that is met can be spoiled. `"margin"` gives the same minus the mean of the others' changes.

### Ending

The game terminates when every display has thirteen cards; it is never truncated.

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

_GAME = find_game("ice_split")


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
