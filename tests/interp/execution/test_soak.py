"""Many runs leave nothing behind: neither memory, nor threads, nor sockets."""

from __future__ import annotations

import os

from tests.interp.forked import PYTHON
from tests.interp.forking import run_forked
from tests.paths import ROOT

CODE = """
import asyncio, gc, os, threading, tracemalloc, warnings
from interp import LimitError, Limits, ScriptedModel, arun, run, stream
from interp import OpenAIModel
from tests.interp.model_server import serving
from tests.interp.one_tool import AGENT, DOUBLE, asking

def scripted(count):
    for number in range(count):
        model = ScriptedModel([asking(1, 2), asking(3), f"Done {number}."])
        kind = number % 4
        if kind == 0:
            run(AGENT, "hi", DOUBLE, model=model, match="types")
        elif kind == 1:
            list(stream(AGENT, "hi", DOUBLE, model=model, match="types"))
        elif kind == 2:
            for _ in stream(AGENT, "hi", DOUBLE, model=model, match="types"):
                break
        else:
            try:
                run(AGENT, "hi", DOUBLE, model=model, match="types", limits=Limits(iterations=1))
            except LimitError:
                pass

async def many(count):
    for number in range(count):
        model = ScriptedModel([asking(1, 2), f"Done {number}."])
        await arun(AGENT, "hi", DOUBLE, model=model, match="types")

def over_http(count):
    for number in range(count):
        server.will_say(asking(1), f"Done {number}.")
        if number % 3 == 0:
            run(AGENT, "hi", DOUBLE, match="types", model=shared)
        elif number % 3 == 1:
            list(stream(AGENT, "hi", DOUBLE, match="types", model=shared))
        else:
            for _ in stream(AGENT, "hi", DOUBLE, match="types", model=shared):
                break
            server.answers.clear()

def settled():
    server.requests.clear(), server.headers.clear()
    gc.collect()
    for _ in range(30):  # threads need a moment to end
        if threading.active_count() <= baseline[0]:
            break
        threading.Event().wait(0.01)
    files = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc") else 0
    return threading.active_count(), files

warnings.simplefilter("error")
with serving() as server:
    shared = OpenAIModel(server.url, "key")
    baseline = (3, 0)
    scripted(12); asyncio.run(many(4)); over_http(6)
    baseline = settled()
    scripted(40); asyncio.run(many(6)); over_http(6)
    after = settled()
    tracemalloc.start()
    scripted(8); asyncio.run(many(2)); over_http(3)
    settled()
    before = tracemalloc.get_traced_memory()[0]
    scripted(24); asyncio.run(many(13)); over_http(3)
    settled()
    grown = tracemalloc.get_traced_memory()[0] - before
    shared.close()
print(after[0] - baseline[0], after[1] - baseline[1], grown // 1000)
"""


def test_many_runs_leave_no_memory_threads_or_sockets_behind() -> None:
    done = run_forked(PYTHON, ["-c", CODE], environment=os.environ, cwd=ROOT)
    threads, files, kilobytes = map(int, done.stdout.split())

    assert done.stderr == ""
    assert threads <= 2  # those of the server, one for each connection it keeps
    assert files <= 4  # these connections, at both ends
    assert kilobytes < 36  # 40 runs of more than a kilobyte each
