"""A crew: threads that do the work of a batch together, chunk by chunk of its games.

A job is posted in one number: what is to be done, and the next chunk to do. Every thread, the caller's too, takes
chunks until there are none, so a thread that is late, asleep or lost in a fork costs its help and nothing else. Between
jobs that follow each other closely a helper looks out for the next one without the system's help, since to be woken
takes longer than hundreds of moves; after some microseconds it goes to sleep.
"""

from __future__ import annotations

import threading
import time
import weakref
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ice_envs.engine import loops
from ice_envs.engine.atomic import fetch_add, load, store
from ice_envs.engine.jit import compiled

OBSERVE, MASK, DRAW, CHECK, STEP = range(5)
"""The jobs."""
CHUNK = 256
"""How many games a thread takes at a time."""
LOOKS = 30_000
"""How often a thread looks for more work before it sleeps: for some tens of microseconds."""

_LINE = 8
_POSTED, _FINISHED, _CLOSED, _CHUNKS, _CHUNK, _AWAKE = range(0, 6 * _LINE, _LINE)
"""Cells of the board, each on a cache line of its own; each helper has one that says whether it is awake."""
_NEXT = (1 << 32) - 1


class Work(NamedTuple):
    """What the jobs read and write: arrays over N games, but for those that say otherwise."""

    kind: int
    """The reward, as `loops.REWARDS` has it."""
    seed: NDArray[np.uint64]
    """(1,) of the actions to draw."""
    states: Any
    actions: NDArray[np.int64]
    illegal: NDArray[np.int64]
    """(1,) not 0 if the rules forbid one of the actions."""
    observation: NDArray[np.uint8]
    mask: NDArray[np.int8]
    seat: NDArray[np.int64]
    reward: NDArray[np.float32]
    done: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    scores: NDArray[np.float32]
    shares: NDArray[np.float32]


@compiled
def do_part(job: int, work: Any, first: int, stop: int) -> None:
    """Do a job for the games from `first` to `stop` − 1."""
    states, mask, actions = work.states[first:stop], work.mask[first:stop], work.actions[first:stop]
    if job == OBSERVE:
        loops.observe_games(states, work.observation[first:stop], mask, work.seat[first:stop])
    elif job == MASK:
        loops.legal_games(states, mask)
    elif job == DRAW:
        for i in range(first, stop):
            work.actions[i] = loops.random_action(work.mask[i], work.seed[0], i)
    elif job == CHECK:
        if loops.first_illegal(states, actions, mask.shape[1]) >= 0:
            store(work.illegal, 0, 1)
    else:
        loops.step_games(
            states,
            actions,
            work.kind,
            True,
            work.reward[first:stop],
            work.done[first:stop],
            work.truncated[first:stop],
            work.scores[first:stop],
            work.shares[first:stop],
        )


@compiled
def take_part(board: Any, work: Any, me: int, job: int) -> bool:
    """Post a job if one is given, and do chunks of what is posted, whoever posted it.

    One function for all threads, since all rules are compiled into it. The caller's thread (`me` −1) returns whether
    all is done, and waits only a little for what others have begun. A helper (`me` its cell of the board, `job` −1)
    returns when for some time there has been nothing to do.
    """
    if me >= 0:
        store(board, me, 1)
    elif job >= 0:
        store(board, _FINISHED, 0)
        store(board, _POSTED, job << 32)
    looks = 0
    while looks < LOOKS and (me < 0 or load(board, _CLOSED) == 0):
        looks += 1
        while load(board, _POSTED) & _NEXT < board[_CHUNKS]:
            taken = fetch_add(board, _POSTED, 1)  # job and chunk in one number: whatever job it now is, it is this one
            chunk = taken & _NEXT
            if chunk < board[_CHUNKS]:
                first = chunk * board[_CHUNK]
                do_part(taken >> 32, work, first, min(first + board[_CHUNK], len(work.states)))
                fetch_add(board, _FINISHED, 1)
                looks = 0
        if me < 0 and load(board, _FINISHED) == board[_CHUNKS]:
            return True
    if me >= 0:
        store(board, me, 0)
    return False


class Crew:
    """The caller's thread and its helpers.

    Args:
        work: the arrays; the crew keeps them, so they must be written in place.
        num_threads: at most so many threads, the caller's counted.

    The helpers end with the crew. One thread at a time may call `do`.
    """

    def __init__(self, work: Work, num_threads: int) -> None:
        chunks = -(-len(work.states) // CHUNK)
        helpers = min(num_threads, chunks) - 1
        self._work = work
        self._board = np.zeros(_AWAKE + helpers * _LINE, np.int64)
        self._board[[_POSTED, _FINISHED, _CHUNKS, _CHUNK]] = chunks, chunks, chunks, CHUNK
        self._finish()  # there is nothing to do yet, but now it is compiled: helpers may be sent home at any time
        self._helpers = []
        for me in range(_AWAKE, _AWAKE + helpers * _LINE, _LINE):
            gate = threading.Lock()
            gate.acquire()
            threading.Thread(target=_help, args=(self._board, work, me, gate), daemon=True, name="ice_envs").start()
            self._helpers.append((me, gate))
        weakref.finalize(self, _dismiss, self._board, [gate for _, gate in self._helpers])

    def do(self, job: int) -> None:
        """Do a job for all games."""
        if self._board[_FINISHED] < self._board[_CHUNKS]:
            self._finish()  # what an interrupt left behind
        for me, gate in self._helpers:
            if not self._board[me] and gate.locked():
                gate.release()
        if not take_part(self._board, self._work, -1, job):
            self._finish()

    def _finish(self) -> None:
        while not take_part(self._board, self._work, -1, -1):
            time.sleep(0)  # a helper has lost its processor in the middle of a chunk: offer it this one


def _help(board: NDArray[np.int64], work: Work, me: int, gate: Any) -> None:
    """Sleep before the gate and look out behind it, by turns."""
    while not board[_CLOSED]:
        gate.acquire()
        take_part(board, work, me, -1)


def _dismiss(board: NDArray[np.int64], gates: list[Any]) -> None:
    """Send the helpers home."""
    board[_CLOSED] = 1
    for gate in gates:
        if gate.locked():
            gate.release()
