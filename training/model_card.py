"""The model card of a published agent: the README.md beside it, whose every figure comes from the manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
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
EXPLANATION = (
    "The agent sits in one seat, the opponent in all others. Where the opponent's win share is told too, it is the "
    "other way round: one such opponent, and the agent in all other seats. Every deal is played once in each seat. A "
    "victory shared by *k* seats counts 1/*k*, fair is one part in as many as there are seats, and points ahead are "
    "the agent's points less the mean of the others'. In brackets 95 % intervals of means over deals."
)
TAGS = ("reinforcement-learning", "multi-agent", "self-play", "card-game", "onnx", "ice_envs")


def model_card(manifest: Manifest, game: Game) -> str:
    """Return the card as Markdown, with the front matter that model hubs read."""
    sections = [
        ("Strength", f"{strength(manifest)}\n\n{EXPLANATION}"),
        ("Seat by seat", seats(manifest)),
        ("Exploitability", exploitability(manifest)),
        ("Files", FILES),
        ("Use", use(manifest)),
        ("Training", training(manifest)),
        ("Limits", "\n".join(f"- {sentence}" for sentence in (*weaknesses(manifest), *manifest["limits"]))),
    ]
    parts = [front_matter(manifest), f"# {manifest['name']}: an agent for {game.title}", f"{manifest['description']}."]
    parts += [f"## {title}\n\n{text}" for title, text in sections if text]
    return "\n\n".join(parts) + "\n"


def front_matter(manifest: Manifest) -> str:
    """Return what model hubs read of a card."""
    tags = "".join(f"  - {tag}\n" for tag in (*TAGS, manifest["game"]))
    return f"---\nlicense: {manifest['licence'].lower()}\nlibrary_name: onnx\ntags:\n{tags}---"


def strength(manifest: Manifest) -> str:
    """Return the win shares against each kind of opponent at each table size, and those of one such among agents."""
    own = _by_opponent(manifest["evaluation"], "opponent")
    theirs = _by_opponent(manifest.get("challengers", []), "agent")
    header = ["seats", "opponent", "fair", "win share of the agent", "points ahead", "games"]
    header += ["win share of the opponent", "games"] if theirs else []
    lines = []
    for opponent, size in sorted(own.keys() | theirs.keys()):
        one, other = own.get((opponent, size)), theirs.get((opponent, size))
        line = [size, opponent, f"{1 / size:.3f}", *_share(one)]
        line.insert(4, with_interval(one["margin"], one["margin_interval"], 2) if one else "")
        lines.append([*line, *_share(other)] if theirs else line)
    rows = [*own.values(), *theirs.values()]
    dates = " and ".join(sorted({row["date"][:10] for row in rows}))
    machines = " or ".join(sorted({row["cpu"] for row in rows if "cpu" in row}))
    return f"{table(header, lines)}\n\nMeasured {dates}{f' on {machines}' if machines else ''}."


def weaknesses(manifest: Manifest) -> Iterator[str]:
    """Yield a sentence for each opponent that is as good as the agent, or better, at some table sizes."""
    found: dict[str, list[str]] = {}
    for (opponent, size), row in sorted(_by_opponent(manifest["evaluation"], "opponent").items()):
        low, high = row["interval"]
        if low <= row["fair_share"]:
            how = "weaker than" if high < row["fair_share"] else "not clearly stronger than"
            found.setdefault(f"{how} `{opponent}`", []).append(str(size))
    for what, sizes in found.items():
        *first, last = sizes
        yield f"With {', '.join(first) + ' and ' if first else ''}{last} seats it is {what}: see above."


def _by_opponent(rows: Sequence[EvaluationRow], side: str) -> dict[tuple[str, int], EvaluationRow]:
    """Return the rows without handicap, by the name on one side of the table, and table size."""
    return {(row[side], row["num_players"]): row for row in rows if "handicap" not in row}  # type: ignore[literal-required]


def _share(row: EvaluationRow | None) -> list[str]:
    """Return a win share and of how many games."""
    return [with_interval(row["win_share"], row["interval"]), f"{row['games']:,}"] if row else ["", ""]


def seats(manifest: Manifest) -> str:
    """Return the agent's win shares in each seat."""
    rows = _by_opponent(manifest["evaluation"], "opponent")
    most = max(len(row["per_seat"]) for row in rows.values())
    lines = []
    for (opponent, size), row in sorted(rows.items(), key=itemgetter(0)):
        shares = {seat["seat"]: with_interval(seat["win_share"], seat["interval"]) for seat in row["per_seat"]}
        lines.append((size, opponent, *(shares.get(seat, "") for seat in range(most))))
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
        "In the folder of these files (it takes onnxruntime, no torch):\n\n"
        "```python\nimport json\nfrom pathlib import Path\n\nfrom ice_envs import agents\n\n"
        'agent = agents.load("agent.json")\n'
        'view = json.loads(Path("parity.json").read_text("utf-8"))["positions"][0]["view"]  # or your own\n'
        "print(agent.act(view).label)\n```\n\n"
        "For HTTP, Node and the browser see `docs/front_ends.md` of the repository. The model has "
        f"{manifest['onnx']['bytes']:,} bytes, opset {manifest['onnx']['opset']}, with SHA-256 "
        f"`{manifest['onnx']['sha256']}`; observations have {manifest['observation']['shape'][1]} cells (layout "
        f"`{manifest['observation']['layout_hash']}`), and there are {manifest['actions']['n']} actions (labels "
        f"`{manifest['actions']['labels_hash']}`)."
    )


def training(manifest: Manifest) -> str:
    """Return where the agent comes from, and how to make such a one again."""
    settings = str(manifest["training"].get("settings") or "").strip()
    if not settings:
        return origin(manifest)
    return (
        f"{origin(manifest)}\n\nWith the settings below as `settings.yaml`, "
        f"`python -m training.train --config settings.yaml --out again` trains such an agent again. Where several "
        "commands made the run, these are the settings of the last.\n\n"
        f"<details><summary>Every setting of the run</summary>\n\n```yaml\n{settings}\n```\n\n</details>"
    )


def origin(manifest: Manifest) -> str:
    """Return where the agent comes from as a table."""
    told = manifest["training"]
    seconds, versions = told.get("seconds"), told.get("versions") or {}
    facts = {
        "algorithm": told.get("algorithm"),
        "decisions learned from": _number(told.get("decisions")),
        "minutes": None if seconds is None else f"{seconds / 60:.0f}",
        "seed": told.get("seed"),
        "command": f"`{told['command']}`" if told.get("command") else None,
        "commit of the training": _commits(told.get("commits") or [versions.get("commit")], versions),
        "machine": told.get("machine"),
        "reward": told.get("reward"),
        "rule options": _options(manifest["options"]),
        "exported by": manifest["onnx"]["producer"],
        "created": manifest["created"],
    }
    return table(("what", "value"), [(what, value) for what, value in facts.items() if value is not None])


def _commits(commits: Sequence[str | None], versions: Mapping[str, Any]) -> str | None:
    told = ", then ".join(f"`{commit}`" for commit in commits if commit)
    return f"{told}{', changed since' if versions.get('dirty') else ''}" if told else None


def _number(value: object) -> object:
    return f"{value:,}" if isinstance(value, int) else value


def _options(options: Mapping[str, Any]) -> str:
    """Return rule options in a line; long ones, such as the rows of a deck, only by their length."""
    shown = {
        name: f"{len(value)} rows" if isinstance(value, list) and value else value for name, value in options.items()
    }
    return ", ".join(f"{name} {value}" for name, value in shown.items())
