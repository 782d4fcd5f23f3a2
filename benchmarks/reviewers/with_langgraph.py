"""The reviewer of ``examples/review.gram`` in LangGraph 1.2.22, by a scripted reviewer."""

from __future__ import annotations

import operator
import sys
from pathlib import Path
from typing import Annotated, TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import Send


class Review(TypedDict, total=False):
    """What the nodes share."""

    folder: str
    files: list[str]
    verdicts: Annotated[list[tuple[str, str]], operator.add]
    summary: str


class File(TypedDict):
    """What is given for one file."""

    file: str


def files(state: Review) -> Review:
    """List the files of a folder."""
    return {"files": sorted(str(path) for path in Path(state["folder"]).glob("*.gram"))}


def each(state: Review) -> list[Send]:
    """A judge for every file."""
    return [Send("judge", {"file": file}) for file in state["files"]]


def judge(state: File) -> Review:
    """Read a file and judge it."""
    fine = Path(state["file"]).read_text(encoding="utf-8").startswith("//")
    why = "fine" if fine else "say at the top what it is for"
    return {"verdicts": [(Path(state["file"]).name, why)]}


def summary(state: Review) -> Review:
    """Sum the verdicts up."""
    return {"summary": "\n".join(f"{name}: {why}" for name, why in state["verdicts"])}


def review(folder: str) -> str:
    """Judge every file of a folder, four at a time."""
    graph = StateGraph(Review)
    for node in (files, judge, summary):
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "files")
    graph.add_conditional_edges("files", each, ["judge"])
    graph.add_edge("judge", "summary")
    return graph.compile().invoke({"folder": folder}, {"max_concurrency": 4})["summary"]


if __name__ == "__main__":
    print(review(sys.argv[1]))
