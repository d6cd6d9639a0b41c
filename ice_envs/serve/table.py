"""Views that wait together are answered together: one run of the model for all requests of a game that have come in."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ice_envs.agents.portable import PortableAgent
from ice_envs.engine.batch import Batch
from ice_envs.errors import IceError

MOST_TOGETHER = 64
WARM_UP_DECISIONS = 40
LONGEST_SENTENCE = 500
LOG = logging.getLogger("ice_envs.serve")


class Reply(NamedTuple):
    """What a request is answered with: an HTTP status and plain data."""

    status: int
    content: dict[str, Any]


def refused(status: int, sentence: str) -> Reply:
    """Return a reply that says in one sentence what was wrong.

    Whatever of a request stands in the sentence, it is short, and one line that UTF-8 can hold.
    """
    cut = sentence if len(sentence) <= LONGEST_SENTENCE else f"{sentence[: LONGEST_SENTENCE - 1]}…"
    return Reply(status, {"detail": "".join(sign if sign.isprintable() else " " for sign in cut)})


class Table:
    """One agent, answering views in a thread of its own."""

    def __init__(self, agent: PortableAgent) -> None:
        self.agent = agent
        self.game = agent.game
        self._waiting: asyncio.Queue[tuple[bytes, asyncio.Future[Reply]]] = asyncio.Queue()
        self._serving: asyncio.Task[None] | None = None

    async def ask(self, body: bytes) -> Reply:
        """Return the reply to a request whose body is a view as JSON."""
        answered: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting.put_nowait((body, answered))
        return await answered

    def open(self) -> None:
        """Begin to answer, in the event loop that is running."""
        self._waiting = asyncio.Queue()
        self._serving = asyncio.create_task(self._serve())

    def close(self) -> None:
        """Stop answering."""
        if self._serving:
            self._serving.cancel()

    async def _serve(self) -> NoReturn:
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1, f"{self.game.name}-model") as thread:
            while True:
                asked = [await self._waiting.get()]
                while not self._waiting.empty() and len(asked) < MOST_TOGETHER:
                    asked.append(self._waiting.get_nowait())
                asked = [(body, answered) for body, answered in asked if not answered.done()]  # some gave up
                replies = await loop.run_in_executor(thread, self.replies, [body for body, _ in asked])
                for (_, answered), reply in zip(asked, replies, strict=True):
                    if not answered.done():
                        answered.set_result(reply)

    def replies(self, bodies: Sequence[bytes]) -> list[Reply]:
        """Return the reply to each body; what is wrong with one changes nothing for the others."""
        replies: list[Reply | None] = []
        read = []
        for body in bodies:
            try:
                read.append(self.agent.read(plain(body)))
                replies.append(None)
            except NotJson as error:
                replies.append(refused(400, str(error)))
            except IceError as error:
                replies.append(refused(422, str(error)))
            except Exception:
                LOG.exception("a view could not be read")
                replies.append(refused(500, "the service has failed to read this view"))
        answers = self._answers(read)
        return [next(answers) if reply is None else reply for reply in replies]

    def _answers(self, read: Sequence[Any]) -> Iterator[Reply]:
        if not read:
            return
        try:
            yield from [Reply(200, self._content(answer)) for answer in self.agent.moves(np.concatenate(read))]
        except Exception:
            LOG.exception("the model could not be run")
            yield from [refused(500, "the agent has failed to answer")] * len(read)

    def _content(self, answer: Any) -> dict[str, Any]:
        """Return an answer as the service gives it: the most probable actions first."""
        ranked = sorted(answer.probabilities.items(), key=lambda item: (-item[1], item[0]))
        return {
            "game": self.game.name,
            "agent": self.agent.name,
            **self._labeled(answer.action),
            "value": answer.value,
            "probabilities": [{**self._labeled(action), "probability": part} for action, part in ranked],
        }

    def _labeled(self, action: int) -> dict[str, Any]:
        return {"action": action, "label": self.game.labels[action], "label_ja": self.game.labels_ja[action]}

    def warm_up(self) -> None:
        """Answer some views of every table size, so that everything is compiled before the first request comes."""
        for num_players in self.agent.manifest["seats"]:
            batch = Batch(self.game, 1, num_players=num_players, **self.agent.manifest["options"])
            for _ in range(WARM_UP_DECISIONS):
                state = batch.states[0]
                move = self.agent.act(self.game.to_view(state, int(state.to_move)))
                batch.step([move.action])


class NotJson(IceError):
    """A body that is no JSON at all."""


def plain(body: bytes) -> Any:
    """Return the plain data in a body; raise NotJson if it is not JSON, as RFC 8259 has it.

    Raises IceError for a field that an object has twice, which RFC 8259 leaves to the reader: no program means that.
    """
    try:
        return json.loads(body.decode("utf-8"), parse_constant=_not_a_number, object_pairs_hook=_fields)
    except UnicodeDecodeError as error:
        raise NotJson("the body is not UTF-8") from error
    except RecursionError as error:
        raise NotJson("the body is nested too deeply") from error
    except IceError:
        raise
    except ValueError as error:
        raise NotJson(f"the body is not JSON: {error}") from error


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, value in pairs:
        if name in fields:
            raise IceError(f"the field {name!r:.80} is there twice in one object")
        fields[name] = value
    return fields


def _not_a_number(name: str) -> NoReturn:
    raise ValueError(f"it has {name}, which is no number")
