"""Conversations in stores: they only grow, by whole turns, one at a time."""

from __future__ import annotations

import gc
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import interp
from interp import (
    ConfigurationError,
    ConversationContext,
    ScriptedModel,
    open_store,
    resume_run,
    run,
)
from interp.errors import RunTakenError, StoreError
from interp.history import RunFacts, RunStore
from interp.history.stores import Lease, StoredRun, open_conversation
from interp.machine import Request, start
from interp.machine.messages import Message, UserRole
from tests.interp.counting import AGENT, CALLS, counting

LIBRARY = counting([])


def said(store: RunStore, name: str = "al") -> list[str]:
    return [each.content for each in store.conversation(name).context]


def say(record: RunStore | str, text: str, *replies: object, name: str = "al") -> Any:
    model = ScriptedModel(replies)
    return run(AGENT, text, LIBRARY, model=model, record=record, conversation=name)


def unanswered(store: RunStore, text: str, *replies: object) -> str:
    """The id of a turn whose model does not answer."""
    with pytest.raises(interp.ModelError):
        say(store, text, *replies)
    return next(store.rows()).id


class Meanwhile(ScriptedModel):
    """A model that does something before it answers."""

    def __init__(self, act: Callable[[], object]) -> None:
        super().__init__(["hello"])
        self._act = act

    def complete(self, request: Request) -> object:
        self._act()
        return super().complete(request)


def test_a_turn_goes_on_from_those_before_it(store: RunStore, address: str) -> None:
    model = ScriptedModel(["hello Al", CALLS, "two"])
    run(AGENT, "I'm Al", LIBRARY, model=model, record=store, conversation="al")
    answer = run(AGENT, "1 + 1?", LIBRARY, model=model, record=address, conversation="al")
    say(store, "hi", "hey", name="bo")
    assert said(store) == ["I'm Al", "hello Al", "1 + 1?", "", "2", "two"]
    assert store.conversation("al").context == answer.context
    assert [each.content for each in model.requests[1].messages] == said(store)[:3]
    assert (said(store, "bo"), said(store, "nobody")) == (["hi", "hey"], [])
    assert len(list(store.rows(conversation="al"))) == 2


def test_messages_are_kept_once_and_runs_are_read_whole(store: RunStore) -> None:
    words = [f"answer {n} " + "x" * 500 for n in range(6)]
    for word in words:
        say(store, "more", word)
    rows = list(store.rows(conversation="al"))
    assert [len(store.recorded(row.id).first.context) for row in rows] == [11, 9, 7, 5, 3, 1]
    assert all(store.recorded(row.id).state.context[-1].content in words for row in rows)
    heads = store.ready().execute("SELECT text FROM gram_entries WHERE seq = 0")
    assert not any("answer 0" in text for (text,) in heads)


def test_a_store_of_one_conversation_rests_between_what_is_done_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, rested = str(tmp_path / "runs.db"), list[RunStore]()
    with open_store(address) as store:
        say(store, "hi", "hello")
    conversation = open_conversation(address, "al", None)
    monkeypatch.setattr(RunStore, "close", lambda store: rested.append(store))
    assert [each.content for each in conversation.context] == ["hi", "hello"]
    conversation.log()
    conversation.cut(ConversationContext())
    assert len(rested) == 3


def test_it_is_read_a_page_at_a_time(store: RunStore) -> None:
    for n in range(5):
        say(store, f"question {n}", f"answer {n}")
    conversation = store.conversation("al")
    last = conversation.page(limit=3)
    assert [each.content for each in last] == ["answer 3", "question 4", "answer 4"]
    before = conversation.page(before=len(conversation) - 3, limit=3)
    assert [each.content for each in before] == ["question 2", "answer 2", "question 3"]
    assert conversation.page(before=0) == ConversationContext()
    assert len(conversation.page(limit=None)) == len(conversation) == 10


def test_turns_never_overlap(store: RunStore, address: str) -> None:
    def speak() -> None:
        with pytest.raises(RunTakenError, match="another turn of the conversation al is under way"):
            say(address, "me too", "late")

    run(AGENT, "hi", LIBRARY, model=Meanwhile(speak), record=store, conversation="al")
    assert said(store) == ["hi", "hello"]
    assert len(list(store.rows())) == 1  # nothing is left of the turn that was refused


def test_a_turn_whose_process_has_died_holds_up_no_other(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Lease, "let_go", lambda lease, *_, **__: setattr(lease, "is_held", False))
        turn = unanswered(store, "hi")
    gc.collect()
    assert store.row(turn).status == "stopped"
    say(store, "again", "yes")
    assert said(store) == ["again", "yes"]


def test_a_turn_that_failed_adds_nothing_until_it_is_resumed(store: RunStore) -> None:
    turn = unanswered(store, "hi", CALLS)
    assert said(store) == []
    resume_run(turn, LIBRARY, model=ScriptedModel(["hello"]), record=store)
    assert said(store) == ["hi", "", "2", "hello"]


def test_a_turn_that_was_left_is_refused_once_the_conversation_has_gone_on(store: RunStore) -> None:
    turn = unanswered(store, "hi")
    say(store, "again", "yes")
    with pytest.raises(RunTakenError, match="the conversation al has gone on since"):
        resume_run(turn, LIBRARY, model=ScriptedModel(["late"]), record=store)
    assert said(store) == ["again", "yes"]


def test_an_answer_that_its_owner_did_not_come_to_add_is_added_on_resuming(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Lease, "let_go", lambda lease, *_, **__: setattr(lease, "is_held", False))
        say(store, "hi", "hello")
    assert said(store) == []
    store.ready().execute("UPDATE gram_runs SET leased_until = 1")
    (turn,) = store.rows()
    assert resume_run(turn.id, LIBRARY, record=store).content == "hello"
    assert said(store) == ["hi", "hello"]
    assert store.row(turn.id).status == "done"


def test_a_conversation_needs_a_store_and_is_the_context(store: RunStore) -> None:
    with pytest.raises(ConfigurationError, match="a conversation is kept somewhere"):
        run(AGENT, "hi", LIBRARY, conversation="al")
    earlier = ConversationContext([Message(UserRole, "hi")])
    state, _, _ = start(AGENT, "ho", earlier)
    with pytest.raises(ConfigurationError, match="is a turn of the conversation it began in"):
        resume_run(state, LIBRARY, record=store, conversation="al")
    with pytest.raises(ConfigurationError, match="the context is that of the conversation"):
        run(AGENT, "hi", LIBRARY, earlier, record=store, conversation="al")


def test_a_long_conversation_in_a_full_store_is_not_slower_to_begin(store: RunStore) -> None:
    """What a turn asks of the store does not grow with what else is in it."""
    asked: list[str] = []
    database = store.ready()
    execute = database.execute

    def counted(sql: str, *values: object) -> object:
        asked.append(sql)
        return execute(sql, *values)

    counts = []
    database.execute = counted  # type: ignore[method-assign, assignment]  # to count the calls
    for n in range(3):
        asked.clear()
        say(store, "more", f"answer {n}")
        counts.append(len(asked))
    assert counts[0] == counts[1] == counts[2]


def test_conversations_are_listed_those_that_changed_last_first(store: RunStore) -> None:
    for name in ("al", "bo", "al"):
        say(store, "hi", "hey", name=name)
    store.ready().execute("UPDATE gram_conversations SET changed = changed - 60 WHERE name = 'bo'")
    al, bo = store.conversations()
    assert al.changed is not None
    earlier = al.changed - timedelta(seconds=1)
    assert [(each.name, len(each)) for each in (al, bo)] == [("al", 4), ("bo", 2)]
    assert [each.name for each in store.conversations(before=earlier)] == ["bo"]
    assert [each.name for each in store.conversations(limit=1)] == ["al"]


def test_a_conversation_is_removed_with_its_turns_and_nothing_else(store: RunStore) -> None:
    for name in ("al", "bo", "al"):
        say(store, "hi", "hey", name=name)
    al = store.conversation("al")
    al.remove()
    assert (len(al), len(list(store.rows())), said(store, "bo")) == (0, 1, ["hi", "hey"])
    for table, left in {"runs": 1, "entries": 3, "messages": 2, "conversations": 1}.items():
        assert store.ready().execute(f"SELECT count(*) FROM gram_{table}") == [(left,)]
    say(store, "anew", "hey")
    assert said(store) == ["anew", "hey"]


def test_a_conversation_is_not_removed_while_a_turn_of_it_is_under_way(store: RunStore) -> None:
    def remove() -> None:
        with pytest.raises(StoreError, match="is queued or under way: run"):
            store.conversation("al").remove()

    run(AGENT, "hi", LIBRARY, model=Meanwhile(remove), record=store, conversation="al")
    assert said(store) == ["hi", "hello"]


def test_a_turn_after_messages_that_were_removed_is_refused(store: RunStore) -> None:
    say(store, "hi", "hey")
    context = store.conversation("al").context
    store.conversation("al").remove()
    log = StoredRun(store, "late", facts=RunFacts("counter", conversation="al"))
    with pytest.raises(StoreError, match="the conversation al was removed since this turn began"):
        log.begin(start(AGENT, "and then?", context)[0], [])
    assert not list(store.rows())
