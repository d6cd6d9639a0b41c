"""The model card of a published agent: the README.md beside it, whose every figure comes from the manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ice_envs.agents.manifest import EvaluationRow, Manifest
from ice_envs.engine.game import Game
from training.markdown import table, with_interval

FILES = """\
| file | what it is |
| --- | --- |
| `agent.onnx` | the model: raw observations and masks in, masked logits and values out |
| `agent.json` | the manifest: what every cell and action means, where the agent comes from, how it was evaluated |
| `parity.json` | positions with the model's answers, with which a front end tests itself |
| `README.md` | this page, made from `agent.json` |"""
TAGS = ("reinforcement-learning", "multi-agent", "self-play", "card-game", "onnx", "ice_envs")


def model_card(manifest: Manifest, game: Game) -> str:
    """Return the card as Markdown, with the front matter that model hubs read."""
    rows = [row for row in manifest["evaluation"] if "handicap" not in row]
    sections = [
        ("Strength", strength(rows)),
        ("Seat by seat", seats(rows)),
        ("Exploitability", exploitability(manifest)),
        ("Files", FILES),
        ("Use", use(manifest)),
        ("Training", training(manifest)),
        ("Limits", "\n".join(f"- {sentence}" for sentence in manifest["limits"])),
    ]
    parts = [front_matter(manifest), f"# {manifest['name']}: an agent for {game.title}", f"{manifest['description']}."]
    parts += [f"## {title}\n\n{text}" for title, text in sections if text]
    return "\n\n".join(parts) + "\n"


def front_matter(manifest: Manifest) -> str:
    """Return what model hubs read of a card."""
    tags = "".join(f"  - {tag}\n" for tag in (*TAGS, manifest["game"]))
    return f"---\nlicense: {manifest['licence'].lower()}\nlibrary_name: onnx\ntags:\n{tags}---"


def strength(rows: Sequence[EvaluationRow]) -> str:
    """Return the win shares against each kind of opponent at each table size."""
    lines = [
        (
            row["num_players"],
            row["opponent"],
            with_interval(row["win_share"], row["interval"]),
            f"{row['fair_share']:.3f}",
            with_interval(row["margin"], row["margin_interval"], 2),
            f"{row['games']:,}",
        )
        for row in sorted(rows, key=lambda row: (row["opponent"], row["num_players"]))
    ]
    return (
        f"{table(('seats', 'opponent', 'win share', 'fair', 'points ahead', 'games'), lines)}\n\n"
        "The agent sits in one seat, the opponent in all others; every deal is played once in each seat. A victory "
        "shared by *k* seats counts 1/*k*, fair is one part in as many as there are seats, and points ahead are the "
        "agent's points less the mean of the others'. In brackets 95 % intervals of means over deals."
    )


def seats(rows: Sequence[EvaluationRow]) -> str:
    """Return the win shares in each seat."""
    most = max(len(row["per_seat"]) for row in rows)
    lines = []
    for row in sorted(rows, key=lambda row: (row["opponent"], row["num_players"])):
        shares = {seat["seat"]: with_interval(seat["win_share"], seat["interval"]) for seat in row["per_seat"]}
        lines.append((row["num_players"], row["opponent"], *(shares.get(seat, "") for seat in range(most))))
    return table(("seats", "opponent", *(f"in seat {seat}" for seat in range(most))), lines)


def exploitability(manifest: Mapping[str, Any]) -> str:
    """Return what adversaries that were trained against the agent alone have reached, nothing if none were."""
    lines = [tuple(_exploiter(row)) for row in manifest.get("exploitability") or []]
    if not lines:
        return ""
    header = ("seats", "win share of one adversary", "fair", "minutes of its training")
    return (
        f"{table(header, lines)}\n\nAn adversary was trained against this agent alone, which plays all other seats and "
        "does not learn. Where it wins more than the fair share, the agent can be exploited."
    )


def _exploiter(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield the cells of an adversary's row; what the row does not tell is left open."""
    share, interval, fair = row.get("win_share"), row.get("interval"), row.get("fair_share")
    yield f"{row.get('num_players', '?')}"
    if share is None:
        yield "?"
    else:
        yield with_interval(share, interval) if interval else f"{share:.3f}"
    yield "?" if fair is None else f"{fair:.3f}"
    yield f"{row.get('minutes', '?')}"


def use(manifest: Manifest) -> str:
    """Return the shortest way to a move."""
    return (
        "```python\nfrom ice_envs import agents\n\n"
        f'agent = agents.load("checkpoints/{manifest["game"]}/agent.json")  # numpy and onnxruntime, no torch\n'
        "print(agent.act(view).label)  # view: what one seat knows, as JSON data\n```\n\n"
        "For HTTP, Node and the browser see `docs/front_ends.md` of the repository. The model is one of "
        f"{manifest['onnx']['bytes']:,} bytes, opset {manifest['onnx']['opset']}, with SHA-256 "
        f"`{manifest['onnx']['sha256']}`; observations have {manifest['observation']['shape'][1]} cells (layout "
        f"`{manifest['observation']['layout_hash']}`), and there are {manifest['actions']['n']} actions (labels "
        f"`{manifest['actions']['labels_hash']}`). It plays {manifest['env_id']} with "
        f"{', '.join(map(str, manifest['seats']))} seats."
    )


def training(manifest: Manifest) -> str:
    """Return where the agent comes from."""
    told = manifest["training"]
    seconds = told.get("seconds")
    facts = {
        "algorithm": told.get("algorithm"),
        "decisions learned from": _number(told.get("decisions")),
        "minutes": None if seconds is None else f"{seconds / 60:.0f}",
        "seed": told.get("seed"),
        "command": f"`{told['command']}`" if told.get("command") else None,
        "reward": told.get("reward"),
        "rule options": _options(manifest["options"]),
        "made by": manifest["onnx"]["producer"],
        "created": manifest["created"],
    }
    lines = table(("what", "value"), [(what, value) for what, value in facts.items() if value is not None])
    settings = str(told.get("settings") or "").strip()
    if not settings:
        return lines
    return f"{lines}\n\n<details><summary>Every setting of the run</summary>\n\n```yaml\n{settings}\n```\n\n</details>"


def _number(value: object) -> object:
    return f"{value:,}" if isinstance(value, int) else value


def _options(options: Mapping[str, Any]) -> str:
    """Return rule options in a line; long ones, such as the rows of a deck, only by their length."""
    shown = {
        name: f"{len(value)} rows" if isinstance(value, list) and value else value for name, value in options.items()
    }
    return ", ".join(f"{name} {value}" for name, value in shown.items())
