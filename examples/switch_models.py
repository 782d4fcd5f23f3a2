"""Switch every agent in a folder to another model, and one tool's default, and no other byte.

    python examples/switch_models.py FOLDER

The same in two commands:

    gram set -i FILE '*.model' Ollama/llama4
    gram set -i FILE '*.tools.sayHello.parameters.personName.default' friend
"""

import sys
from pathlib import Path

from gram import parse_file, write_atomically
from lenses_ext import Model, agent_model, each_agent, find_places, put


def switch(folder: Path, model: Model) -> None:
    """Edit every program in a folder; comments, layout and everything else stay as they are."""
    for file in sorted(folder.glob("*.gram")):
        document = put(each_agent & agent_model, model, parse_file(file))
        for place in find_places(document.patterns, "*.tools.*.parameters.personName.default"):
            document = document.replace(place.set(document.patterns, "friend"))
        write_atomically(file, document.text)
        for change in document.changes:
            print(f"{file.name}: {change.old} -> {change.new}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python switch_models.py FOLDER")
    switch(Path(sys.argv[1]), Model("Ollama", "llama4"))
