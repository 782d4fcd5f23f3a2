"""A process that works until it is told to stop, and then ends in time."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Final

_SLICE: Final = 0.1  # seconds between two looks at the time


def until_told(
    work: Callable[[], None], stop: Callable[[], None], end: Callable[[], float]
) -> bool:
    """Do some work in another thread, wait for its end, and tell it to stop at a signal.

    This thread only waits, so that it sees a signal, and the time, whatever the work waits for.
    Work that is not over in time goes on for as long as the process does.

    Args:
        work: the work.
        stop: called at SIGTERM and SIGINT; both stay ignored where they are.
        end: the time, as `monotonic` counts, after which this waits no more.

    Returns:
        Whether the work is over.
    """
    raised: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001  # raised again where it is waited for
            raised.append(error)

    thread = threading.Thread(target=run, name="gram-worker", daemon=True)
    with _signals_call(stop):
        thread.start()
        while thread.is_alive() and monotonic() < end():
            thread.join(_SLICE)
    if raised:
        raise raised[0]
    return not thread.is_alive()


@contextmanager
def _signals_call(stop: Callable[[], None]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():  # others have no signals
        yield
        return
    before = {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)}
    taken = {each: old for each, old in before.items() if old is not signal.SIG_IGN}
    for each in taken:
        signal.signal(each, lambda *_: stop())
    try:
        yield
    finally:
        for each, old in taken.items():
            signal.signal(each, old or signal.SIG_DFL)
