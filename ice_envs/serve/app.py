"""The service as an ASGI application: routes, limits, and errors as one sentence of JSON each."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from ice_envs.agents.portable import PortableAgent
from ice_envs.errors import nearest
from ice_envs.serve.openapi import describe, page, summary
from ice_envs.serve.table import Reply, Table, refused


@dataclass(frozen=True)
class Limits:
    """What a client may ask for."""

    body_bytes: int = 65_536
    """The longest body of a request."""
    seconds: float = 10
    """The most time from a request's head to its answer; a body that comes slowly takes of it, too."""
    requests: int = 256
    """Moves asked for at the same time; more are turned away at once."""


class Service:
    """The agents behind the routes."""

    def __init__(self, agents: Sequence[PortableAgent], limits: Limits) -> None:
        self.tables = {agent.game.name: Table(agent) for agent in agents}
        self.limits = limits
        self.document = describe(agents, limits.body_bytes)
        self.asked = 0

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Answer from the beginning of the application to its end."""
        for table in self.tables.values():
            table.open()
        yield
        for table in self.tables.values():
            table.close()

    def table(self, request: Request) -> Table:
        """Return the table that a path names; raise HTTPException if there is none."""
        name = request.path_params["game"]
        if name not in self.tables:
            raise HTTPException(404, f"no agent plays {name[:80]!r}{nearest(name[:80], self.tables)}")
        return self.tables[name]

    async def games(self, request: Request) -> Response:
        """Answer with what is served."""
        return JSONResponse([summary(table.agent) for table in self.tables.values()])

    async def view_schema(self, request: Request) -> Response:
        """Answer with the JSON Schema of a game's views."""
        return JSONResponse(self.table(request).game.view_schema, media_type="application/schema+json")

    async def openapi(self, request: Request) -> Response:
        """Answer with the OpenAPI document."""
        return JSONResponse(self.document)

    async def page(self, request: Request) -> Response:
        """Answer with the same for people; the page loads nothing from elsewhere."""
        return HTMLResponse(page(self.document))

    async def move(self, request: Request) -> Response:
        """Answer a view with a move."""
        table = self.table(request)
        if self.asked >= self.limits.requests:
            return answer(refused(503, f"more than {self.limits.requests} requests at a time: try again"), retry=True)
        self.asked += 1
        try:
            return answer(await asyncio.wait_for(self._reply(request, table), self.limits.seconds))
        except asyncio.TimeoutError:  # Python 3.10 has it as a class of its own
            return answer(refused(503, f"there was no answer within {self.limits.seconds:g} seconds"), retry=True)
        finally:
            self.asked -= 1

    async def _reply(self, request: Request, table: Table) -> Reply:
        body = bytearray()
        try:
            async for part in request.stream():
                body += part
                if len(body) > self.limits.body_bytes:
                    return refused(413, f"the body is longer than {self.limits.body_bytes} bytes")
        except ClientDisconnect:
            return refused(400, "the body was cut off")
        return await table.ask(bytes(body))


def answer(reply: Reply, retry: bool = False) -> JSONResponse:
    """Return a reply as JSON; after an answer that came before the end of the body, the connection is closed."""
    headers = {"Retry-After": "1"} if retry else {}
    if reply.status in (413, 503):
        headers["Connection"] = "close"
    return JSONResponse(reply.content, reply.status, headers)


async def http_error(request: Request, error: Exception) -> Response:
    """Answer with what a route refused."""
    assert isinstance(error, HTTPException)
    headers: Mapping[str, str] | None = error.headers
    return JSONResponse({"detail": error.detail}, error.status_code, headers)


async def failure(request: Request, error: Exception) -> Response:
    """Answer with no more than that something failed; the log has the rest."""
    return JSONResponse({"detail": "the service has failed"}, 500)


def application(agents: Sequence[PortableAgent], limits: Limits, origins: Sequence[str] = ()) -> Starlette:
    """Return the service of some agents, each of another game.

    Args:
        agents: what answers.
        limits: what a client may ask for.
        origins: sites whose pages may ask, such as `https://example.org`, or `*`; a browser keeps the others out.
    """
    service = Service(agents, limits)
    app = Starlette(
        routes=[
            Route("/", service.page),
            Route("/games", service.games),
            Route("/games/{game}/view_schema", service.view_schema),
            Route("/games/{game}/move", service.move, methods=["POST"]),
            Route("/openapi.json", service.openapi),
        ],
        middleware=[Middleware(CORSMiddleware, allow_origins=list(origins), allow_headers=["*"])] if origins else [],
        exception_handlers={HTTPException: http_error, Exception: failure},
        lifespan=service.lifespan,
    )
    app.state.tables = list(service.tables.values())
    return app
