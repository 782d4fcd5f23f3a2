"""The support desk of ``examples/support_desk.gram`` in LangGraph 1.2.22, by scripted agents."""

from __future__ import annotations

import sys
from typing import Literal, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

TOPICS = {"I was billed twice": "billing", "The router is dead": "technical"}


class Desk(TypedDict, total=False):
    """What the nodes share."""

    message: str
    topic: Literal["billing", "technical", "other"]
    order: str
    amount: float
    answer: str


def triage(state: Desk) -> Desk:
    """Decide what a message is about."""
    return {"topic": TOPICS.get(state["message"], "other")}


def route(state: Desk) -> Literal["billing", "support"]:
    """Who helps."""
    return "billing" if state["topic"] == "billing" else "support"


def billing(state: Desk) -> Desk:
    """Help with bills: here a refund is due."""
    return {"order": "A-17", "amount": 20}


def refund(state: Desk) -> Desk:
    """Pay money back to a customer, once somebody has said yes."""
    if not interrupt({"refund": state["order"], "amount": state["amount"]}):
        return {"answer": "There is no refund."}
    return {"answer": f"You get your {state['amount']} back."}


def support(state: Desk) -> Command[Literal["engineer", "__end__"]]:
    """Help, or hand over to the engineer."""
    return Command(goto="engineer" if state["topic"] == "technical" else "__end__")


def engineer(state: Desk) -> Desk:
    """Mend what is broken."""
    return {"answer": "I restarted the router: it works again."}


def graph() -> StateGraph[Desk]:
    """The graph."""
    desk = StateGraph(Desk)
    for node in (triage, billing, refund, support, engineer):
        desk.add_node(node.__name__, node)
    desk.add_edge(START, "triage")
    desk.add_conditional_edges("triage", route)
    desk.add_edge("billing", "refund")
    return desk


def main(file: str) -> None:
    """Help two customers; a run that was stopped at the question goes on there."""
    with SqliteSaver.from_conn_string(file) as saver:
        desk = graph().compile(checkpointer=saver)
        for message in TOPICS:
            thread = {"configurable": {"thread_id": message}}
            waits = desk.get_state(thread).interrupts
            state = None if waits else desk.invoke({"message": message}, thread)
            if waits or "__interrupt__" in state:
                if "--stop" in sys.argv:
                    print("stopped at the question")
                    return
                print("approve the refund? yes")
                state = desk.invoke(Command(resume=True), thread)
            print(state["answer"])


if __name__ == "__main__":
    main(sys.argv[1])
