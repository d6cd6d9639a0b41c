"""Connections that do not ask: the limits of the application begin with a request's head, this one ends before it."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class Connection(HttpToolsProtocol):
    """A connection that is closed when it has begun and no whole head of a request comes within `seconds`.

    It begins when it is made, and again with the first byte after an answer; in between uvicorn's own limit on idle
    connections holds.
    """

    seconds: float
    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        """Begin to wait for a head."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Read on; what is not a whole head prolongs nothing."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif self._waiting is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(self.seconds, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None


def limited(seconds: float) -> type[Connection]:
    """Return the connections of a service that waits so long for the head of a request."""
    return type("LimitedConnection", (Connection,), {"seconds": seconds})
