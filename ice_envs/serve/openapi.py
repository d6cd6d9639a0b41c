"""What the service offers, as an OpenAPI document derived from the games, and as a page that loads nothing else."""

from __future__ import annotations

import html
import importlib.metadata
import json
from collections.abc import Iterator, Sequence
from typing import Any

from ice_envs.agents.portable import PortableAgent
from ice_envs.engine.batch import Batch
from ice_envs.engine.game import Game
from ice_envs.engine.schema import TEXT, Schema, fields_of, list_of, one_of, whole

NUMBER: Schema = {"type": "number"}
ERROR = fields_of({"detail": {**TEXT, "description": "what was wrong, in one sentence that names the field"}})
SUMMARY = fields_of(
    {
        **dict.fromkeys(("game", "title", "title_ja"), TEXT),
        "version": whole(0, 1 << 31),
        "seats": {**list_of(whole(2, 8)), "description": "table sizes that the agent plays"},
        **dict.fromkeys(("agent", "description", "value", "value_units", "move", "view_schema"), TEXT),
    }
)
REFUSALS = {
    "400": "The body is not JSON.",
    "404": "No such path, or no agent that plays the game: `/games` lists what there is.",
    "405": "A move is asked for with POST, everything else with GET.",
    "413": "The body is longer than {body_bytes} bytes.",
    "422": "No view of the game, or one that cannot occur: the sentence names the field and the reason.",
    "500": "The service or the agent has failed, and its log says more; the view may be right.",
    "503": "Too many requests at a time, or no answer in time: try again.",
}


def describe(agents: Sequence[PortableAgent], body_bytes: int) -> dict[str, Any]:
    """Return the OpenAPI document of a service of these agents."""
    paths: dict[str, Any] = {
        "/games": {"get": _get("The games, each with the agent that plays it", list_of(SUMMARY, 1))},
        "/openapi.json": {"get": _get("This document", {"type": "object"})},
    }
    schemas: dict[str, Schema] = {"Error": ERROR}
    for agent in agents:
        game = agent.game
        schemas |= {f"{game.name}_view": game.view_schema, f"{game.name}_move": move_schema(game)}
        paths[f"/games/{game.name}/move"] = {"post": _move(agent, body_bytes)}
        schema = _get(f"The JSON Schema of a view of {game.title}", {"type": "object"})
        paths[f"/games/{game.name}/view_schema"] = {"get": schema}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Agents of ice_envs",
            "version": importlib.metadata.version("ice_envs"),
            "description": "Send what one seat knows as JSON; the answer is a move.",
        },
        "paths": paths,
        "components": {"schemas": schemas},
    }


def summary(agent: PortableAgent) -> dict[str, Any]:
    """Return what a client needs to know of an agent."""
    game, manifest = agent.game, agent.manifest
    return {
        "game": game.name,
        "title": game.title,
        "title_ja": game.title_ja,
        "version": game.version,
        "seats": manifest["seats"],
        "agent": manifest["name"],
        "description": manifest["description"],
        "value": manifest["outputs"][1]["meaning"],
        "value_units": manifest["outputs"][1]["units"],
        "move": f"/games/{game.name}/move",
        "view_schema": f"/games/{game.name}/view_schema",
    }


def move_schema(game: Game) -> Schema:
    """Return the schema of an answer."""
    move: dict[str, Schema] = {
        "action": whole(0, game.num_actions - 1),
        "label": one_of(game.labels),
        "label_ja": one_of(game.labels_ja),
    }
    weighed = fields_of({**move, "probability": {**NUMBER, "minimum": 0, "maximum": 1}})
    ranked = {**list_of(weighed, 1), "description": "of every legal action, the most probable first"}
    names: dict[str, Schema] = {"game": {"const": game.name}, "agent": TEXT}
    return fields_of({**names, **move, "value": NUMBER, "probabilities": ranked})


def _get(summary: str, schema: Schema) -> dict[str, Any]:
    content = {"application/json": {"schema": schema}}
    return {"summary": summary, "responses": {"200": {"description": summary, "content": content}}}


def _move(agent: PortableAgent, body_bytes: int) -> dict[str, Any]:
    name = agent.game.name
    body = {"schema": _reference(f"{name}_view"), "example": example(agent)}
    errors = {"application/json": {"schema": _reference("Error")}}
    refusals = {
        status: {"description": words.format(body_bytes=body_bytes), "content": errors}
        for status, words in REFUSALS.items()
    }
    answered = {
        "description": "The move. The value is that of the seat to move: " + agent.manifest["outputs"][1]["meaning"],
        "content": {"application/json": {"schema": _reference(f"{name}_move")}},
    }
    return {
        "summary": f"A move in {agent.game.title}, from what the seat to move knows",
        "operationId": f"move_{name}",
        "requestBody": {"required": True, "content": {"application/json": body}},
        "responses": {"200": answered, **refusals},
    }


def _reference(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def example(agent: PortableAgent) -> dict[str, Any]:
    """Return a view from the beginning of a game of the agent's largest table."""
    batch = Batch(agent.game, 1, num_players=max(agent.manifest["seats"]), **agent.manifest["options"])
    return agent.game.to_view(batch.states[0], int(batch.states[0].to_move))


# ---- the page ----

STYLE = """
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem }
code, pre, textarea { font: 13px/1.45 ui-monospace, monospace }
textarea { width: 100%; height: 14rem; box-sizing: border-box; border-radius: .5rem; padding: .6rem }
pre { overflow: auto; max-height: 22rem; padding: .6rem; border-radius: .5rem; background: #8882 }
section { border: 1px solid #8886; border-radius: .8rem; padding: .2rem 1.2rem 1rem; margin: 1.2rem 0 }
button { font: inherit; padding: .3rem 1.1rem; border-radius: .5rem }
b.verb { color: #06c; text-transform: uppercase; font-size: .8em; margin-right: .4em }
td { padding: .1rem .9rem .1rem 0; vertical-align: top }
"""
SCRIPT = """
for (const section of document.querySelectorAll("section[data-path]")) {
  section.querySelector("button").onclick = async () => {
    const body = section.querySelector("textarea").value;
    const answer = await fetch(section.dataset.path, { method: "POST", body });
    section.querySelector("output").textContent =
      answer.status + "\\n" + JSON.stringify(await answer.json(), null, 1);
  };
}
"""


def page(document: dict[str, Any]) -> str:
    """Return the OpenAPI document as a page on which requests can be tried."""
    info = document["info"]
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{info["title"]}</title><style>{STYLE}</style>'
        f"<h1>{info['title']}</h1><p>{info['description']} For programs: <a href='/openapi.json'>openapi.json</a>.</p>"
        f"{''.join(_sections(document))}<script>{SCRIPT}</script></html>"
    )


def _sections(document: dict[str, Any]) -> Iterator[str]:
    for path, verbs in document["paths"].items():
        for verb, operation in verbs.items():
            link = f"<a href='{path}'><code>{path}</code></a>" if verb == "get" else f"<code>{path}</code>"
            head = f"<h3><b class='verb'>{verb}</b>{link}</h3><p>{html.escape(operation['summary'])}</p>"
            yield (
                f"<section data-path='{path}'>{head}{_trial(document, operation)}</section>"
                if verb == "post"
                else (f"<section>{head}</section>")
            )


def _trial(document: dict[str, Any], operation: dict[str, Any]) -> str:
    """Return the form with which a request is tried, and what its fields and answers mean."""
    body = operation["requestBody"]["content"]["application/json"]
    view = document["components"]["schemas"][body["schema"]["$ref"].rpartition("/")[2]]
    fields = "".join(
        f"<tr><td><code>{name}</code><td>{html.escape(field['description'])}"
        for name, field in view["properties"].items()
    )
    answers = "".join(
        f"<tr><td><code>{status}</code><td>{html.escape(part['description'])}"
        for status, part in operation["responses"].items()
    )
    text = html.escape(json.dumps(body["example"], ensure_ascii=False, indent=1))
    return (
        f"<details><summary>fields</summary><table>{fields}</table></details>"
        f"<details><summary>answers</summary><table>{answers}</table></details>"
        f"<p><textarea spellcheck='false' aria-label='view'>{text}</textarea></p><button>Ask</button>"
        "<pre><output></output></pre>"
    )
