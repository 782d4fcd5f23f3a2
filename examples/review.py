"""A reviewer: a workflow that maps over the files of a folder, four at a time.

Run it with ``python examples/review.py [FOLDER]``. Instead of a model, a strict reviewer of a few
lines answers; leave ``model=`` out to ask the model that the program names.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any, TypedDict

from interp import ToolLibrary, arun, load, tool
from interp.machine import Request

PROGRAM = Path(__file__).with_name("review.gram")


@tool
def files(folder: str) -> list[str]:
    """Lists the files of a folder"""
    return sorted(str(path) for path in Path(folder).glob("*.gram"))


class Source(TypedDict):
    """A file and what is in it."""

    file: str
    text: str


@tool
def read(file: str) -> Source:
    """Reads a file"""
    return {"file": file, "text": Path(file).read_text(encoding="utf-8")}


@tool
def summary(verdicts: list[Any]) -> str:
    """Sums verdicts up"""
    return "\n".join(f"{Path(each['file']).name}: {each['why']}" for each in verdicts)


class Strict:
    """A reviewer that wants a comment at the top of every file."""

    def complete(self, request: Request) -> str:
        """Judge the file in the last message."""
        given = json.loads(request.messages[-1].content)
        fine = given["text"].startswith("//")
        why = "fine" if fine else "say at the top what it is for"
        return json.dumps({"file": given["file"], "fine": fine, "why": why})


def main() -> None:
    """Review the programs of a folder."""
    folder = sys.argv[1] if len(sys.argv) > 1 else str(PROGRAM.parent)
    library = ToolLibrary.of([files, read, summary])
    response = asyncio.run(arun(load(PROGRAM), folder, library, model=Strict()))
    print(response.content)


if __name__ == "__main__":
    main()
