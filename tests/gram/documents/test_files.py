"""Files: read from paths and open files; saved whole or not at all, by one writer at a time."""

from __future__ import annotations

import errno
import io
import os
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gram import GramDecodeError, dump_file, load_file, loads, loads_one, origin, write_atomically
from gram.documents import holding, write_together


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.gram"
    path.write_bytes(b"(old)\n")
    return path


# --- reading


def test_open_files_are_read_from_their_position(file: Path) -> None:
    with file.open(encoding="utf-8") as text, file.open("rb") as binary:
        assert load_file(text) == load_file(binary) == loads("(old)")
        assert load_file(text) == ()
    assert load_file(file) == load_file(str(file)) == loads("(old)")


def test_an_error_names_the_file(file: Path) -> None:
    file.write_text("(a", encoding="utf-8")
    for source in (file, str(file), file.open("rb"), file.open(encoding="utf-8")):
        with pytest.raises(GramDecodeError) as caught:
            load_file(source)
        assert str(caught.value).startswith(f"{file}:1:3: ")
        if hasattr(source, "close"):
            source.close()
    for stream in (io.StringIO("(a"), io.BytesIO(b"(a")):  # which have no name
        with pytest.raises(GramDecodeError, match=r"\A1:3: "):
            load_file(stream)


def test_a_file_that_cannot_be_opened_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_file(tmp_path / "absent.gram")
    with pytest.raises(OSError, match="directory"):
        load_file(tmp_path)
    with pytest.raises(FileNotFoundError):
        dump_file(loads("(a)"), tmp_path / "absent" / "a.gram")
    with pytest.raises(TypeError, match="load_file: file must be a str or a path or a file"):
        load_file(None)  # type: ignore[arg-type]  # what people forget to give


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("(a)\n(é ".encode() + b"\xff\xfe)", "2:4: byte 0xff is not UTF-8\n  (é \n     ^"),
        (b"(a {k: '\xe9'})", "1:9: byte 0xe9 is not UTF-8\n  (a {k: '\n          ^"),
        (b"(a)\xc3", "1:4: byte 0xc3 is not UTF-8\n  (a)\n     ^"),
        (b"\xe9(a)", "1:1: byte 0xe9 is not UTF-8\n  \ufffd(a)\n  ^"),
        ("(a)\n(b)".encode("UTF-16"), "1:1: the file is UTF-16, not UTF-8\n  (a)\n  ^"),
        ("(a)\n(b)".encode("UTF-32"), "1:1: the file is UTF-32, not UTF-8\n  (a)\n  ^"),
    ],
)
def test_other_encodings_are_refused_at_the_first_byte(
    file: Path, content: bytes, said: str
) -> None:
    file.write_bytes(content)
    with pytest.raises(GramDecodeError) as caught:
        load_file(file)
    assert str(caught.value) == f"{file}:{said}\nhint: save the file as UTF-8"


def test_a_byte_order_mark_and_line_breaks_are_kept(file: Path) -> None:
    file.write_bytes("\ufeff(a)\r\n(b)\r\n".encode())
    tree, other = load_file(file)
    place = origin(other)
    assert place is not None
    assert place.source.text == "\ufeff(a)\r\n(b)\r\n"
    assert str(origin(tree)) == f"{file}:1:1"
    assert str(place) == f"{file}:2:1"


# --- writing


def test_a_file_ends_with_a_line_break_and_an_empty_one_is_empty(tmp_path: Path) -> None:
    trees = loads("{k: 'é'}\n(a {k: 'one\\r\\ntwo'})")
    dump_file(trees, tmp_path / "a.gram")
    dump_file((), tmp_path / "empty.gram")
    assert (tmp_path / "a.gram").read_bytes() == (
        '{k: "é"}\n(a {k: ```\none\r\ntwo\n```})\n'.encode()
    )
    assert (tmp_path / "empty.gram").read_bytes() == b""
    assert load_file(tmp_path / "a.gram") == trees


def test_open_files_are_written_as_text_or_utf_8() -> None:
    text, binary = io.StringIO(), io.BytesIO()
    dump_file(loads("(`é`)"), text)
    dump_file(loads("(`é`)"), binary)
    assert text.getvalue() == "(`é`)\n"
    assert binary.getvalue() == "(`é`)\n".encode()


def test_the_mode_of_a_file_is_kept_and_a_new_one_has_that_of_any_new_file(file: Path) -> None:
    file.chmod(0o640)
    dump_file(loads("(new)"), file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert file.read_text(encoding="utf-8") == "(new)\n"
    file.with_name("other").touch()
    dump_file(loads("(new)"), file.with_name("new"))
    assert file.with_name("new").stat().st_mode == file.with_name("other").stat().st_mode


def test_a_symbolic_link_is_followed(file: Path, tmp_path: Path) -> None:
    link, dangling = tmp_path / "link.gram", tmp_path / "dangling.gram"
    link.symlink_to(file)
    dangling.symlink_to(tmp_path / "target.gram")
    dump_file(loads("(new)"), link)
    dump_file(loads_one("[a:Abc {k: [1, 2]} | (b), c]"), dangling)
    assert link.is_symlink()
    assert file.read_text(encoding="utf-8") == "(new)\n"
    assert (tmp_path / "target.gram").read_text("utf-8") == "[a:Abc {k: [1, 2]} | b, c]\n"


def test_the_old_content_stays_when_the_trees_cannot_be_written(file: Path) -> None:
    def broken(_: Any) -> Any:
        raise RuntimeError("the style fails")

    with pytest.raises(RuntimeError):
        dump_file(loads("(new)"), file, style=broken)

    assert file.read_bytes() == b"(old)\n"


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_the_old_content_stays_when_the_disk_fails(
    file: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def fails(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, fails)
    monkeypatch.setattr(Path, "replace", fails if step == "replace" else Path.replace)

    with pytest.raises(OSError, match="No space left"):
        dump_file(loads("(new)"), file)

    assert file.read_bytes() == b"(old)\n"
    assert [path.name for path in file.parent.iterdir()] == ["a.gram"]


# --- saving


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that every user may write: those of pytest are for one."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name)


def test_writers_take_turns_so_no_edit_is_lost(tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    counter.write_text("0")

    def count() -> None:
        for _ in range(10):
            with holding(counter) as held:
                held.write(str(int(held.read() or b"") + 1))

    threads = [threading.Thread(target=count) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert counter.read_text() == "50"
    assert [path.name for path in tmp_path.iterdir()] == ["counter"]


def test_a_file_that_another_process_holds_is_refused_at_once(file: Path) -> None:
    code = f"""
import sys
from pathlib import Path
from gram.documents import holding
with holding(Path({str(file)!r})):
    print("held", flush=True)
    sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"

        with pytest.raises(BlockingIOError, match="in use by another gram process"):
            holding(file, wait=False).__enter__()

        other.kill()
    with holding(file, wait=False) as held:  # a killed holder is not in the way
        assert held.read() == b"(old)\n"
    assert [path.name for path in file.parent.iterdir()] == ["a.gram"]


def test_what_another_program_wrote_since_the_reading_is_not_overwritten(file: Path) -> None:
    for path, old in ((file, b"(old)\n"), (file.with_name("new"), None)):
        with holding(path) as held:
            assert held.read() == old
            if old:  # one holder may write again and again
                held.write("one")
                held.write("two")
            path.write_bytes(b"theirs")
            with pytest.raises(OSError, match="changed by another program"):
                held.write("ours")
        assert path.read_bytes() == b"theirs"


def test_what_a_killed_writer_left_is_removed_and_links_there_are_not_followed(file: Path) -> None:
    unfinished, lock = file.with_name(".a.gram.tmp"), file.with_name(".a.gram.lock")
    unfinished.write_bytes(b"half")
    lock.write_bytes(b"half")
    write_atomically(file, "new")
    assert [path.name for path in file.parent.iterdir()] == ["a.gram"]

    precious = file.with_name("precious")
    precious.write_bytes(b"precious")
    unfinished.symlink_to(precious)
    write_atomically(file, "newer")
    assert (precious.read_bytes(), file.read_bytes()) == (b"precious", b"newer")

    lock.symlink_to(file.with_name("elsewhere"))
    with pytest.raises(OSError, match="symbolic links"):
        write_atomically(file, "newest")
    assert not file.with_name("elsewhere").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file to somebody else")
def test_the_owner_of_a_file_is_kept(file: Path) -> None:
    os.chown(file, 1234, 4321)
    write_atomically(file, "new")
    assert (file.stat().st_uid, file.stat().st_gid) == (1234, 4321)


@pytest.mark.skipif(sys.platform != "linux", reason="Python knows extended attributes on Linux")
def test_extended_attributes_are_kept(file: Path) -> None:
    try:
        os.setxattr(file, "user.from", b"a friend")
    except OSError:
        pytest.skip("the file system of the tests has no extended attributes")
    write_atomically(file, "new")
    assert os.getxattr(file, "user.from") == b"a friend"


def test_private_and_unfinished_texts_are_never_more_open_than_their_file(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.chmod(0o600)
    modes: list[int] = []
    really_open = os.open

    def opening(path: Path, *given: int) -> int:
        descriptor = really_open(path, *given)
        if Path(path).suffix == ".tmp":
            modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        return descriptor

    monkeypatch.setattr(os, "open", opening)
    write_atomically(file, "secret")

    assert modes == [0o600]
    write_atomically(file.with_name("private"), "secret", private=True)
    assert stat.S_IMODE(file.with_name("private").stat().st_mode) == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become somebody else")
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda file: file.chmod(0o444), "Permission denied"),
        (lambda file: file.parent.chmod(0o555), "cannot be locked in its folder"),
        (lambda file: file.parent.chmod(0o1777), "belongs to another user"),
        (lambda file: os.chown(file, 1001, 4321), "belongs to another user or group"),
    ],
)
def test_what_could_not_be_written_is_known_before(shared: Path, change: Any, reason: str) -> None:
    file = shared / "a.gram"
    file.write_text("old")
    file.chmod(0o666)
    os.chown(file, 2002 if "user" in reason else 1001, 1001)
    change(file)
    code = f"""
import fcntl, os
from pathlib import Path
from gram.documents import holding
os.setgroups([]), os.setgid(1001), os.setuid(1001)
try:
    with holding(Path({str(file)!r})) as held:
        held.check_writable()
except OSError as error:
    print(error.filename, error.strerror)
"""
    said = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, encoding="utf-8"
    ).stdout

    assert said.startswith(f"{file} ")
    assert reason in said
    assert sorted(path.name for path in file.parent.iterdir()) == ["a.gram"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become somebody else")
@pytest.mark.parametrize(("umask", "sticky"), [(0o022, False), (0o077, True)])
def test_a_lock_that_another_user_s_killed_process_left_is_not_in_the_way(
    shared: Path, umask: int, sticky: bool
) -> None:
    shared.chmod(0o1777 if sticky else 0o777)
    code = f"""
import os, signal
from pathlib import Path
from gram import write_atomically
from gram.documents import holding
def as_user(user, do):
    if (child := os.fork()) == 0:
        os.setgroups([]), os.setgid(user), os.setuid(user), os.umask({umask})
        do()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
path = Path({str(shared / "a.gram")!r})
def killed():
    holding(path).__enter__()
    os.kill(os.getpid(), signal.SIGKILL)
write_atomically(path, "")
os.chown(path, 2002, 2002), path.chmod(0o666)
assert as_user(1001, killed) == -signal.SIGKILL
assert as_user(2002, lambda: write_atomically(path, "new")) == 0
"""
    subprocess.run([sys.executable, "-c", code], check=True)

    assert (shared / "a.gram").read_text() == "new"


@pytest.mark.parametrize("name", ["x" * 250, "é" * 125, "x" * 255])
def test_a_name_of_lawful_length_can_be_written(tmp_path: Path, name: str) -> None:
    write_atomically(tmp_path / name, "new")
    assert (tmp_path / name).read_bytes() == b"new"
    with pytest.raises(OSError, match="too long"):
        write_atomically(tmp_path / (name * 2), "new")


def test_a_circle_of_links_a_pipe_and_several_hard_links_are_an_os_error(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")

    with pytest.raises(OSError, match="symbolic links"):
        write_atomically(tmp_path / "a", "new")

    assert (tmp_path / "a").is_symlink()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="Not a regular file"):
        write_atomically(tmp_path / "pipe", "new")
    assert (tmp_path / "pipe").is_fifo()
    (tmp_path / "one").touch()
    os.link(tmp_path / "one", tmp_path / "other")
    with pytest.raises(OSError, match="several hard links"):
        write_atomically(tmp_path / "one", "new")
    assert (tmp_path / "one").read_bytes() == b""


def test_files_are_written_together_or_none_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, new = (tmp_path / name for name in ("a", "b", "c"))
    first.write_text("1")
    second.write_text("2")
    known = {first: "1", second: "2"}
    replace = Path.replace

    def failing(path: Path, target: Path) -> Path:
        if target.name == "a":  # the last one: files are replaced from the end
            raise OSError(errno.EIO, "the disk is gone")
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(OSError, match="the disk is gone"):
        write_together({first: "10", second: "20", new: "30"}, known)
    assert (first.read_text(), second.read_text(), new.exists()) == ("1", "2", False)

    monkeypatch.undo()
    with pytest.raises(OSError, match="changed by another program"):
        write_together({first: "10", second: "20"}, known | {second: "x"})
    assert (first.read_text(), second.read_text()) == ("1", "2")

    write_together({first: "10", second: "20", new: "30"}, known)
    assert [each.read_text() for each in (first, second, new)] == ["10", "20", "30"]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a", "b", "c"]
