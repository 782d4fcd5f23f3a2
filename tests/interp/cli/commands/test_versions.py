"""``gram diff``, ``gram merge`` and ``gram git install``: files, and real repositories of git."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.interp.cli.process import gram, has, refused, rows, told
from tests.interp.forked import COMMANDS

TOOL = 'Tool {description: "d"}'
DESK = f"""\
// the desk
[desk:Agent {{model: "Offline/rehearsal", instruction: "Help."}} |
  search // finds
]
[search:{TOOL} | (q::Text)==>(::Text)]
"""
OTHER = '[other:Agent {model: "Offline/rehearsal", instruction: "Ask."} | search]\n'


def three(folder: Path, ours: str, theirs: str, base: str = DESK) -> list[str]:
    """Three files in a folder."""
    files = []
    for name, text in (("base", base), ("ours", ours), ("theirs", theirs)):
        (folder / f"{name}.gram").write_bytes(text.encode())
        files.append(str(folder / f"{name}.gram"))
    return files


def test_changes_of_both_sides_are_printed_or_written(tmp_path: Path) -> None:
    ours, theirs = DESK.replace("rehearsal", "other"), DESK.replace("Help.", "Help them.")
    files = three(tmp_path, ours, theirs)
    merged = ours.replace("Help.", "Help them.")
    printed = gram("merge", *files)
    assert (printed.returncode, printed.stdout, printed.stderr) == (0, merged, "")
    assert (tmp_path / "ours.gram").read_text() == ours
    assert gram("merge", *files, "-i").returncode == 0
    assert (tmp_path / "ours.gram").read_text() == merged


def test_a_conflict_is_marked_and_told_in_words(tmp_path: Path) -> None:
    files = three(tmp_path, DESK.replace("rehearsal", "x"), DESK.replace("rehearsal", "y"))
    environment = {"GIT_CONFIG_GLOBAL": str(tmp_path / "config")}
    (tmp_path / "config").write_text("[merge]\n  conflictStyle = zdiff3\n")

    done = gram("merge", *files, "--path", "desk.gram", cwd=tmp_path)
    named = gram("merge", *files, "-L", "me", "-L", "old", "-L", "you", **environment)

    ways = '"Offline/rehearsal" → "Offline/x" (ours), → "Offline/y" (theirs)\n'
    told(done, 1, f"desk.gram: conflict: agent `desk`: model is changed in two ways: {ways}")
    assert done.stderr.count("\n") == 1
    x, y = 'model: "Offline/x",', 'model: "Offline/y",'
    assert f"<<<<<<< ours\n{x}\n=======\n{y}\n>>>>>>> theirs\n" in done.stdout
    assert f'<<<<<<< me\n{x}\n||||||| old\nmodel: "Offline/rehearsal",\n' in named.stdout
    assert "(me), → " in named.stderr


BROKEN = rows("broken merges")


@pytest.mark.parametrize(("base", "ours", "theirs", "errors", "met"), BROKEN.values(), ids=BROKEN)
def test_what_merges_as_text_and_is_broken_as_a_program_is_a_conflict(
    tmp_path: Path,
    base: str,
    ours: str | list[str],
    theirs: str | list[str],
    errors: list[str],
    met: list[str],
) -> None:
    def side(made: str | list[str]) -> str:
        text = base if isinstance(made, list) else made
        pairs = zip(made[::2], made[1::2], strict=True) if isinstance(made, list) else ()
        for old, new in pairs:
            assert old in text
            text = text.replace(old, new)
        return text.replace("$A", 'Agent {model: "Offline/rehearsal", instruction: "x"}')

    files = three(tmp_path, side(ours), side(theirs), side(base))
    for each in files:
        assert gram("check", each).returncode == 0

    done = gram("merge", *files)

    assert done.returncode == 1
    assert "<<<<<<<" not in done.stdout
    for text in (*errors, *met, "in neither ours nor theirs alone"):
        assert text in done.stderr


def test_texts_that_are_not_gram_are_merged_by_lines_and_it_is_said(tmp_path: Path) -> None:
    broken = "[desk:Agent {model: \n" + DESK
    files = three(tmp_path, broken, DESK + "\n\n" + OTHER)

    done = gram("merge", *files)
    gram("merge", *files, "-i")
    marked = gram("merge", *three(tmp_path, "<<<<<<< x\n(a)\n", "(b)\n", "(c)\n"))

    assert done.returncode == 0
    assert done.stdout == broken + "\n\n" + OTHER
    assert "merged by lines, as git does" in done.stderr
    assert marked.returncode == 1
    assert "=======" in marked.stdout


# --- in git


class Repository:
    """A repository of git in which gram is installed.

    Args:
        folder: where it is made.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str, fails: bool = False) -> str:
        """Run git; give what it printed."""
        who = ("user.name=x", "user.email=x@example.com")
        settings = (word for each in who for word in ("-c", each))
        environment = {name: text for name, text in os.environ.items() if name[:4] != "GIT_"}
        environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_EDITOR": "true"}
        words, here = ["git", *settings, *arguments], self.folder
        done = subprocess.run(words, cwd=here, env=environment, capture_output=True, text=True)
        assert bool(done.returncode) == fails, done.stderr
        return done.stdout + done.stderr

    def commit(self, tag: str = "", **files: str) -> None:
        """Commit all files, and those given by their names without the suffix; tag it."""
        for name, text in files.items():
            (self.folder / f"{name}.gram").write_text(text)
        self.git("add", "-A")
        self.git("commit", "-qm", "x")
        if tag:
            self.git("tag", tag)

    def sides(self, base: dict[str, str], ours: dict[str, str], theirs: dict[str, str]) -> None:
        """Two branches from one commit: ``theirs``, and the one that is checked out."""
        self.commit(**base)
        self.git("checkout", "-qb", "theirs")
        self.commit(**theirs)
        self.git("checkout", "-q", "main")
        self.commit(**ours)

    def read(self, name: str = "desk") -> str:
        """The text of a file."""
        return (self.folder / f"{name}.gram").read_text()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A repository in which ``gram git install`` was run, with the command on the path."""
    made = Repository(tmp_path)
    COMMANDS.written(tmp_path / ".git" / "gram")
    monkeypatch.setenv("PATH", f"{tmp_path / '.git'}:{os.environ['PATH']}")
    assert gram("git", "install", cwd=tmp_path).returncode == 0
    return made


@pytest.mark.parametrize(
    ("begun_on", "words"), [("main", ("merge", "theirs")), ("theirs", ("rebase", "main"))]
)
def test_git_merges_rebases(repository: Repository, begun_on: str, words: tuple[str, ...]) -> None:
    ours = DESK.replace("rehearsal", "other")
    repository.sides({"desk": DESK}, {"desk": ours}, {"desk": DESK.replace("Help.", "Help them.")})
    repository.git("checkout", "-q", begun_on)
    repository.git(*words)
    assert repository.read() == ours.replace("Help.", "Help them.")


def test_git_keeps_a_conflict_open_and_says_what_it_is(repository: Repository) -> None:
    model = "Offline/rehearsal"
    sides = ({"desk": DESK.replace(model, f"Offline/{name}")} for name in ("x", "y"))
    repository.sides({"desk": DESK}, *sides)
    said = repository.git("merge", "theirs", fails=True)
    assert "desk.gram: conflict: agent `desk`: model is changed in two ways" in said
    assert "UU desk.gram" in repository.git("status", "--short")
    assert repository.read().count("<<<<<<<") == repository.read().count(">>>>>>>") == 1


def test_a_path_in_git_is_told_from_the_root(repository: Repository) -> None:
    (repository.folder / "below").mkdir()
    repository.commit(**{"below/desk": DESK})
    done = gram("diff", "HEAD:desk.gram", "desk.gram", cwd=repository.folder / "below")
    refused(done, 2, "at HEAD; from the working directory it is HEAD:./desk.gram")


def test_what_breaks_across_files_stops_the_merge(repository: Repository) -> None:
    user = '{imports: ["desk.gram"]}\n' + OTHER
    repository.sides({"desk": DESK}, {"desk": DESK.replace("search", "find")}, {"other": user})

    said = repository.git("merge", "theirs", fails=True)

    assert 'other.gram:2:66: error[undefined-reference] "search" is not defined' in said
    has(said, "ours: tool `search` renamed `find`", "theirs: agent `other` is new")
    asked = gram("merge", "--across", "main", "theirs", cwd=repository.folder)
    assert (asked.returncode, asked.stderr in said) == (1, True)
    below = repository.folder / "below"
    below.mkdir()
    assert gram("merge", "--across", "main", "theirs", cwd=below).returncode == 1
    repository.git("commit", "-qm", "merged all the same")
    assert gram("merge", "--across", "HEAD", cwd=repository.folder).stderr == asked.stderr


def test_a_merge_that_breaks_nothing_is_committed(repository: Repository) -> None:
    user = '{imports: ["desk.gram"]}\n' + OTHER
    broken = {"broken": "[a"}  # as both sides have it
    changed = {"desk": DESK.replace("Help.", "Help them.")}
    repository.sides({"desk": DESK, **broken}, changed, {"other": user})
    repository.git("merge", "theirs")
    assert gram("merge", "--across", "HEAD", cwd=repository.folder).returncode == 0


def test_across_needs_a_merge(repository: Repository) -> None:
    repository.commit(desk=DESK)
    for why, revisions in rows("no merges"):
        told(gram("merge", "--across", *revisions, cwd=repository.folder), 1, why)


def test_hunks_are_named_by_the_agent_or_tool_that_they_are_in(repository: Repository) -> None:
    lines = "".join(f"  // {number}\n" for number in range(9))
    repository.commit(desk=DESK.replace("  search //", f"{lines}  search //"))
    (repository.folder / "desk.gram").write_text(repository.read().replace("finds", "looks"))
    assert "@@ [desk:Agent" in repository.git("diff")


def test_installing_twice_changes_nothing_and_undoing_leaves_what_was_there(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    (tmp_path / ".gitattributes").write_text("*.png binary")
    hook = tmp_path / ".git" / "hooks" / "pre-merge-commit"
    before = (tmp_path / ".git" / "config").read_text()

    first, second = (gram("git", "install", cwd=tmp_path) for _ in range(2))
    attributes = (tmp_path / ".gitattributes").read_text()
    driver = repository.git("config", "merge.gram.driver")
    gram("git", "install", "--undo", cwd=tmp_path)

    assert "merge.gram.driver" in first.stderr
    assert second.stderr == ""
    assert attributes == "*.png binary\n*.gram merge=gram diff=gram\n"
    assert "merge -i" in driver
    assert (tmp_path / ".gitattributes").read_text() == "*.png binary\n"
    assert (tmp_path / ".git" / "config").read_text() == before
    assert not hook.exists()


def test_a_hook_that_is_there_stays_and_the_line_to_add_is_said(tmp_path: Path) -> None:
    Repository(tmp_path)
    hook = tmp_path / ".git" / "hooks" / "pre-merge-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ntrue\n")
    said = gram("git", "install", cwd=tmp_path).stderr
    gram("git", "install", "--undo", cwd=tmp_path)
    assert "merge --across || exit 1" in said
    assert hook.read_text() == "#!/bin/sh\ntrue\n"


def test_outside_a_repository_there_is_nothing_to_install(tmp_path: Path) -> None:
    done = gram("git", "install", cwd=tmp_path, GIT_CEILING_DIRECTORIES=str(tmp_path.parent))
    assert (done.returncode, done.stderr) == (1, "gram: this folder is in no git repository\n")


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
def versions(tmp_path: Path) -> Repository:
    """A repository whose first revision, ``v1``, has OLD, and whose working tree has NEW."""
    made = Repository(tmp_path)
    agents = tmp_path / "agents"
    agents.mkdir()
    (agents / "desk.gram").write_text(OLD)
    (agents / "gone.gram").write_text("(t:Tool {description: 'A'})")
    made.commit("v1")
    (agents / "desk.gram").write_text(NEW)
    (agents / "gone.gram").unlink()
    (agents / "come.gram").write_text("(u:Tool {description: 'A'})")
    return made


def test_a_changed_skill_is_a_change_of_behaviour(versions: Repository) -> None:
    skill = versions.folder / "agents" / "skills" / "refunds" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: refunds\ndescription: d\n---\nWithin 30 days.\n")
    named = '[desk:Agent {instruction: "Help.", model: "OpenAI/x", skills: ["skills/refunds"]}]'
    (versions.folder / "agents" / "desk.gram").write_text(named)
    versions.commit("v2")
    skill.write_text(skill.read_text().replace("30", "20"))
    text = '`refunds`: text "Within 30 days." → "Within 20 days."'
    told = f"agent `desk`: {text} [changing behaviour]"

    for what in (["v2", "agents"], ["v2:agents/desk.gram", "agents/desk.gram"]):
        assert told in gram("diff", *what, cwd=versions.folder).stdout
    assert gram("diff", "v2", "v2", "--", "agents", cwd=versions.folder).stdout == ""


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


def test_folders_and_revisions_are_compared_file_by_file(versions: Repository) -> None:
    for old, new in (("v1:agents", "agents"), ("v1", "agents")):
        assert gram("diff", old, new, cwd=versions.folder).stdout == FOLDERS
    named = ("diff", "v1:agents/desk.gram", "agents/desk.gram")
    assert gram(*named, cwd=versions.folder).stdout == TOLD
    versions.commit("v2")
    versions.git("rm", "-q", "-r", "agents")
    for paths in (("agents",), (str(versions.folder / "agents"),)):
        assert gram("diff", "v1", "v2", "--", *paths, cwd=versions.folder).stdout == FOLDERS
    below = versions.folder / "below"
    below.mkdir()
    assert gram("diff", "v1", "v2", "--", "../agents/desk.gram", cwd=below).stdout == TOLD
    assert gram("diff", "v1", "v2", "--", "../agents", cwd=below).stdout == FOLDERS
    assert "agents/come.gram (new)" in gram("diff", "v1", "v2", cwd=versions.folder).stdout


def test_a_broken_file_among_others_is_told_and_the_others_go_on(versions: Repository) -> None:
    (versions.folder / "agents" / "come.gram").write_text("<<<<<<< ours\n(a\n")
    (versions.folder / "agents" / "bin.gram").write_bytes(b"\xff\xfe\x00")
    done = gram("diff", "v1", "agents", cwd=versions.folder)
    rows = json.loads(gram("diff", "v1", "agents", "--json", cwd=versions.folder).stdout)["files"]
    assert done.returncode == 3
    assert "agents/come.gram:1:1: error[syntax]" in done.stderr
    assert "desk.gram\nagent `help` renamed `support`" in done.stdout
    assert [row["file"] for row in rows if "error" in row] == ["bin.gram", "come.gram"]


def test_json_says_what_each_change_means_and_where_it_is(versions: Repository) -> None:
    done = gram("diff", "v1:agents/desk.gram", "agents/desk.gram", "--json", cwd=versions.folder)

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
def test_nothing_compared(
    versions: Repository, arguments: list[str], code: int, message: str
) -> None:
    refused(gram("diff", *arguments, cwd=versions.folder), code, message)


def test_outside_a_repository_a_missing_file_is_told(tmp_path: Path) -> None:
    above = {"GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
    done = gram("diff", "HEAD", "x.gram", cwd=tmp_path, **above)
    refused(done, 2, "HEAD: no such file, and no such revision in git")
