"""The first minutes: ``gram init``, ``models`` and ``doctor``; what servers offer."""

from __future__ import annotations

import json
import shlex
import tempfile
from pathlib import Path

import pytest

from interp import open_store
from tests.interp.cli.process import HELLO, at, gram, has, printed, rows, written
from tests.interp.forked import PYTEST
from tests.interp.forking import run_forked
from tests.interp.model_server import Answer, ModelServer
from tests.paths import without_rights

QUESTION = "Count the words of 'to be or not to be'"


# --- gram init


OWN_TOOL = '''

@tool
def lookUp(city: str, days: int = 3) -> list[str]:
    """Looks up the weather of a city"""
    return [f"{city}: sun"] * days
'''
OWN_TEST = """

def test_the_agent_looks_up_the_weather(gram_agent):
    agent = gram_agent("agent.gram", tools="tools.py", model="Offline/rehearsal")

    response = agent.run("Look up the weather of 'Rome' for 2 days")

    assert response.content == '["Rome: sun","Rome: sun"]'
    assert [call.tool_name for call in response.tools_used] == ["lookUp"]
"""


def test_a_first_agent_runs_and_takes_the_second_step_of_its_readme_offline(tmp_path: Path) -> None:
    made = gram("init", "my agent", cwd=tmp_path)
    folder = tmp_path / "my agent"
    tools = ("--tools", "tools.py")
    names = ["agent.gram", "tools.py", "test_agent.py", "README.md"]
    assert made.stdout.splitlines() == [str(Path("my agent", name)) for name in names]
    assert "cd 'my agent' && gram run agent.gram" in made.stderr

    def is_fine() -> None:
        assert gram("check", "agent.gram", cwd=folder).stdout == ""
        assert gram("fmt", "--check", "agent.gram", cwd=folder).returncode == 0
        assert gram("tools", "agent.gram", *tools, cwd=folder).returncode == 0

    is_fine()
    said = gram("run", "agent.gram", *tools, "--offline", QUESTION, cwd=folder)
    assert (said.returncode, said.stdout) == (0, "6\n")

    for name, more in {"tools.py": OWN_TOOL, "test_agent.py": OWN_TEST}.items():
        (folder / name).write_text((folder / name).read_text("utf-8") + more, "utf-8")
    listed = gram("tools", "agent.gram", *tools, cwd=folder)
    command = listed.stderr.partition("hint: ")[2].strip()
    added = gram(*shlex.split(command)[1:], cwd=folder)
    words = ("-q", "-p", "no:cacheprovider")  # with the plugin of the package
    tested = run_forked(PYTEST, words, cwd=folder, environment={"PATH": ""}, timeout=120)

    assert command == "gram add agent.gram assistant.tools --tools tools.py lookUp -i"
    assert added.returncode == 0
    is_fine()
    assert (tested.returncode, "2 passed" in tested.stdout) == (0, True), tested.stdout


def test_every_command_of_its_readme_is_one(tmp_path: Path) -> None:
    gram("init", cwd=tmp_path)
    readme = (tmp_path / "README.md").read_text("utf-8")
    commands = [line.split() for line in readme.splitlines() if line.startswith("gram ")]
    assert len(commands) >= 7
    for _, name, *_ in commands:
        assert gram(name, "--help").returncode == 0


def test_init_replaces_no_file(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text("mine", "utf-8")
    done = gram("init", ".", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == "tools.py in . would be replaced; nothing is written\n"
    assert [each.name for each in tmp_path.iterdir()] == ["tools.py"]


# --- gram models


def test_models_lists_providers_their_keys_and_whether_they_are_set(tmp_path: Path) -> None:
    groq = '[providers.Groq]\nbase_url = "https://api.groq.test/v1"\nkey = "GROQ_API_KEY"\n'
    written(tmp_path / "gram.toml", groq)
    key = {"GROQ_API_KEY": "gsk-0123456789"}

    listed = gram("models", "--trust", cwd=tmp_path, **key).stdout
    found = json.loads(gram("models", "--trust", "--json", cwd=tmp_path, **key).stdout)

    assert "OpenAI     OPENAI_API_KEY is not set     https://api.openai.com/v1\n" in listed
    has(listed, "GROQ_API_KEY is set", "Ollama     needs no key ")
    row = {"provider": "Groq", "address": "https://api.groq.test/v1", "key": "GROQ_API_KEY"}
    assert found[-1] == {**row, "keyIsSet": True}
    assert "0123456789" not in listed


def test_models_shows_no_password() -> None:
    listed = gram("models", OPENAI_BASE_URL="http://me:pa55word@host/v1").stdout
    assert "http://host/v1" in listed


# --- gram doctor


def test_doctor_is_content_when_a_model_can_be_asked(model_server: ModelServer) -> None:
    done = gram("doctor", HELLO, **at(model_server))
    assert done.returncode == 0
    assert "problem" not in done.stdout
    assert f"OpenAI: a server answers at {model_server.url}" in done.stdout
    assert "nothing is missing to ask it" in done.stdout
    assert model_server.requests == []


@pytest.mark.parametrize(("environment", "problem"), rows("doctor"))
def test_doctor_says_what_is_wrong(environment: dict[str, str], problem: str) -> None:
    local = ("OLLAMA", "LMSTUDIO", "VLLM", "LLAMACPP")  # one may be running where this is tried
    nobody = {f"{name}_BASE_URL": "http://127.0.0.1:9/v1" for name in local}
    done = gram("doctor", HELLO, **nobody | environment)
    problems = [line for line in done.stdout.splitlines() if line.startswith("problem  ")]
    assert done.returncode == 1
    assert any(problem in line for line in problems), done.stdout
    assert "0123456789" not in done.stdout


def test_doctor_looks_at_a_program(tmp_path: Path) -> None:
    program = written(tmp_path / "p.gram", '[a:Agent {instruction: "x", model: "Nobody/x"}]')
    broken = written(tmp_path / "b.gram", "[a:Agent")
    found = json.loads(gram("doctor", program, "--json").stdout)
    messages = [each["message"] for each in found if not each["ok"]]
    assert any('unknown provider "Nobody"' in each for each in messages)
    assert "problem  " + broken in gram("doctor", broken).stdout
    assert gram("doctor", str(tmp_path / "none.gram")).returncode == 2


@pytest.mark.parametrize(("file", "folder"), [(0o600, 0o555), (0o400, 0o777)])
def test_doctor_says_that_the_store_cannot_be_written(file: int, folder: int) -> None:
    with tempfile.TemporaryDirectory() as state:
        store = Path(state, "gram", "runs.db")
        store.parent.mkdir()
        Path(state).chmod(0o755)
        with open_store(store) as made:
            made.ready()
        kept = gram("doctor", XDG_STATE_HOME=state).stdout
        assert f"ok       {store}: what is said is kept here" in kept
        with without_rights(store, file, folder):
            done = gram("doctor", XDG_STATE_HOME=state)
    assert done.returncode == 1
    assert f"problem  what is said is not kept: {store}: " in done.stdout


def test_doctor_says_that_no_store_can_be_made(tmp_path: Path) -> None:
    written(tmp_path / "gram", "")
    store = tmp_path / "gram" / "runs.db"
    said = f"problem  what is said is not kept: {store}: Not a directory"
    assert said in gram("doctor", XDG_STATE_HOME=str(tmp_path)).stdout


# --- what a file of tools does not have


FUNCTION = """
def sayHello(personName: str = "world") -> str:
    \"\"\"Returns a friendly greeting message for the given name\"\"\"
    return f"own greeting of {personName}"
"""


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("TOOLS = [sayHello]", ""),
        ("TOOLS = [sayHello]", ":TOOLS"),
        ("", ":sayHello"),
        ("from interp import tool\nTOOLS = [tool(sayHello)]", ""),
    ],
)
def test_a_file_of_tools_has_functions_and_tools(tmp_path: Path, text: str, name: str) -> None:
    tools = written(tmp_path / "tools.py", f"{FUNCTION}\n{text}\n") + name
    done = gram("run", HELLO, "Hello, I am Bob", "--tools", tools, "--offline")
    assert (done.returncode, "own greeting of Bob" in done.stdout) == (0, True), done.stderr


LIST = Answer({"data": [{"id": "gpt-5.6-luna"}, {"id": "gpt-5.6-sol"}]})


def program(folder: Path, *models: str) -> str:
    """The file of a program with an agent for each model."""
    agents = (f'[a{n}:Agent {{instruction: "x", model: "{m}"}}]' for n, m in enumerate(models))
    return written(folder / "a.gram", "\n".join(agents))


@pytest.mark.parametrize("asked", ["OpenAI", "{url}"])
def test_the_models_of_a_server_are_listed(model_server: ModelServer, asked: str) -> None:
    model_server.will_say(LIST)
    done = gram("models", "--offered", asked.format(url=model_server.url), **at(model_server))
    assert (done.returncode, done.stdout) == (0, "gpt-5.6-luna\ngpt-5.6-sol\n")
    assert f"2 models of {model_server.url}" in done.stderr
    model_server.will_say(LIST)
    as_json = gram("models", "--offered", model_server.url, "--json").stdout
    assert json.loads(as_json) == {"address": model_server.url, "models": done.stdout.split()}


def test_a_check_asks_each_server_once(model_server: ModelServer, tmp_path: Path) -> None:
    model_server.will_say(LIST)
    file = program(tmp_path, "OpenAI/gpt-5.6-luna", "OpenAI/gpt-5.6-sol", "Offline/rehearsal")
    done = gram("check", "--models", file, **at(model_server))
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.count("asks OpenAI for its models") == 1
    assert model_server.paths == ["/v1/models"]


def test_a_model_that_is_not_offered_is_an_error(model_server: ModelServer, tmp_path: Path) -> None:
    model_server.will_say(LIST)
    file = program(tmp_path, "OpenAI/gpt-5.6-lunar")

    done = gram("check", "--models", file, **at(model_server))

    fault = f"error[model-not-offered] {model_server.url} does not offer gpt-5.6-lunar"
    printed(done, 1, f"{file}:1:", fault, "did you mean gpt-5.6-luna or")


def test_a_check_says_what_it_could_not_ask(model_server: ModelServer, tmp_path: Path) -> None:
    model_server.will_say(Answer({"error": {"message": "not here"}}, 404))
    file = program(tmp_path, "OpenAI/a", "Nobody/b")
    done = gram("check", "--models", file, **at(model_server))
    printed(done, 1, "it cannot be told whether OpenAI/a is offered", "answered 404: not here")
    assert "hint: does the server list its models?" in done.stdout
    assert done.stdout.count("Nobody") == 2  # the warning, and the line that it is about
