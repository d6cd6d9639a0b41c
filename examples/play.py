"""Play Dokitto! Ice in the terminal, against agents.

python examples/play.py --num_players 3 --opponents my_run/agent.json
"""

from __future__ import annotations

import argparse
import sys

import gymnasium

from ice_envs import IceError, find_game


def main() -> None:
    """Play one game."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--num_players", type=int, default=4, help="seats at the table, 2 to 5 (default 4)")
    kinds = "random, greedy (default), a search such as search:1000, or the path of an agent.json"
    parser.add_argument("--opponents", default="greedy", help=kinds)
    parser.add_argument("--seed", type=int, help="play the game of this seed")
    chosen = parser.parse_args()
    table = {"num_players": chosen.num_players, "opponents": chosen.opponents}
    env = gymnasium.make("ice_envs:ice_envs/Dokitto-v0", render_mode="ansi", **table)
    _, info = env.reset(seed=chosen.seed)
    print(f"You are player_{info['seat']}.")
    ended = False
    while not ended:
        print(f"\n{env.render()}\n")
        _, _, terminated, truncated, info = env.step(ask(info["action_mask"].nonzero()[0].tolist()))
        ended = terminated or truncated
    print(f"\n{env.render()}\n\nYou had {info['scores'][0]:g} points, the others {info['scores'][1:].tolist()}.")


def ask(legal: list[int]) -> int:
    """Return the legal action that the player chooses by its number in the list."""
    labels = find_game("dokitto").labels
    print("   ".join(f"{number}: {labels[action]}" for number, action in enumerate(legal, 1)))
    while True:
        answer = input("Your choice: ")
        if answer.isdecimal() and 1 <= int(answer) <= len(legal):
            return legal[int(answer) - 1]
        print(f"Type a number from 1 to {len(legal)}.")


if __name__ == "__main__":
    try:
        main()
    except IceError as error:
        sys.exit(str(error))
    except (EOFError, KeyboardInterrupt):
        print("\nUntil next time.")
