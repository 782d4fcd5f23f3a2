"""Measures one contender, in its own environment: ``python worker.py MODULE ADDRESS``.

It reads one JSON request a line and answers each with a line of JSON, so that the contenders can
take turns. It needs nothing beside the standard library. A contender is a module with one class,
``Contender``, made with the server's address; its methods give what is run:

- ``over_http(earlier)``: a function that runs the agent once, after so many earlier messages;
- ``over_http_async(earlier)``: the same as a coroutine function;
- ``in_process(rounds, earlier, tools)``: a function that runs it with replies that cost nothing.

What a contender cannot do is in its ``cannot``: the names of methods and of arguments, each with
the reason, which is the answer to such a request. Each method is called once, and
what it gives is run again and again: a client of ``openai`` that is dropped and never closed is
closed by the garbage collector, its sockets first. When it closes its connections after that, it
stops those that have got the numbers of the sockets meanwhile, and whoever reads them waits for
ever.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import json
import resource
import sys
import time
from collections.abc import Callable
from functools import cache
from typing import Any, Final

GROUP: Final = 50
"""How many of those that run at once begin in one step of the event loop."""
LEAST: Final = 0.2
"""The seconds that a turn takes at least.

A turn begins where other contenders have used the processor and the garbage of all that lives has
just been looked for: the first milliseconds wait for memory, and are not what a run costs.
"""


def measure(
    made: Callable[..., Any],
    runner: asyncio.Runner,
    what: str,
    arguments: dict[str, int],
    times: int,
) -> dict[str, Any]:
    """The CPU and the wall-clock seconds of one run, and memory where many run at once.

    Args:
        made: what a contender gives for the name of a method and its arguments.
        runner: the event loop of everything that does not block.
        what: the name of the method; with ``_at_once`` many run at once.
        arguments: what the method is called with.
        times: how often it is run, at least.
    """
    act = made(what.removesuffix("_at_once"), **arguments)
    if what == "over_http_async_at_once":
        return runner.run(_at_once(act, times))
    if what == "over_http_async":
        return runner.run(_one_after_another(act, times))
    act()
    gc.collect()
    done, wall, cpu = 0, time.perf_counter(), time.process_time()
    while done < times or time.perf_counter() - wall < LEAST:
        act()
        done += 1
    return _per_run(cpu, wall, done)


async def _one_after_another(act: Any, times: int) -> dict[str, Any]:
    await act()
    gc.collect()
    done, wall, cpu = 0, time.perf_counter(), time.process_time()
    while done < times or time.perf_counter() - wall < LEAST:
        await act()
        done += 1
    return _per_run(cpu, wall, done)


async def _at_once(act: Any, times: int) -> dict[str, Any]:
    await act()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    await _all_at_once(act, times)  # opens the connections
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    await _all_at_once(act, times)
    return {**_per_run(cpu, wall, times), "kilobytes": grown / times}


async def _all_at_once(act: Any, times: int) -> None:
    """Run it so many times at once, begun in groups.

    A thousand that begin in one step of the event loop all begin to connect before any of them can
    see that it is connected. On a busy machine that is longer than the five seconds that clients
    of `openai` wait.
    """
    async with asyncio.TaskGroup() as tasks:
        for number in range(times):
            tasks.create_task(act())
            if number % GROUP == GROUP - 1:
                await asyncio.sleep(0)


def _per_run(cpu: float, wall: float, times: int) -> dict[str, Any]:
    used, passed = time.process_time() - cpu, time.perf_counter() - wall
    return {"cpu": used / times, "wall": passed / times}


def main() -> None:
    """Answer requests until there are no more."""
    module, address = sys.argv[1:]
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # each run at once has a connection
    contender = importlib.import_module(module).Contender(address)

    @cache
    def made(what: str, **arguments: int) -> Any:
        return getattr(contender, what)(**arguments)

    runner = asyncio.Runner()  # one event loop for all: some keep their client for the next run
    for line in sys.stdin:
        request = json.loads(line)
        asked = (request["what"].removesuffix("_at_once"), *request["arguments"])
        reasons = [contender.cannot[each] for each in asked if each in contender.cannot]
        found = {"cannot": reasons[0]} if reasons else measure(made, runner, **request)
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
