"""Check an installed copy of the package, outside of the checkout and with base dependencies alone.

python .ci/check_install.py                                   everything that needs no extra
python .ci/check_install.py --agent run/agent.json            and that this file asks for the extra it needs
python .ci/check_install.py --agent run/agent.json --playable  and that it plays, and answers its parity.json
python .ci/check_install.py --agent … --playable --served     and that it answers over HTTP
python .ci/check_install.py --published checkpoints/*/agent.json  only that these answer their parity.json
python .ci/check_install.py --lowest                          print the lowest versions of the base dependencies
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import re
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pettingzoo

import ice_envs
from ice_envs import Batch, IceError, agents, dokitto_v0

HEAVY = ("torch", "stable_baselines3", "pygame", "matplotlib")


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agent", help="an agent.json")
    parser.add_argument("--playable", action="store_true", help="onnxruntime is installed")
    parser.add_argument("--served", action="store_true", help="the service's packages are installed")
    parser.add_argument("--published", nargs="+", default=[], help="agents of any games")
    parser.add_argument("--lowest", action="store_true")
    chosen = parser.parse_args()
    if chosen.lowest:
        print("\n".join(lowest_versions()))
        return
    check_package()
    if chosen.published:
        for manifest in chosen.published:
            answer_views(manifest)
        print(f"{len(chosen.published)} published agents answer as the networks did that they were exported from")
        return
    play_batch()
    play_pettingzoo()
    play_gymnasium()
    assert 'pip install "ice_envs[train]"' in refusal(lambda: importlib.import_module("ice_envs.faces.sb3"))
    if chosen.agent and chosen.playable:
        play_gymnasium(opponents=chosen.agent)
        answer_views(chosen.agent)
    elif chosen.agent:
        assert 'pip install "ice_envs[agents]"' in refusal(lambda: agents.load(chosen.agent))
    if chosen.served:
        ask_service(chosen.agent)
    else:
        told = subprocess.run([sys.executable, "-m", "ice_envs.serve"], capture_output=True, text=True, check=False)
        assert (told.returncode, told.stdout) == (2, "")
        assert 'pip install "ice_envs[serve]"' in told.stderr
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name, _ in base_dependencies())
    print(f"ice_envs {importlib.metadata.version('ice_envs')} works with {versions}")


def base_dependencies() -> list[tuple[str, str]]:
    """Return name and lowest version of each dependency that no extra brings."""
    wanted = [line for line in importlib.metadata.requires("ice_envs") or [] if "extra ==" not in line]
    return [(re.match(r"[\w.-]+", line)[0], re.search(r">=([\d.]+)", line)[1]) for line in wanted]


def lowest_versions() -> list[str]:
    """Return the base dependencies as pip takes them, each in its lowest version."""
    return [f"{name}=={version}" for name, version in base_dependencies()]


def check_package() -> None:
    """What is imported is the installed copy, typed, light, and without our training beside it."""
    folder = Path(ice_envs.__file__).parent
    assert folder.is_relative_to(sys.prefix), f"{folder} is not the installed copy"
    assert (folder / "py.typed").is_file(), "the wheel lacks py.typed"
    assert find_spec("training") is None, "the wheel takes the name 'training' for itself"
    assert not set(HEAVY) & set(sys.modules), "ice_envs imports something heavy"
    assert all(find_spec(name) is None for name in HEAVY), "this environment has more than the base dependencies"


def play_batch() -> None:
    """A batch of all table sizes plays."""
    batch = Batch("dokitto", 256, num_players=(2, 3, 4, 5), num_threads=2)
    ended = 0
    for _ in range(200):
        ended += int(batch.step(batch.observe()[1].argmax(axis=1))[1].sum())
    assert ended > 256


def play_pettingzoo() -> None:
    """Both spellings of the id make the game, and the module does; a game goes to its end."""
    dashed, underscored = (pettingzoo.spec("aec", f"ice_envs/dokitto{end}") for end in ("-v0", "_v0"))
    assert dashed == underscored
    assert issubclass(dokitto_v0.raw_env, pettingzoo.AECEnv)
    for env in (pettingzoo.make("aec", "ice_envs/dokitto_v0"), dokitto_v0.env(num_players=2)):
        env.reset(seed=0)
        for agent in env.agent_iter():
            observation, _, termination, truncation, _ = env.last()
            over = termination or truncation
            env.step(None if over else env.action_space(agent).sample(observation["action_mask"]))
        assert env.agents == []


def play_gymnasium(opponents: str = "greedy") -> None:
    """One seat plays to the end of a game, and many games side by side."""
    env = gymnasium.make("ice_envs:ice_envs/Dokitto-v0", opponents=opponents)
    _, info = env.reset(seed=0)
    ended = False
    while not ended:
        _, _, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
        ended = terminated or truncated
    assert np.isclose(info["win_shares"].sum(), 1)
    envs = gymnasium.make_vec("ice_envs:ice_envs/Dokitto-v0", num_envs=16, opponents=opponents)
    _, infos = envs.reset(seed=0)
    for _ in range(20):
        *_, infos = envs.step(infos["action_mask"].argmax(axis=1))


def parity_of(manifest: str) -> list[dict[str, Any]]:
    """Return the positions of the parity.json beside a manifest."""
    return json.loads(Path(manifest).with_name("parity.json").read_text(encoding="utf-8"))["positions"]


def answer_views(manifest: str) -> None:
    """An agent answers JSON views as the network did that it was exported from; torch is not here."""
    agent = agents.load(manifest)
    for position in parity_of(manifest):
        move = agent.act(position["view"])
        assert move.action == position["action"]
        assert abs(move.value - position["value"]) < 1e-4
    assert not set(HEAVY) & set(sys.modules), "playing an agent imports something heavy"


def ask_service(manifest: str) -> None:
    """The service starts, answers a view, and stops."""
    command = [sys.executable, "-m", "ice_envs.serve", "--agents", manifest, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service:
        address = re.search(r"http://[\d.:]+", service.stdout.readline())[0]
        position = parity_of(manifest)[0]
        body = json.dumps(position["view"]).encode()
        with urllib.request.urlopen(f"{address}/games/{position['view']['game']}/move", body) as answer:
            assert json.load(answer)["action"] == position["action"]
        service.terminate()


def refusal(call: Callable[[], object]) -> str:
    """Return the sentence with which a call is refused."""
    try:
        call()
    except IceError as error:
        return str(error)
    return "nothing was refused"


if __name__ == "__main__":
    main()
