"""A real browser without a window, spoken to through a pipe; it reaches no network."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
needs_a_browser = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium is installed to look at pages with"
)
WIDE, PHONE = (1280, 900), (390, 844)


class Browser:
    """One tab of a browser; a page that asks the network for anything fails."""

    def __init__(self, folder: str) -> None:
        assert CHROMIUM is not None
        to_browser, self._to = os.pipe()
        self._from, from_browser = os.pipe()
        arguments = [
            CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
            "--disable-dev-shm-usage", "--remote-debugging-pipe", "--hide-scrollbars",
            f"--user-data-dir={folder}", "--proxy-server=127.0.0.1:9", "about:blank",
        ]  # fmt: skip
        command = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        self._process = subprocess.Popen(
            ["bash", "-c", command, "bash", *arguments],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._last, self._buffer, self._session = 0, b"", None
        self.asked: list[str] = []
        """The addresses that pages asked for."""
        self.complaints: list[str] = []
        """What the browser logged as errors, and exceptions of scripts."""
        targets = self._call("Target.getTargets")["targetInfos"]
        target = next(each["targetId"] for each in targets if each["type"] == "page")
        attached = self._call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self._call(f"{domain}.enable")

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._from], [], [], 120)
            assert ready, "the browser does not answer"
            part = os.read(self._from, 1 << 20)
            assert part, "the browser has gone"
            self._buffer += part
        whole, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(whole)
        match message.get("method"):
            case "Network.requestWillBeSent":
                self.asked.append(message["params"]["request"]["url"])
            case "Log.entryAdded":
                self.complaints.append(message["params"]["entry"]["text"])
            case "Runtime.exceptionThrown":
                self.complaints.append(str(message["params"]["exceptionDetails"]))
        return message

    def _call(self, method: str, **params: Any) -> Any:
        self._last += 1
        message = {"id": self._last, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while (answer := self._read()).get("id") != self._last:
            pass
        assert "error" not in answer, answer
        return answer["result"]

    def open(self, file: Path, size: tuple[int, int] = WIDE, *, dark: bool = False) -> None:
        """Open a file at a size of the window, and wait until it has loaded."""
        width, height = size
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=size == PHONE,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])
        self._call("Page.navigate", url=file.resolve().as_uri())
        while self._read().get("method") != "Page.loadEventFired":
            pass

    def run(self, script: str) -> Any:
        """The value of an expression of JavaScript."""
        answer = self._call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key: str, text: str = "") -> None:
        """Press a key."""
        named = {"Tab": 9, "Enter": 13, "Escape": 27}
        code = {"windowsVirtualKeyCode": named[key]} if key in named else {}
        text = text or ("\r" if key == "Enter" else "" if key in named else key)
        self._call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text, **code)
        self._call("Input.dispatchKeyEvent", type="keyUp", key=key, **code)

    def close(self) -> None:
        """End the browser."""
        os.close(self._to)
        os.close(self._from)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@contextmanager
def a_browser() -> Iterator[Browser]:
    """A browser, ended afterwards."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder)
        try:
            yield browser
        finally:
            browser.close()
