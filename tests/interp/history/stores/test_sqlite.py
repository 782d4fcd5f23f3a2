"""Stores in files, where the file or its folder cannot be written."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from interp import open_store
from interp.errors import StoreError
from interp.history import RunFacts
from interp.history.stores.databases import SqliteDatabase

NOBODY = 65534


@pytest.fixture
def path() -> Iterator[Path]:
    """A store with a run, in a folder that every user can reach."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "runs?#.db"
        found.parent.chmod(0o755)
        with open_store(found) as store:
            store.create("one", "(:Run)", RunFacts("counter", "A/b", "a.gram", "hash"))
        yield found


@contextmanager
def without_rights(path: Path, file: int, folder: int) -> Iterator[None]:
    """As somebody who may do with a file and its folder what their modes say: root may all."""
    path.chmod(file)
    path.parent.chmod(folder)
    if is_root := os.geteuid() == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)
        path.parent.chmod(0o755)


@pytest.mark.parametrize(("file", "folder"), [(0o444, 0o555), (0o666, 0o555), (0o444, 0o777)])
def test_a_store_that_cannot_be_written_is_refused(path: Path, file: int, folder: int) -> None:
    refused = pytest.raises(StoreError, match=r"Permission denied|or its folder, cannot be written")
    with without_rights(path, file, folder), open_store(path) as store, refused:
        list(store.rows())
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_an_interrupt_at_any_line_leaves_the_file_to_all(path: Path) -> None:
    """What is done together is kept or not, whole, and the store and others go on writing."""
    for line in count(1):
        passed = 0

        def interrupt(frame: FrameType, event: str, _: object, line: int = line) -> Any:
            nonlocal passed
            if frame.f_code is not SqliteDatabase.together.__code__:
                return None
            passed += event == "line"
            if passed == line:
                sys.settrace(None)
                raise KeyboardInterrupt
            return interrupt

        with open_store(path) as store, open_store(path) as other:
            each = len(store.entries("one"))
            claim = store.claim("one")
            sys.settrace(interrupt)
            try:
                claim.append("(a)", "(b)")
            except KeyboardInterrupt:
                assert len(store.entries("one")) in (each, each + 2)
            finally:
                sys.settrace(None)
            assert other.database.execute("UPDATE gram_runs SET owner = NULL RETURNING id")
            assert store.database.execute("UPDATE gram_runs SET agent = ? RETURNING id", str(line))
            assert other.row("one").facts.agent == str(line)
        if passed < line:
            assert line > 8
            return


def test_a_store_that_cannot_be_read_is_refused(path: Path) -> None:
    refused = pytest.raises(StoreError, match="Permission denied")
    with without_rights(path, 0o000, 0o755), open_store(path) as store, refused:
        list(store.rows())
