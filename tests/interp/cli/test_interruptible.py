"""Signals that end a command: none is lost, wherever Python is when it comes."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from tests.paths import ROOT

IN_A_CALLBACK = """
import os, signal, sys, time
from interp.cli.process import interruptible, leave_at_interrupt

class Closing:
    def __del__(self):
        os.kill(os.getpid(), int(sys.argv[1]))
        for _ in range(1000):
            pass

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run under nohup
leave_at_interrupt()
try:
    with interruptible():
        closing = Closing()
        del closing
        time.sleep(20)
        print("it goes on")
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_that_comes_in_a_callback_ends_the_command(number: int, code: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", IN_A_CALLBACK, str(int(number))],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert (done.returncode, done.stdout) == (code, "")
