"""Measures one contender, in its own environment: ``python worker.py MODULE ADDRESS``.

It reads one JSON request a line and answers each with a line of JSON, so that the contenders can
take turns. It needs nothing beside the standard library. A contender is a module with one class,
``Contender``, made with the server's address; its methods give what is run:

- ``over_http(earlier)``: a function that runs the agent once, after so many earlier messages;
- ``over_http_async(earlier)``: the same as a coroutine function;
- ``in_process(rounds, earlier, tools)``: a function that runs it with replies that cost nothing.

A contender leaves out what it cannot do, or gives None for it.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import json
import resource
import sys
import time
from typing import Any


def measure(
    contender: Any, runner: asyncio.Runner, what: str, arguments: dict[str, int], times: int
) -> dict[str, Any]:
    """The CPU and the wall-clock seconds of one run, and memory where many run at once."""
    if not hasattr(contender, what.removesuffix("_at_once")):
        return {}
    if what == "over_http_async_at_once":
        return runner.run(_at_once(contender, times))
    act = getattr(contender, what)(**arguments)
    if act is None:
        return {}
    if what == "over_http_async":
        return runner.run(_one_after_another(act, times))
    act()
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(times):
        act()
    return _per_run(cpu, wall, times)


async def _one_after_another(act: Any, times: int) -> dict[str, Any]:
    await act()
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(times):
        await act()
    return _per_run(cpu, wall, times)


async def _at_once(contender: Any, times: int) -> dict[str, Any]:
    act = contender.over_http_async(0)
    await act()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    await asyncio.gather(*(act() for _ in range(times)))  # opens the connections
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(act() for _ in range(times)))
    return {**_per_run(cpu, wall, times), "kilobytes": grown / times}


def _per_run(cpu: float, wall: float, times: int) -> dict[str, Any]:
    used, passed = time.process_time() - cpu, time.perf_counter() - wall
    return {"cpu": used / times, "wall": passed / times}


def main() -> None:
    """Answer requests until there are no more."""
    module, address = sys.argv[1:]
    contender = importlib.import_module(module).Contender(address)
    runner = asyncio.Runner()  # one event loop for all: some keep their client for the next run
    for line in sys.stdin:
        print(json.dumps(measure(contender, runner, **json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
