"""What checks and edits of programs cost: four times the program, about four times the calls."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gram import Document
from interp.models.program_checks import check_program
from lenses_ext import agent_model, each_agent, find_places, new_errors, parse_program, put
from tests.calls import calls_of

Use = Callable[[Document], object]


def agents(count: int) -> Document:
    return parse_program(
        "".join(
            f'[agent{n}:Agent {{instruction: "Say hello.", model: "OpenAI/m{n}"}} |\n'
            f'  [say{n}:ToolSpecification {{description: "Says hello."}} |\n'
            f"    (name{n}::Text)==>(::String)]]\n"
            for n in range(count)
        )
    )


def with_faults(document: Document) -> Document:
    return parse_program(document.text.replace("OpenAI/", ""))


def with_one_changed(document: Document) -> Document:
    changed = parse_program(document.text.replace('"OpenAI/m7"', '"A/b"', 1)).patterns[7]
    return document.replace([*document.patterns[:7], changed, *document.patterns[8:]])


USES: dict[str, Use] = {
    "a check": check_program,
    "a check that finds faults": lambda document: check_program(with_faults(document)),
    "an edit of one": with_one_changed,
    "an edit of all": lambda document: put(each_agent & agent_model, "A/b", document),
    "the faults that an edit adds": lambda document: new_errors(document, with_faults(document)),
    "places": lambda document: find_places(document.patterns, "*.model"),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES.keys())
def test_work_grows_with_the_program_and_no_faster(use: Use) -> None:
    use(agents(8))  # what is made once is made before
    few, many = (agents(count) for count in (10, 40))

    assert calls_of(lambda: use(many)) < 6 * calls_of(lambda: use(few))
