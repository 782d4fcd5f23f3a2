"""Streams: what is shown while a run goes on, and that it ends as any other."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import interp
from gram import Pattern
from interp.machine import Request
from tests.interp.model_server import (
    DONE,
    Answer,
    Line,
    ModelServer,
    delta,
    function_call,
    part,
    tool_calls,
)

TWO_CALLS = tool_calls(
    ("c1", "sayHello", {"personName": "Alice"}), ("c2", "sayHello", {}), content="Let me see."
)


def observed(agent: Pattern, **options: Any) -> list[interp.Observation]:
    """A streamed run."""
    return list(interp.stream(agent, "hi", interp.hello_world_tool_library, **options))


def aobserved(agent: Pattern, **options: Any) -> list[interp.Observation]:
    """A streamed run without blocking."""

    async def collected() -> list[interp.Observation]:
        try:
            observations = interp.astream(agent, "hi", interp.hello_world_tool_library, **options)
            return [each async for each in observations]
        finally:
            if isinstance(options.get("model"), interp.OpenAIModel):
                await options["model"].aclose()

    return asyncio.run(collected())


def text_of(observations: list[interp.Observation], turn: int) -> str:
    """What was said in a turn."""
    deltas = [each for each in observations if isinstance(each, interp.TextDelta)]
    return "".join(each.text for each in deltas if each.at == (turn,))


@pytest.mark.parametrize("watch", [observed, aobserved])
def test_a_stream_shows_words_calls_results_and_the_response(
    hello_world: Pattern, model_server: ModelServer, watch: Any
) -> None:
    model_server.will_say(TWO_CALLS, "All done.")

    observations = watch(hello_world)

    assert text_of(observations, 0) == "Let me see."
    assert text_of(observations, 1) == "All done."
    assert len([each for each in observations if isinstance(each, interp.TextDelta)]) > 4
    started = [each for each in observations if isinstance(each, interp.ToolStarted)]
    assert [each.call.at[-1] for each in started] == [0, 1]
    assert sorted(
        each.invocation.result for each in observations if isinstance(each, interp.ToolFinished)
    ) == ["Hello, Alice! Nice to meet you.", "Hello, world! Nice to meet you."]
    assert isinstance(observations[-1], interp.Finished)
    assert model_server.requests[0]["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize("reply", [TWO_CALLS, function_call("sayHello", {"personName": "B"})])
def test_a_streamed_run_ends_in_the_state_an_unstreamed_one_ends_in(
    hello_world: Pattern, model_server: ModelServer, reply: dict[str, Any]
) -> None:
    model_server.will_say(*[reply, "Done."] * 4)
    plain = interp.run(hello_world, "hi", interp.hello_world_tool_library)
    assert observed(hello_world)[-1] == interp.Finished(plain)
    assert aobserved(hello_world)[-1] == interp.Finished(plain)
    assert asyncio.run(interp.arun(hello_world, "hi", interp.hello_world_tool_library)) == plain


def test_what_led_to_calls_goes_back_with_them_as_it_came_in_pieces(
    hello_world: Pattern, model_server: ModelServer
) -> None:
    asked = {
        **tool_calls(("c1", "sayHello", {"personName": "Al"}), ("c2", "sayHello", {})),
        "reasoning": "Who is it?",
        "reasoning_details": [{"type": "reasoning.text", "text": t} for t in ("Who ", "is it?")],
        "extra_content": {"google": {"thought_signature": "whole"}},
    }
    asked["tool_calls"][1]["extra_content"] = {"google": {"thought_signature": "second"}}
    model_server.will_say(asked, "Done.")

    observed(hello_world)

    assert model_server.requests[1]["messages"][2] == asked


BROKEN = {
    "cut without a finish": (Answer(events=[delta("Hel"), delta("lo")]), "ended before"),
    "cut in a call": (
        Answer(events=[delta(tool_calls=[part(0, '{"personName"', id="c", name="sayHello")])]),
        "ended before",
    ),
    "a lost connection": (Answer(events=[delta("Hel")], drop=True), "broke in the middle"),
    "an error line": (Answer(events=[delta("Hel"), Line('error: {"message": "oops"}')]), "oops"),
    "an error event": (
        Answer(events=[delta("Hel"), Line('event: error\ndata: {"message": "oops"}')]),
        "oops",
    ),
    "an error beside the events": (
        Answer(events=[delta("Hel"), Line('{"error": {"message": "oops"}}')]),
        "oops",
    ),
    "an error in the middle": (
        Answer(events=[delta("Hel"), {"error": {"message": "oops", "code": "server_error"}}]),
        "oops",
    ),
    "what is not JSON": (Answer(events=[delta("Hel"), "<html>"]), "not JSON"),
    "what is nested too deep": (Answer(events=[delta("Hel"), "[" * 100_000]), "nested too deep"),
    "what is nested too deep at first": (Answer(events=["[" * 100_000]), "nested too deep"),
    "what is no chunk": (Answer(events=[delta("Hel"), [1]]), "not an object"),
    "a filter": (Answer(events=[delta("Hel"), delta(finish="content_filter")]), "content filter"),
    "nothing said": (Answer(events=[delta(finish="stop"), DONE]), "empty"),
    "a call without a name": (
        Answer(events=[delta(tool_calls=[part(0, "{}", id="c")]), delta(finish="stop")]),
        "does not name",
    ),
}


@pytest.mark.parametrize(("answer", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_stream_is_a_model_error_and_nothing_of_it_is_run(
    hello_world: Pattern, model_server: ModelServer, answer: Answer, message: str
) -> None:
    model_server.will_say(answer)
    called = []
    model = interp.OpenAIModel(model_server.url, "key", attempts=1)

    with pytest.raises(interp.ModelError, match=message) as caught:
        observed(hello_world, model=model, observe=lambda *both: called.append(both))

    model.close()
    assert called == []
    assert caught.value.state is not None
    assert len(caught.value.state.context) == 1


@pytest.mark.parametrize(
    "first",
    [
        Answer({"error": {"message": "slow down"}}, 429, {"retry-after": "0"}),
        Answer(events=[]),
        Answer(events=[{"error": {"message": "busy", "code": 503}}]),
    ],
)
def test_a_stream_that_ends_before_its_first_word_is_asked_for_again(
    hello_world: Pattern, model_server: ModelServer, first: Answer
) -> None:
    model_server.will_say(first, "Here.")
    observations = observed(hello_world)
    assert text_of(observations, 0) == "Here."
    assert len(model_server.requests) == 2


def test_calls_that_are_denied_are_shown(hello_world: Pattern) -> None:
    model = interp.ScriptedModel([TWO_CALLS, "Done."])
    options = {"approve": lambda ask: ask.at[-1] == 1, "match": "types"}

    observations = observed(hello_world, model=model, **options)

    finished = [each for each in observations if isinstance(each, interp.ToolFinished)]
    errors = {each.at[-1]: each.invocation.error for each in finished}
    assert errors == {0: "denied, not run", 1: None}


class Plain:
    """A model that cannot stream."""

    def complete(self, request: Request) -> str:
        return "Hello there."


class Words:
    """A model that gives its words and nothing else."""

    def complete(self, request: Request) -> str:
        raise AssertionError("it is only streamed")

    def stream(self, request: Request) -> Any:
        yield from ("Hello", " ", "there.")


class AsyncWords:
    """A model that gives its words only to those that do not block."""

    def complete(self, request: Request) -> str:
        return "Hello there."

    async def astream(self, request: Request) -> Any:
        for word in ("Hello", " ", "there."):
            yield word


def test_a_model_that_streams_only_without_blocking_streams_in_both(hello_world: Pattern) -> None:
    whole, pieces = (watch(hello_world, model=AsyncWords()) for watch in (observed, aobserved))
    assert [type(each) for each in whole] == [type(each) for each in pieces]
    assert len([each for each in pieces if isinstance(each, interp.TextDelta)]) == 3
    assert whole[-1] == pieces[-1]


@pytest.mark.parametrize("watch", [observed, aobserved])
def test_models_stream_as_far_as_they_can(hello_world: Pattern, watch: Any) -> None:
    whole, pieces = watch(hello_world, model=Plain()), watch(hello_world, model=Words())
    assert [type(each) for each in whole] == [interp.Finished]
    assert text_of(pieces, 0) == "Hello there."
    assert whole[-1] == pieces[-1]


def test_the_rehearsal_and_scripts_stream_words(hello_world: Pattern) -> None:
    rehearsed = observed(hello_world, model="Offline/rehearsal")
    scripted = observed(hello_world, model=interp.ScriptedModel(["One two."]))
    assert len([each for each in rehearsed if isinstance(each, interp.TextDelta)]) > 1
    words = [each.text for each in scripted if isinstance(each, interp.TextDelta)]
    assert words == ["One ", "two."]


def test_a_reader_who_stops_leaves_a_run_that_goes_on(
    hello_world: Pattern, model_server: ModelServer
) -> None:
    model_server.will_say(TWO_CALLS, "Never read.", "Done.")
    begun = interp.begin(hello_world, "hi", interp.hello_world_tool_library)

    for observation in begun.stream():
        if isinstance(observation, interp.TextDelta) and observation.at == (1,):
            break

    # the reply may have come whole before it was given up; then it is not asked for again
    assert begun.finish().content in ("Never read.", "Done.")
    assert len(begun.state.tools_used) == 2
