"""Writing and reading are inverse to each other."""

import json

from hypothesis import given

from gram import Pattern, dumps, from_json, loads, to_json
from tests.gram.strategies import forests


@given(forests())
def test_what_is_written_reads_back_as_the_same_trees(trees: tuple[Pattern, ...]) -> None:
    text = dumps(trees)

    assert loads(text) == trees
    assert dumps(loads(text)) == text


@given(forests())
def test_json_and_back_gives_the_same_trees(trees: tuple[Pattern, ...]) -> None:
    data = json.loads(json.dumps(to_json(trees)))

    assert from_json(data) == trees
