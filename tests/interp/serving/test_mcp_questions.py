"""MCP clients ask their users what a run asks; what stays open is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import ElicitResult

from interp import ScriptedModel, ToolLibrary, ask_all
from interp.history.stores import open_store
from interp.serving import Doors, Serving
from interp.workers import decide_run
from tests.interp.serving.mcp_talk import MODES, calling, talk, text_of
from tests.interp.serving.served import agents
from tests.interp.serving.test_kept_conversations import PAYER, call, pay


def payer(tmp_path: Path, *replies: Any) -> tuple[Serving, str]:
    model, store = ScriptedModel([*replies]), str(tmp_path / "runs.db")
    served = agents(PAYER, ToolLibrary.of(pay), model=model, policy=ask_all)
    return Serving(served, record=store), store


PAY = call("pay", '{"sum": 3}')


def answering(asked: list[str], *answers: ElicitResult) -> Any:
    left = [*answers]

    async def answer(_: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return left.pop(0)

    return answer


@MODES
def test_the_client_asks_its_user_and_gives_the_result(mode: str, tmp_path: Path) -> None:
    yes = ElicitResult(action="accept", content={"allow": True})
    no = ElicitResult(action="accept", content={"allow": False, "reason": "too much"})
    what, store = payer(tmp_path, PAY, call("pay", '{"sum": 9}'), "Paid once.")
    asked: list[str] = []

    result = talk(what, mode, calling("payer"), elicitation_callback=answering(asked, yes, no))

    assert text_of(result) == "Paid once."
    assert result.meta
    with open_store(store) as opened:
        (row,) = opened.rows()
        used = opened.recorded(row.id).state.tools_used
    assert result.meta["gram/run"] == row.id
    assert asked == [f"May pay(sum: {sum}) be called? (Run {row.id} waits.)" for sum in (3, 9)]
    assert [each.result for each in used][:1] == ["paid 3"]
    assert "too much" in str(used[1].error)


@MODES
def test_who_declines_says_no(mode: str, tmp_path: Path) -> None:
    what, store = payer(tmp_path, PAY, "Not paid.")
    declined = answering([], ElicitResult(action="decline"))

    assert text_of(talk(what, mode, calling("payer"), elicitation_callback=declined)) == "Not paid."
    with open_store(store) as opened:
        (used,) = opened.recorded(next(iter(opened.rows())).id).state.tools_used
    assert used.error is not None


@MODES
@pytest.mark.parametrize("can_ask", [True, False])
def test_what_stays_open_is_told_with_the_run(mode: str, can_ask: bool, tmp_path: Path) -> None:
    what, store = payer(tmp_path, PAY)
    later = answering([], ElicitResult(action="cancel"))

    result = talk(what, mode, calling("payer"), elicitation_callback=later if can_ask else None)

    with open_store(store) as opened:
        (row,) = opened.rows()
        assert decide_run(opened, row.id, True) == ()
    assert f"Run {row.id} waits for approval of pay(" in text_of(result)
    assert "`gram runs decide` answers" in text_of(result)


@pytest.mark.parametrize("key", [None, "a key of the server"])
def test_with_a_key_a_question_outlives_the_server(key: str | None, tmp_path: Path) -> None:
    what, _ = payer(tmp_path, PAY, "Paid.")
    what.doors = Doors(key=key)
    yes = ElicitResult(action="accept", content={"allow": True})

    async def ask_first(opened: Client) -> Any:
        return await opened.session.call_tool("payer", {"input": "Hi"}, allow_input_required=True)

    waits = talk(what, "auto", ask_first, elicitation_callback=answering([]))

    async def answer(opened: Client, state: str, said: str) -> str:
        replies = dict.fromkeys(waits.input_requests, yes)
        sent = {"input_responses": replies, "request_state": state}
        return text_of(await opened.session.call_tool("payer", {"input": said}, **sent))

    async def answer_all(opened: Client) -> None:
        state = waits.request_state
        wrong = [(state[:-4] + "AAAA", "Hi"), ("x", "Hi"), (state, "another")]
        for forged, said in [*wrong, *([(state, "Hi")] if key is None else [])]:
            with pytest.raises(MCPError, match="requestState"):
                await answer(opened, forged, said)
        for _ in range(2 if key else 0):  # a client asks again that has not got the answer
            assert await answer(opened, state, "Hi") == "Paid."

    talk(what, "auto", answer_all)
