"""Answer JSON views with moves over HTTP.

python -m ice_envs.serve --agents checkpoints/
"""

from __future__ import annotations

import argparse
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from ice_envs.agents.portable import PortableAgent, load_portable
from ice_envs.engine.jit import is_cold
from ice_envs.errors import IceError, nearest, whole_number
from ice_envs.files import reason

BAD_INPUT, INTERRUPTED = 2, 130
CONNECTIONS = 1024
KEEP_ALIVE = 30


class Parser(argparse.ArgumentParser):
    """A parser whose complaint is one sentence."""

    def error(self, message: str) -> NoReturn:
        """Raise IceError instead of printing the usage."""
        raise IceError(message)


def read_arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the settings of a command line; raise IceError for what it cannot understand."""
    parser = Parser(
        "python -m ice_envs.serve", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--agents", type=Path, default=Path("checkpoints"), metavar="FOLDER",
        help="an agent.json, or a folder with one, or with a folder for each agent (default: checkpoints)",
    )  # fmt: skip
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at (default: this machine alone)")
    parser.add_argument("--port", type=int, default=8000, help="0 takes any that is free (default: 8000)")
    parser.add_argument("--origins", nargs="*", default=[], help="sites whose pages may ask, or * (default: none)")
    parser.add_argument("--body_bytes", type=int, default=65_536, help="the longest body (default: 65536)")
    parser.add_argument("--seconds", type=int, default=10, help="the most time for head and answer (default: 10)")
    parser.add_argument("--requests", type=int, default=256, help="requests at a time (default: 256)")
    chosen, unknown = parser.parse_known_args(words)
    if unknown:
        raise IceError(f"unknown flag {unknown[0]}{nearest(unknown[0], [f'--{name}' for name in vars(chosen)])}")
    return chosen


def find_agents(path: Path) -> list[PortableAgent]:
    """Return the agents below a path, each of another game; raise IceError if there are none, or one does not fit."""
    if path.is_file():
        files = [path]
    elif (path / "agent.json").is_file():
        files = [path / "agent.json"]
    else:
        files = sorted(path.glob("*/agent.json"))
    if not files:
        what = "no agent.json in" if path.is_dir() else "no file or folder"
        raise IceError(f"there is {what} {path}: train and export an agent, or name its folder with --agents")
    found: dict[str, tuple[Path, PortableAgent]] = {}
    for file in files:
        agent = load_portable(file)
        if agent.game.name in found:
            other = found[agent.game.name][0]
            raise IceError(f"{other} and {file} both play {agent.game.name}: serve one of them")
        found[agent.game.name] = file, agent
    return [agent for _, agent in found.values()]


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; raise IceError if the system refuses."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        opened = socket.create_server((host, port), family=family, backlog=CONNECTIONS)
    except (OSError, UnicodeError) as error:
        raise IceError(f"cannot listen at {host}, port {port}: {reason(error)}") from error
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # connections inherit it; else answers wait for 40 ms
    return opened


def serve(words: Sequence[str] | None = None) -> None:
    """Load the agents, listen and answer until interrupted."""
    chosen = read_arguments(words)
    whole_number("port", chosen.port, 0, 65_535)
    for name in ("body_bytes", "seconds", "requests"):
        whole_number(name, getattr(chosen, name), 1, 1 << 30)
    try:
        import uvicorn

        from ice_envs.serve.app import Limits, application
        from ice_envs.serve.connections import limited
    except ImportError as error:
        raise IceError('the service needs more packages: pip install "ice_envs[serve]"') from error
    found = find_agents(chosen.agents)
    opened = listen(chosen.host, chosen.port)
    if is_cold():
        print("Compiling the games: this takes some seconds, the first time only.", file=sys.stderr)
    app = application(found, Limits(chosen.body_bytes, chosen.seconds, chosen.requests), chosen.origins)
    for table in app.state.tables:
        table.warm_up()
    config: Any = uvicorn.Config(
        app,
        http=limited(chosen.seconds),
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=chosen.seconds,
    )
    host, port = opened.getsockname()[:2]
    names = ", ".join(agent.game.name for agent in found)
    print(f"Serving {names} at http://{host}:{port} (that page tells how); Ctrl-C stops.", flush=True)
    uvicorn.Server(config).run(sockets=[opened])


def main(words: Sequence[str] | None = None) -> NoReturn:
    """Serve; exit with 2 and one sentence for bad input, with 130 after Ctrl-C."""
    try:
        serve(words)
    except IceError as error:
        print(error, file=sys.stderr)
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        sys.exit(INTERRUPTED)
    sys.exit(0)


if __name__ == "__main__":
    main()
