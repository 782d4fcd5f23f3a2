"""The newsroom of ``examples/newsroom.gram`` in LangGraph 1.2.22, run by scripted agents."""

from __future__ import annotations

from typing import Literal, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph

DRAFTS = iter(["The moon has no air.", "The moon has no air, and a day there lasts a month."])
VERDICTS = iter([("again", "Say how long a day is."), ("approved", "Good.")])


class News(TypedDict, total=False):
    """What the nodes share."""

    topic: str
    facts: str
    draft: str
    verdict: str
    remarks: str
    rounds: int


def researcher(state: News) -> News:
    """Find facts."""
    return {"facts": f"Two facts about {state['topic']}.", "rounds": 0}


def writer(state: News) -> News:
    """Write from the facts and remarks."""
    return {"draft": next(DRAFTS), "rounds": state["rounds"] + 1}


def editor(state: News) -> News:
    """Approve, or say what to change."""
    verdict, remarks = next(VERDICTS)
    return {"verdict": verdict, "remarks": remarks}


def decide(state: News) -> Literal["writer", "__end__"]:
    """Go on until the editor approves, three rounds at most."""
    return "__end__" if state["verdict"] == "approved" or state["rounds"] >= 3 else "writer"


def newsroom() -> CompiledStateGraph:
    """The graph, with a checkpoint after each step."""
    graph = StateGraph(News)
    graph.add_node("researcher", researcher)
    graph.add_node("writer", writer)
    graph.add_node("editor", editor)
    graph.add_edge(START, "researcher")
    graph.add_edge("researcher", "writer")
    graph.add_edge("writer", "editor")
    graph.add_conditional_edges("editor", decide)
    return graph.compile(checkpointer=InMemorySaver())


def mistakes() -> None:
    """Make four mistakes, and print when each is told."""

    def flow(name: str, build) -> None:
        try:
            compiled = build()
        except Exception as error:  # noqa: BLE001  # what is raised is what is looked at
            print(f"{name}: told before it runs: {type(error).__name__}: {str(error)[:90]}")
            return
        try:
            result = compiled.invoke({"topic": "the moon"}, {"recursion_limit": 25})
            print(f"{name}: not told: {result}")
        except Exception as error:  # noqa: BLE001  # what is raised is what is looked at
            print(f"{name}: told while it runs: {type(error).__name__}: {str(error)[:90]}")

    def unknown():
        graph = StateGraph(News).add_node("researcher", researcher)
        graph.add_edge(START, "researcher")
        graph.add_edge("researcher", "writr")
        return graph.compile()

    def wrong_type():
        class Numbered(TypedDict, total=False):
            topic: str
            facts: int
            draft: str

        graph = StateGraph(Numbered)
        graph.add_node("researcher", lambda state: {"facts": "Two facts."})
        graph.add_node("writer", lambda state: {"draft": str(state["facts"])})
        graph.add_edge(START, "researcher")
        graph.add_edge("researcher", "writer")
        return graph.compile()

    def uncovered():
        graph = StateGraph(News)
        graph.add_node("researcher", lambda state: {"verdict": "other"})
        graph.add_node("writer", lambda state: {"draft": "x"})
        graph.add_edge(START, "researcher")
        graph.add_conditional_edges("researcher", lambda state: state["verdict"], {"go": "writer"})
        return graph.compile()

    def unbounded():
        graph = StateGraph(News)
        graph.add_node("writer", lambda state: {"draft": "x"})
        graph.add_edge(START, "writer")
        graph.add_edge("writer", "writer")
        return graph.compile()

    flow("unknown node", unknown)
    flow("wrong type", wrong_type)
    flow("uncovered choice", uncovered)
    flow("loop without a bound", unbounded)


if __name__ == "__main__":
    print(newsroom().invoke({"topic": "the moon"}, {"configurable": {"thread_id": "1"}})["draft"])
    mistakes()
