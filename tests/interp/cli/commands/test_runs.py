"""What is in a store at the command line: runs, conversations, and the workers that do them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from shlex import quote
from typing import Any

import pytest

from gram import dumps
from interp import open_store, submit
from tests.interp.cli.process import HELLO, gram, has, refused, rows, written
from tests.interp.cli.typing_at import Terminal
from tests.interp.model_server import Answer, ModelServer, completion
from tests.interp.worker_processes import GREETER, TALKER, until, worker

SAY = ("run", HELLO, "hello, I'm Al", "--offline")


@pytest.fixture
def address(tmp_path: Path) -> str:
    return str(tmp_path / "runs.db")


def runs(address: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return gram("runs", *arguments, GRAM_RECORD=address)


def listed(address: str, *filters: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(runs(address, "list", "--json", *filters).stdout)
    return found


def test_a_run_is_kept_listed_and_shown(address: str, tmp_path: Path) -> None:
    done = gram(*SAY, "--record", address, "--json")
    run = json.loads(done.stdout)["run"]

    (row,) = listed(address)
    assert (row["id"], row["status"], row["agent"]) == (run, "done", "hello_world_agent")
    counts = {"input_tokens", "output_tokens", "total_tokens"}
    assert row["usage"].keys() == counts | {"cached_tokens", "reasoning_tokens"}
    assert runs(address, "list").stdout.startswith(f"{run}  done ")
    none = runs(address, "list", "--status", "failed")
    assert (none.returncode, none.stdout, none.stderr) == (0, "", "gram: there are no such runs\n")
    shown = gram("trace", f"{address}#{run[:6]}").stdout
    assert "hello_world_agent · Offline/rehearsal · done" in shown
    assert 'sayHello(personName: "Al") -> "Hello, Al!' in shown
    followed = gram("trace", run[:6], "--follow", GRAM_RECORD=address).stdout
    assert followed.splitlines()[-1] in shown
    assert 'sayHello(personName: "Al") -> "Hello, Al!' in followed
    assert gram("replay", f"{address}#{run}").stdout == "Hello, Al! Nice to meet you.\n"
    page = tmp_path / "run.html"
    assert gram("trace", f"{address}#{run}", "--html", str(page)).returncode == 0
    assert "hello_world_agent" in page.read_text()


def test_a_store_of_one_run_needs_no_id_and_one_of_several_says_so(tmp_path: Path) -> None:
    address = str(tmp_path / "my runs.db")
    gram(*SAY, "--record", address)
    assert gram("replay", address).stdout == "Hello, Al! Nice to meet you.\n"

    gram(*SAY, "--record", address)
    refused = gram("replay", address)
    assert refused.returncode == 2
    assert refused.stderr == (
        f"{address} has several runs: write {address}#ID\n"
        f"  hint: `gram runs list --record {quote(address)}` shows those that there are\n"
    )


def test_a_call_is_answered_from_outside_and_the_run_goes_on(address: str) -> None:
    waiting = gram(*SAY, "--record", address, "--approve", "ask")
    (row,) = listed(address, "--status", "waiting")
    run = row["id"]
    assert (waiting.returncode, waiting.stdout) == (6, "")
    assert f"gram resume '{address}#{run}' goes on" in waiting.stderr

    asked = runs(address, "decide", f"{address}#{run}")
    assert asked.stdout == '0.0  sayHello for hello_world_agent\n| personName: "Al"\n'
    assert f"gram runs decide '{address}#{run}' --allow 0.0" in asked.stderr
    decided = runs(address, "decide", run, "--result", '0.0="Hello by hand"')
    assert "waits for no more approval; its worker, or gram resume, goes on" in decided.stderr
    done = gram("resume", run, "--offline", GRAM_RECORD=address)

    assert (done.returncode, done.stdout) == (0, "Hello by hand\n")
    again = gram("resume", run, GRAM_RECORD=address)
    assert again.stdout == "Hello by hand\n"


def test_how_to_answer_shows_no_password(database: str) -> None:
    address = database.replace("postgres@", "postgres:secret@")
    waiting = gram(*SAY, "--record", address, "--approve", "ask")
    (row,) = listed(address)
    asked = runs(address, "decide", f"{address}#{row['id']}")

    assert "--allow 0.0" in asked.stderr
    assert "secret" not in waiting.stderr + asked.stderr


def test_runs_are_forked_exported_pruned_and_imported(address: str, tmp_path: Path) -> None:
    gram(*SAY, "--record", address)
    (row,) = listed(address)
    fork = runs(address, "fork", row["id"]).stdout.strip()
    assert next(each for each in listed(address) if each["id"] == fork)["parent"] == row["id"]

    file = str(tmp_path / "one.run.gram")
    assert runs(address, "export", row["id"], file).returncode == 0
    assert gram("replay", file).stdout == "Hello, Al! Nice to meet you.\n"
    assert runs(address, "prune", "--before", "0s").stderr == "gram: 2 runs removed\n"
    assert runs(address, "import", file, "--tenant", "acme").stdout.strip() == row["id"]
    assert [each["tenant"] for each in listed(address)] == ["acme"]
    again = runs(address, "import", file)
    assert (again.returncode, again.stdout.strip()) == (0, row["id"])
    assert again.stderr.endswith("has this run already\n")
    gram(*SAY, "--record", file, "-c")
    page = gram("trace", file, "--html", str(tmp_path / "a.html")).stderr
    assert page.startswith("gram: the page of turn 2, the last one, is in ")
    turns = runs(address, "import", file).stdout.split()
    assert (len(turns), turns[0]) == (2, row["id"])
    assert {each["id"] for each in listed(address)} == {*turns}


def test_a_file_that_is_no_run_keeps_no_others_from_the_store(address: str, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.run.gram", tmp_path / "bad.run.gram"
    gram(*SAY, "--record", str(good))
    bad.write_text("[a]\n")

    done = runs(address, "import", str(bad), str(tmp_path / "none"), str(good), "--json")

    assert done.returncode == 3
    has(done.stderr, "this is not the record of a run", "No such file or directory")
    assert ["error" in each for each in json.loads(done.stdout)] == [True, True, False]
    assert len(listed(address)) == 1
    bad.unlink()
    folder = runs(address, "import", str(tmp_path))
    assert (folder.returncode, folder.stdout.split()) == (0, [listed(address)[0]["id"]])


def test_a_run_is_cancelled(address: str) -> None:
    gram(*SAY, "--record", address, "--approve", "ask")
    (row,) = listed(address)
    assert runs(address, "cancel", row["id"][:5]).returncode == 0
    assert listed(address)[0]["status"] == "cancelled"
    resumed = gram("resume", f"{address}#{row['id']}", "--approve", "all", "--offline")
    refused(resumed, 2, "was cancelled")


def test_conversations_are_listed_shown_exported_and_removed(address: str, tmp_path: Path) -> None:
    for name in ("al", "bo"):
        gram(*SAY, "--record", address, "--conversation", name)

    def talks(*arguments: str) -> subprocess.CompletedProcess[str]:
        return gram("conversations", *arguments, GRAM_RECORD=address)

    found = json.loads(talks("list", "--json").stdout)
    assert [(each["name"], each["messages"]) for each in found] == [("bo", 4), ("al", 4)]
    assert talks("show", "cy").returncode == 2
    assert len(json.loads(talks("list", "--json", "--most", "1").stdout)) == 1
    page = talks("show", "al", "--most", "1")
    assert page.stdout == "     3  assistant: Hello, Al! Nice to meet you.\n"
    assert "there are 3 messages before; --before-message 3 shows them" in page.stderr
    before = talks("show", "al", "--before-message", "3").stdout.splitlines()
    assert [line[:6] for line in before] == ["     0", "     1", "     2"]
    file = tmp_path / "al.gram"
    file.write_text(talks("export", "al").stdout)
    assert talks("import", "cy", str(file)).stderr.endswith("conversation cy has 4 messages\n")
    assert talks("export", "cy").stdout == file.read_text()
    assert "there is a conversation cy already" in talks("import", "cy", str(file)).stderr
    talks("remove", "cy")
    assert talks("remove", "al").stderr == "gram: the conversation al is removed\n"
    assert "there is no conversation al" in talks("show", "al").stderr
    assert [row["conversation"] for row in listed(address)] == ["bo"]
    assert json.loads(talks("prune", "--before", "0s", "--json").stdout) == {"removed": 1}
    assert not listed(address)


def test_a_conversation_of_a_file_is_listed_shown_exported_and_removed(tmp_path: Path) -> None:
    file, copy = str(tmp_path / "talk.gram"), str(tmp_path / "copy.gram")
    gram(*SAY, "--record", file)
    gram("run", HELLO, "hello", "--offline", "--record", file, "-c")

    def talks(*arguments: str) -> subprocess.CompletedProcess[str]:
        return gram("conversations", *arguments, "--record", file)

    (found,) = json.loads(talks("list", "--json").stdout)
    assert (found["name"], found["messages"]) == (file, 8)
    assert json.loads(talks("list", "--json", "--before", "1h").stdout) == []
    last = "     7  assistant: Hello, Al! Nice to meet you.\n"
    assert talks("show").stdout.endswith(last)
    assert gram("conversations", "show", file).stdout == talks("show").stdout
    assert "its conversation has no name" in talks("show", "al").stderr
    assert talks("export").stdout == gram("conversations", "export", file).stdout
    assert f"{copy} is a file" in gram("conversations", "import", copy, file).stderr
    assert json.loads(talks("prune", "--before", "1h", "--json").stdout) == {"removed": 0}
    assert json.loads(talks("prune", "--before", "0s", "--json").stdout) == {"removed": 1}
    assert not Path(file).exists()
    assert "No such file" in talks("show").stderr


def test_an_imported_conversation_goes_on_by_c(address: str, tmp_path: Path) -> None:
    file, copy = str(tmp_path / "talk.gram"), str(tmp_path / "copy.gram")
    gram("run", HELLO, "hello, I'm Cy", "--offline", "--record", file)
    Path(copy).write_text(gram("conversations", "export", file).stdout)
    taken = gram("conversations", "import", "cy", file, "--record", address)
    assert taken.stderr == "gram: the conversation cy has 4 messages\n"

    for kept in (address, copy, copy):
        said = gram("run", HELLO, "hello", "--offline", "--record", kept, "-c")
        assert said.stdout == "Hello, Cy! Nice to meet you.\n"
    for command in ("replay", "trace"):
        assert gram(command, copy).returncode == 0

    edited = tmp_path / "edited.gram"
    exported = gram("conversations", "export", f"{address}#cy").stdout
    edited.write_text(exported.replace("Cy", "Di"))
    target = ("conversations", "import", "di", str(edited), "--program")
    assert "No such file" in gram(*target, "typo.gram", "--record", address).stderr
    assert gram(*target, HELLO, "--record", address).returncode == 0
    said = gram("run", HELLO, "hello", "--offline", "--record", address, "-c")
    assert said.stdout == "Hello, Di! Nice to meet you.\n"


def test_a_file_with_a_conversation_alone_is_no_run(tmp_path: Path) -> None:
    copy = written(tmp_path / "copy.gram", '[:Conversation | (:User {content: "hi"})]\n')
    for command in ("trace", "replay", "resume"):
        done = gram(command, copy)
        assert (done.returncode, "no run is recorded in it" in done.stderr) == (2, True), done


def test_a_run_that_is_somebody_elses_is_not_said_to_go_on_here(address: str) -> None:
    gram(*SAY, "--record", address, "--conversation", "al", "--approve", "ask")
    (row,) = listed(address, "--status", "waiting")
    with open_store(address) as store:
        taken = store.take_over(row["id"])

        done = gram("resume", f"{address}#{row['id']}", "--offline", "--approve", "all")

    assert done.returncode == 2
    assert taken.is_held
    assert "another process goes on with it" in done.stderr
    assert "gram resume" not in done.stderr


@pytest.mark.parametrize(("arguments", "told"), rows("refused of runs"))
def test_what_cannot_be_done_is_told(address: str, arguments: list[str], told: str) -> None:
    gram(*SAY, "--record", address)
    run = listed(address)[0]["id"]
    done = runs(address, *[each.replace("{run}", run) for each in arguments])
    assert done.returncode in (2, 4)
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_conversation_goes_on_in_the_store(address: str) -> None:
    kept = ("--offline", "--record", address, "--conversation", "al")
    gram("run", HELLO, "hello, I'm Al", *kept)
    gram("run", HELLO, "hello again", *kept)

    talked = gram("chat", HELLO, *kept, stdin="hi\n/undo\n/undo\n")

    assert "Going on with al, 8 messages so far." in talked.stderr
    with open_store(address) as store:
        assert len(store.conversation("al")) == 4
    assert len(listed(address, "--conversation", "al")) == 1
    assert len(listed(address)) == 3
    for row in listed(address):
        assert gram("replay", f"{address}#{row['id']}").returncode == 0


def test_a_conversation_of_a_program_goes_on_by_c(address: str) -> None:
    kept = ("--offline", "--record", address)
    gram("run", HELLO, "hello, I'm Al", *kept)
    gram("run", HELLO, "hello, I'm Bo", *kept)
    assert gram("run", HELLO, "hello", *kept, "-c").stdout == "Hello, Bo! Nice to meet you.\n"
    found = json.loads(gram("conversations", "list", "--json", "--record", address).stdout)
    assert [each["messages"] for each in found] == [8, 4]
    other = gram("run", "-", "hello", *kept, "-c", stdin=Path(HELLO).read_text())
    refused(other, 4, "the program has no file")


def workers(database: str, *options: str) -> tuple[int, str, str]:
    done = gram("workers", *options, "--record", database)
    return done.returncode, done.stdout, done.stderr


def test_it_says_who_lives_on_what_and_what_waits(database: str, model_server: ModelServer) -> None:
    model_server.will_say(Answer(completion({"content": "Hi."}), silence=60))
    with open_store(database) as store:
        first = submit(TALKER, "Hello", store=store)
        with worker(database, "--at-once", "1", server=model_server) as working:
            until(lambda: bool(model_server.requests))
            second = submit(TALKER, "Hello", store=store)
            found = json.loads(workers(database, "--json")[1])
            code, said, told = workers(database, "--health")
            working.kill()

    ((one,), statuses) = found["workers"], found["runs"]
    assert (one["runs"], found["waiting"], found["oldest"]) == ([first], 1, second)
    assert statuses == {"running": 1, "queued": 1}
    assert (code, f"1 run: {first}" in said) == (0, True)
    assert "1 run could go on; the oldest" in told


def test_health_is_a_code_for_a_supervisor(database: str) -> None:
    assert workers(database, "--health")[0] == 2  # there is no store
    with open_store(database) as store:
        store.ready()
    assert workers(database, "--health")[0] == 1  # no worker lives
    with worker(database):
        until(lambda: workers(database, "--health")[0] == 0)
        assert workers(database, "--health", "--on", "elsewhere")[0] == 1
        with open_store(database) as store:
            run = submit(TALKER, "Hello", store=store, model="OpenAI/no-key")
            store.database.execute("UPDATE gram_runs SET created = created - 600 WHERE id = ?", run)
        code, _, told = workers(database, "--health", "--oldest", "300")
    assert (code, f"run {run} has waited for 60" in told) == (1, True)


def test_a_run_whose_process_has_died_says_so_at_once(database: str) -> None:
    with open_store(database) as store:
        run = submit(GREETER, "Hello", store=store)
        if (pid := os.fork()) == 0:
            with open_store(database) as other:
                os._exit(0 if other.claim(run).is_held else 1)
        os.waitpid(pid, 0)
        row = store.row(run)

    assert row.status == "stopped"
    assert row.reason is not None
    assert row.reason.startswith(f"left by a dead process: process {pid} of ")


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a terminal")
def test_a_list_that_is_watched_shows_what_comes(database: str, tmp_path: Path) -> None:
    program = tmp_path / "greeter.gram"
    program.write_text(dumps(GREETER), "utf-8")
    with open_store(database) as store:
        first = submit(GREETER, "Hello", store=store)
        with Terminal("runs", "list", "--watch", "--record", database) as watching:
            watching.until(first)
            watching.until(submit(GREETER, "Hello", store=store))
