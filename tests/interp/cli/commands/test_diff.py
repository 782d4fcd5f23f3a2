"""``gram diff``: files, folders and revisions, as text, JSON and Markdown."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.interp.cli.process import gram, refused, rows

OLD = """\
[desk:Agent {instruction: "Help.", model: "OpenAI/x"} |
  [search:ToolSpecification {description: "Searches."} |
    (limit::Integer {default: 10})==>(::String)]] // a comment
[help:Agent {instruction: "Be kind to all who come.", model: "OpenAI/x"}]
"""
NEW = """\
[support:Agent {instruction: "Be kind to all who come.", model: "OpenAI/x"}]

[desk:Agent {model: "OpenAI/y", instruction: "Help."} |
  [search:ToolSpecification {description: "Searches."} |
    (limit::Integer {default: 20})==>(::String)],
  [refund:ToolSpecification {description: "Pays."} | ()==>(::String)]]
"""
TOLD = """\
agent `help` renamed `support` [breaking for callers]
agent `desk`: model OpenAI/x → OpenAI/y [changing behaviour]
agent `desk`: tool `search`: parameter `limit` default 10 → 20 \
(callers that leave it out are affected) [breaking for callers] [breaking for functions]
agent `desk`: tool `refund` is new
major: 4 changes, 2 breaking for callers, 1 breaking for functions, 1 changing behaviour
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose first revision, ``v1``, has OLD, and whose working tree has NEW."""
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "desk.gram").write_text(OLD)
    (tmp_path / "agents" / "gone.gram").write_text("(t:Tool {description: 'A'})")
    commit(tmp_path, "v1")
    (tmp_path / "agents" / "desk.gram").write_text(NEW)
    (tmp_path / "agents" / "gone.gram").unlink()
    (tmp_path / "agents" / "come.gram").write_text("(u:Tool {description: 'A'})")
    return tmp_path


def test_a_changed_skill_is_a_change_of_behaviour(repository: Path) -> None:
    skill = repository / "agents" / "skills" / "refunds" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: refunds\ndescription: d\n---\nWithin 30 days.\n")
    named = '[desk:Agent {instruction: "Help.", model: "OpenAI/x", skills: ["skills/refunds"]}]'
    (repository / "agents" / "desk.gram").write_text(named)
    commit(repository, "v2")
    skill.write_text(skill.read_text().replace("30", "20"))
    text = '`refunds`: text "Within 30 days." → "Within 20 days."'
    told = f"agent `desk`: {text} [changing behaviour]"

    for what in (["v2", "agents"], ["v2:agents/desk.gram", "agents/desk.gram"]):
        assert told in gram("diff", *what, cwd=repository).stdout
    assert gram("diff", "v2", "v2", "--", "agents", cwd=repository).stdout == ""


def git(folder: Path, *arguments: str) -> None:
    """Run git in a folder."""
    subprocess.run(["git", *arguments], cwd=folder, check=True)


def commit(folder: Path, tag: str) -> None:
    """Commit all files, and tag it."""
    git(folder, "add", "-A")
    who = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    git(folder, *who, "commit", "-q", "--no-gpg-sign", "-m", tag)
    git(folder, "tag", tag)


def test_two_files_are_told_in_words_with_what_each_change_means(tmp_path: Path) -> None:
    (tmp_path / "old.gram").write_text(OLD)
    (tmp_path / "new.gram").write_text(NEW)
    done = gram("diff", "old.gram", "new.gram", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, TOLD, "")
    assert gram("diff", "old.gram", "new.gram", "--exit-code", cwd=tmp_path).returncode == 1
    coloured = gram("diff", "old.gram", "new.gram", cwd=tmp_path, FORCE_COLOR="1").stdout
    assert "\x1b[31m\x1b[1m [breaking for callers]" in coloured


def test_order_is_shown_with_all_and_layout_never(tmp_path: Path) -> None:
    for name, text in (("a", "(a) (b)"), ("b", "(b) (a)"), ("c", "(a)\n\n(b) // same\n")):
        (tmp_path / f"{name}.gram").write_text(text)

    order = gram("diff", "a.gram", "b.gram", "--exit-code", cwd=tmp_path)
    shown = gram("diff", "a.gram", "b.gram", "--all", cwd=tmp_path)
    layout = gram("diff", "a.gram", "c.gram", "--exit-code", "--all", cwd=tmp_path)

    assert (order.returncode, order.stdout) == (1, "")
    assert order.stderr == "only order and spelling differ: --all shows how\n"
    assert shown.stdout == "`b` is at another place in the order\n"
    assert (layout.returncode, layout.stdout, layout.stderr) == (0, "", "no difference\n")


FOLDERS = f"""\
come.gram (new)
tool `u` is new
desk.gram
{TOLD[: TOLD.index("major")]}gone.gram (removed)
tool `t` is removed [breaking for callers]
major: 6 changes, 3 breaking for callers, 1 breaking for functions, 1 changing behaviour
"""


def test_folders_and_revisions_are_compared_file_by_file(repository: Path) -> None:
    for old, new in (("v1:agents", "agents"), ("v1", "agents")):
        assert gram("diff", old, new, cwd=repository).stdout == FOLDERS
    named = ("diff", "v1:agents/desk.gram", "agents/desk.gram")
    assert gram(*named, cwd=repository).stdout == TOLD
    commit(repository, "v2")
    git(repository, "rm", "-q", "-r", "agents")
    for paths in (("agents",), (str(repository / "agents"),)):
        assert gram("diff", "v1", "v2", "--", *paths, cwd=repository).stdout == FOLDERS
    below = repository / "below"
    below.mkdir()
    assert gram("diff", "v1", "v2", "--", "../agents/desk.gram", cwd=below).stdout == TOLD
    assert "agents/come.gram (new)" in gram("diff", "v1", "v2", cwd=repository).stdout


def test_a_broken_file_among_others_is_told_and_the_others_go_on(repository: Path) -> None:
    (repository / "agents" / "come.gram").write_text("<<<<<<< ours\n(a\n")
    (repository / "agents" / "bin.gram").write_bytes(b"\xff\xfe\x00")
    done = gram("diff", "v1", "agents", cwd=repository)
    rows = json.loads(gram("diff", "v1", "agents", "--json", cwd=repository).stdout)["files"]
    assert done.returncode == 3
    assert "agents/come.gram:1:1: error[syntax]" in done.stderr
    assert "desk.gram\nagent `help` renamed `support`" in done.stdout
    assert [row["file"] for row in rows if "error" in row] == ["bin.gram", "come.gram"]


def test_json_says_what_each_change_means_and_where_it_is(repository: Path) -> None:
    done = gram("diff", "v1:agents/desk.gram", "agents/desk.gram", "--json", cwd=repository)

    found = json.loads(done.stdout)
    assert found["level"] == "major"
    assert found["files"][0]["changes"][2] == {
        "what": ["agent `desk`", "tool `search`"],
        "change": "parameter `limit` default 10 → 20 (callers that leave it out are affected)",
        "level": "major",
        "breaks_callers": True,
        "breaks_functions": True,
        "changes_behaviour": False,
        "place": "agents/desk.gram:4:3",
    }


def test_in_markdown_nothing_that_people_wrote_means_anything(tmp_path: Path) -> None:
    odd = "`` </details> @all [x](http://x) | # \\n- <script>"
    (tmp_path / "old.gram").write_text("(a:Agent {instruction: 'A', model: 'O/x'})")
    (tmp_path / "new.gram").write_text(f'(a:Agent {{instruction: "{odd}", model: "O/x"}})')

    done = gram("diff", "old.gram", "new.gram", "--markdown", cwd=tmp_path)

    heading, change, level = done.stdout.split("\n\n")
    assert heading == "### ` new.gram `"
    now = "`` </details> @all [x](http://x) | # - <script>"
    assert change == f'- ``` agent `a`: instruction "A" → "{now}" ``` **changing behaviour**'
    assert level == "**patch**: 1 change, 1 changing behaviour\n"


@pytest.mark.parametrize(("arguments", "code", "message"), rows("not compared"))
def test_nothing_compared(repository: Path, arguments: list[str], code: int, message: str) -> None:
    refused(gram("diff", *arguments, cwd=repository), code, message)


def test_outside_a_repository_a_missing_file_is_told(tmp_path: Path) -> None:
    above = {"GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
    done = gram("diff", "HEAD", "x.gram", cwd=tmp_path, **above)
    refused(done, 2, "HEAD: no such file, and no such revision in git")
