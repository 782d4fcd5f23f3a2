"""Workers in threads of the test: quicker to start than processes, and all have its environment."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from interp import Tool, ToolLibrary, hello_world_tool_library, tool
from interp.history import RunStore
from interp.workers import RunQueue, Worker


@contextmanager
def at_work(worker: Worker) -> Iterator[list[BaseException]]:
    """A worker that works beside the block; what it raises is in the list in the end."""
    raised: list[BaseException] = []

    def work() -> None:
        try:
            worker.work()
        except BaseException as error:  # noqa: BLE001  # looked at by the test
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield raised
    finally:
        worker.stop()
        worker.stop()
        thread.join(30)
        assert not thread.is_alive()


@tool(name="work", description="Works for some time")
def some_work(seconds: float) -> str:
    return "worked"


def working(store: RunStore | str, *tools: Tool, **options: Any) -> AbstractContextManager[Any]:
    """A worker that works beside the block, with tools and those of the hello-world example."""
    library = ToolLibrary.of(*tools) | hello_world_tool_library
    return at_work(Worker(address_of(store), library, **options))


def address_of(store: RunStore | str) -> str:
    """The address of a store on Postgres, with the user of the tests."""
    return store if isinstance(store, str) else RunQueue.of(store).database.address
