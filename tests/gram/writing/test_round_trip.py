"""Writing and reading are inverse to each other."""

import json

from hypothesis import given

from gram import Pattern, dumps, from_json, loads, to_json
from tests.gram.strategies import forests


@given(forests())
def test_what_is_written_as_text_and_json_reads_back_as_the_same_trees(
    trees: tuple[Pattern, ...],
) -> None:
    text, data = dumps(trees), json.loads(json.dumps(to_json(trees)))

    assert loads(text) == trees
    assert dumps(loads(text)) == text
    assert from_json(data) == trees
