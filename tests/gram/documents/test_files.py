"""Files: read from paths and open files, written in one step or not at all."""

from __future__ import annotations

import io
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from gram import GramDecodeError, dump_file, load_file, loads, loads_one, origin


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


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("(a)\n(é ".encode() + b"\xff\xfe)", "2:4: byte 0xff is not UTF-8\n  (é \n     ^"),
        (b"(a {k: '\xe9'})", "1:9: byte 0xe9 is not UTF-8\n  (a {k: '\n          ^"),
        (b"(a)\xc3", "1:4: byte 0xc3 is not UTF-8\n  (a)\n     ^"),
        (b"\xe9(a)", "1:1: byte 0xe9 is not UTF-8\n  \ufffd(a)\n  ^"),
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
