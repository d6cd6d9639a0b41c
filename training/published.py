"""What is measured of a published agent: rows in its manifest, which its model card tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ice_envs.agents import Agent
from ice_envs.agents.manifest import Manifest, ResultsPart, add_results, read_manifest
from ice_envs.agents.portable import PortableAgent
from ice_envs.errors import IceError
from ice_envs.files import check_writable, replacing
from ice_envs.games import find_game
from training.model_card import model_card


def check_target(path: Path, options: Mapping[str, Any], agent: Agent, opponents: Sequence[Agent] = ()) -> ResultsPart:
    """Return which results the manifest at `path` gets if `agent` is measured against `opponents`.

    It is the manifest of one of them: of the agent, or else of all its opponents. Raises IceError if it is neither's,
    if the rule options are not those that it is for, or if it cannot be written.
    """
    manifest = read_manifest(path)
    part: ResultsPart = "evaluation"
    if not _describes(manifest, agent):
        part = "challengers"
        if not opponents or not all(_describes(manifest, opponent) for opponent in opponents):
            only = ", nor of its only opponent" if opponents else ""
            raise IceError(f"{path} is not the manifest of {agent.name}, the agent that is measured{only}")
    if asdict(find_game(manifest["game"]).make_options(options)) != manifest["options"]:
        raise IceError(f"{path} tells of an agent for other rule options: measure it with those, and with --options")
    check_writable(path)
    return part


def _describes(manifest: Manifest, agent: Agent) -> bool:
    return isinstance(agent, PortableAgent) and agent.manifest["onnx"]["sha256"] == manifest["onnx"]["sha256"]


def record_results(path: Path, part: ResultsPart, rows: Sequence[Any]) -> None:
    """Write rows into the manifest at `path`, and let the model card beside it, if there is one, tell them."""
    add_results(path, part, rows)
    card = path.with_name("README.md")
    if card.is_file():
        manifest = read_manifest(path)
        with replacing(card) as partial:
            partial.write_text(model_card(manifest, find_game(manifest["game"])), encoding="utf-8", newline="\n")
