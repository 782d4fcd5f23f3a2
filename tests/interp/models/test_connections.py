"""Connections to models: shared while they are good, closed at the end, with and without TLS."""

from __future__ import annotations

import asyncio
import copy
import gc
import os
import pickle
import ssl
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from gram import Pattern
from interp import ConfigurationError, ModelError, OpenAIModel, arun, astream, run
from lenses_ext import agent_tool_specs, put
from tests.interp.four_ways import QUESTION
from tests.interp.model_server import Answer, ModelServer, completion, serving
from tests.paths import DATA, ROOT

each_transport = pytest.mark.usefixtures("each_transport")


@pytest.fixture
def agent(hello_world: Pattern) -> Pattern:
    """An agent without tools."""
    return put(agent_tool_specs, (), hello_world)


@each_transport
def test_runs_one_after_another_share_a_connection(
    agent: Pattern, model_server: ModelServer
) -> None:
    model_server.will_say(*["Hi."] * 5)
    for _ in range(5):
        run(agent, "hi")
    assert model_server.connections == 1


@each_transport
def test_runs_in_one_event_loop_share_a_connection_that_is_closed_with_it(
    agent: Pattern, model_server: ModelServer
) -> None:
    model_server.will_say(*["Hi."] * 8)

    async def three() -> None:
        for _ in range(3):
            await arun(agent, "hi")
        async for _ in astream(agent, "hi"):
            pass

    for _ in range(2):
        asyncio.run(three())
        gc.collect()  # an open socket would warn, and warnings are errors here

    assert model_server.connections <= 4  # a stream that has ended may close its own


def test_models_with_other_keys_or_addresses_share_nothing(model_server: ModelServer) -> None:
    model_server.will_say(*["Hi."] * 6)
    models = [
        OpenAIModel(model_server.url, "one"),
        OpenAIModel(model_server.url, "two"),
        OpenAIModel(model_server.url.replace("127.0.0.1", "localhost"), "one"),
    ]

    for model in [*models, *models]:
        model.complete(QUESTION)

    keys = [headers["authorization"] for headers in model_server.headers]
    assert model_server.connections == 3
    assert keys == ["Bearer one", "Bearer two", "Bearer one"] * 2


@each_transport
def test_threads_may_ask_at_once(model_server: ModelServer) -> None:
    model_server.will_say(*["Hi."] * 40)

    def ask(_: int) -> str:
        return OpenAIModel(model_server.url, "key").complete(QUESTION).message.content

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(40))) == ["Hi."] * 40

    assert model_server.connections <= 8


def test_closing_one_model_leaves_the_requests_of_others(model_server: ModelServer) -> None:
    model_server.will_say(Answer(completion({"content": "late"}), silence=0.3))
    slow, other = OpenAIModel(model_server.url, "key"), OpenAIModel(model_server.url, "key")
    found: list[str] = []

    thread = threading.Thread(target=lambda: found.append(slow.complete(QUESTION).message.content))
    thread.start()
    while not model_server.requests:
        time.sleep(0.001)
    other.close()
    thread.join()

    assert found == ["late"]


@each_transport
def test_a_model_that_is_closed_has_closed_its_connections(model_server: ModelServer) -> None:
    model_server.will_say(*["Hi."] * 4)
    model = OpenAIModel(model_server.url, "key")

    async def twice() -> None:
        for _ in range(2):
            await model.acomplete(QUESTION)
            await model.aclose()

    for _ in range(2):
        model.complete(QUESTION)
        model.close()
    asyncio.run(twice())

    assert model_server.connections == 4


@each_transport
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_child_process_opens_its_own_connections(model_server: ModelServer) -> None:
    model_server.will_say("parent", "child", "parent again")
    model = OpenAIModel(model_server.url, "key")
    assert model.complete(QUESTION).message.content == "parent"

    child = os.fork()
    if child == 0:
        said = ""
        try:
            said = model.complete(QUESTION).message.content
        finally:
            os._exit(0 if said == "child" else 1)
    _, status = os.waitpid(child, 0)

    assert status == 0
    assert model.complete(QUESTION).message.content == "parent again"
    assert model_server.connections == 2


def test_the_connections_to_many_servers_are_not_all_kept(model_server: ModelServer) -> None:
    model_server.will_say(*["Hi."] * 41)
    first = OpenAIModel(model_server.url, "key 0")
    for number in range(40):
        OpenAIModel(model_server.url, f"key {number}").complete(QUESTION)
    gc.collect()

    first.complete(QUESTION)

    assert model_server.connections == 41


LOOPS_THAT_END_IN_EACH_WAY = """
import asyncio, os
from gram import loads_one
from interp import arun, run
agent = loads_one('[a:Agent {instruction: "x", model: "OpenAI/m"}]')
run(agent, "hi")
asyncio.run(arun(agent, "hi"))
opened = len(os.listdir("/dev/fd"))
for _ in range(35):
    loop = asyncio.new_event_loop()
    loop.run_until_complete(arun(agent, "hi"))
    loop.close()
assert len(os.listdir("/dev/fd")) < opened + 20
never_closed = asyncio.new_event_loop()
never_closed.run_until_complete(arun(agent, "hi"))
"""


def test_connections_of_loops_that_end_in_any_way_are_dropped_without_a_word(
    model_server: ModelServer,
) -> None:
    model_server.will_say(*["Hi."] * 38)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", LOOPS_THAT_END_IN_EACH_WAY],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_model_can_be_copied_and_pickled(model_server: ModelServer) -> None:
    model_server.will_say("Hi.", "Hi.", "Hi.")
    model = OpenAIModel(model_server.url, "a-long-key")
    model.complete(QUESTION)
    for each in (copy.copy(model), pickle.loads(pickle.dumps(model))):
        assert each.complete(QUESTION).message.content == "Hi."


def test_asking_without_blocking_needs_an_event_loop_of_asyncio() -> None:
    asking = OpenAIModel("http://127.0.0.1:9/v1", "key").acomplete(QUESTION)
    with pytest.raises(ConfigurationError, match="asyncio"):
        asking.send(None)


LOCALHOST = str(DATA / "localhost.pem")
"""A key and a certificate for this machine alone, which nobody trusts but these tests."""


def asked(model: OpenAIModel, times: int) -> list[str]:
    """What a model says when it is asked so often, blocking and in an event loop."""

    async def in_a_loop() -> list[str]:
        return [(await model.acomplete(QUESTION)).message.content for _ in range(times)]

    blocking = [model.complete(QUESTION).message.content for _ in range(times)]
    return blocking + asyncio.run(in_a_loop())


@each_transport
@pytest.mark.parametrize("trusted", [True, False])
def test_a_server_is_reached_by_tls_whose_certificate_is_trusted(
    trusted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(LOCALHOST)
    monkeypatch.setenv("SSL_CERT_FILE", LOCALHOST)  # as it is for all tests
    if not trusted:
        monkeypatch.delenv("SSL_CERT_FILE")
    with serving(context) as server:
        server.will_say(*["Hi."] * 4)
        model = OpenAIModel(server.url, "key", attempts=1)
        if trusted:
            assert asked(model, 2) == ["Hi."] * 4
            assert server.connections == 2  # one in each event loop
            return
        with pytest.raises(ModelError, match="certificate verify failed"):
            model.complete(QUESTION)
        with pytest.raises(ModelError, match="certificate verify failed"):
            asyncio.run(model.acomplete(QUESTION))
