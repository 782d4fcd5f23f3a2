"""A log that blocks is asked in threads, in the order in which it is asked."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from gram import loads_one
from interp.execution.recorder import Recorder
from interp.machine import CallBegun, start

STATE = start(loads_one('[a:Agent {instruction: "Help.", model: "OpenAI/x"}]'), "hi").state


class SlowLog:
    """A log that takes a while, and keeps what is written."""

    blocks = True
    has_begun = True
    once: frozenset[str] = frozenset()
    name = "slow"

    def __init__(self) -> None:
        self.written: list[Any] = []

    def append(self, folded: Any, seconds: float | None = None) -> None:
        time.sleep(0.05)
        self.written.append(folded.event)


@pytest.mark.parametrize("turns", [0, 1])
def test_what_an_interrupt_leaves_behind_is_written_before_what_comes_later(turns: int) -> None:
    log = SlowLog()
    first, second = CallBegun((0, 0)), CallBegun((0, 1))

    async def interrupted() -> None:
        recorder = Recorder(log)  # type: ignore[arg-type]  # it does what is asked of it here
        left = recorder.append(None, first, STATE, None)
        left.send(None)
        for _ in range(turns):  # of the loop, so that its thread has begun
            await asyncio.sleep(0)
        with pytest.raises(KeyboardInterrupt):
            left.throw(KeyboardInterrupt)
        await recorder.append(None, second, STATE, None)

    asyncio.run(interrupted())

    assert log.written == [first, second]
