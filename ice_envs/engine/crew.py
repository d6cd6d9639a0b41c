"""A crew: threads that do the work of a batch together, chunk by chunk of its games.

Each thread has a part of the chunks, for which a job is posted in one number: what is to be done, and the next chunk to
do. Every thread, the caller's too, takes its own chunks, which are in its cache, then what the others have left: so a
thread that is late, asleep or lost in a fork costs its help and nothing else. Between jobs that follow each other
closely a helper looks out for the next one without the system's help, since to be woken takes longer than hundreds of
moves; after some microseconds it goes to sleep.
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
_FINISHED, _CLOSED, _CHUNKS, _CHUNK, _THREADS, _POSTED = range(0, 6 * _LINE, _LINE)
"""Cells of the board, each on a cache line of its own; of what is posted there is one for each thread."""
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
        loops.random_rows(mask, work.seed[0], first, actions)
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

    One function for all threads, since all rules are compiled into it. The caller's thread (`me` 0) returns whether all
    is done, and waits only a little for what others have begun. A helper (`me` from 1, `job` −1) returns when for some
    time there has been nothing to do.
    """
    threads, chunks = board[_THREADS], board[_CHUNKS]
    if job >= 0:
        store(board, _FINISHED, 0)
        for thread in range(threads):
            store(board, _POSTED + thread * _LINE, job << 32 | chunks * thread // threads)
    looks = 0
    while looks < LOOKS and (me == 0 or load(board, _CLOSED) == 0):
        looks += 1
        for turn in range(threads):
            thread = (me + turn) % threads
            cell, stop = _POSTED + thread * _LINE, chunks * (thread + 1) // threads
            if load(board, cell) & _NEXT < stop:
                taken = fetch_add(board, cell, 1)  # job and chunk in one: whatever job it now is, it is this one
                chunk = taken & _NEXT
                if chunk < stop:
                    first = chunk * board[_CHUNK]
                    do_part(taken >> 32, work, first, min(first + board[_CHUNK], len(work.states)))
                    fetch_add(board, _FINISHED, 1)
                    looks = 0
                break  # a thread's own chunks come first, also when they are posted a moment after another's
        if me == 0 and load(board, _FINISHED) == chunks:
            return True
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
        threads = min(num_threads, chunks)
        self._work = work
        self._board = np.zeros(_POSTED + threads * _LINE, np.int64)
        self._board[[_FINISHED, _CHUNKS, _CHUNK, _THREADS]] = chunks, chunks, CHUNK, threads
        self._board[_POSTED::_LINE] = _NEXT
        self._finish()  # there is nothing to do yet, but now it is compiled: helpers may be sent home at any time
        self._awake = np.zeros(threads, np.bool_)
        self._gates = [threading.Lock() for _ in range(threads)]
        for me in range(1, threads):
            self._gates[me].acquire()
            arguments = (self._board, work, me, self._gates[me], self._awake)
            threading.Thread(target=_help, args=arguments, daemon=True, name="ice_envs").start()
        weakref.finalize(self, _dismiss, self._board, self._gates)

    def do(self, job: int) -> None:
        """Do a job for all games."""
        if self._board[_FINISHED] < self._board[_CHUNKS]:
            self._finish()  # what an interrupt left behind
        for gate, awake in zip(self._gates, self._awake, strict=True):
            if not awake and gate.locked():
                gate.release()
        if not take_part(self._board, self._work, 0, job):
            self._finish()

    def _finish(self) -> None:
        while not take_part(self._board, self._work, 0, -1):
            time.sleep(0)  # a helper has lost its processor in the middle of a chunk: offer it this one


def _help(board: NDArray[np.int64], work: Work, me: int, gate: Any, awake: NDArray[np.bool_]) -> None:
    """Sleep before the gate and look out behind it, by turns."""
    while not board[_CLOSED]:
        gate.acquire()
        awake[me] = True
        take_part(board, work, me, -1)
        awake[me] = False


def _dismiss(board: NDArray[np.int64], gates: list[Any]) -> None:
    """Send the helpers home."""
    board[_CLOSED] = 1
    for gate in gates:
        if gate.locked():
            gate.release()
