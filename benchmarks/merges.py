"""``python -m benchmarks.merges``: people's edits, merged by git's lines and by structure.

A triple is a file and what two people made of it, with one to four edits each. The edits are made
of trees, by the names of agents and tools, so all of them can be made one after the other: that is
what a merge should give. Edits that exclude each other, such as two new models of one agent, should
be a conflict. The files are a generated repository of fifty agents with comments, and the longer
real files of the conformance data, where `GRAM_CONFORMANCE` names them.

A history is a file in which four people work for a long time: in each round all of them begin with
what the last one came to, and their edits are merged one after another; what is a conflict is left
out. Each merge in it is judged as a triple is.

Counted are conflicts; those of them where both people's edits fit together; merges whose trees are
wrong (in any order of elements); texts that are not gram any more; and programs with errors that
neither side has.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from random import Random
from typing import TypeAlias

import attrs

from gram import Document, GramDecodeError, Pattern, Subject, format_text, is_edge, loads
from gram.trees import WALK_SUBJECT
from lenses_ext import (
    is_agent,
    is_tool,
    merge_programs,
    over,
    parse_program,
    tool_spec_type_signature,
)
from lenses_ext.composing import judge_merge

Trees: TypeAlias = tuple[Pattern, ...]

TRIPLES = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
HISTORIES, ROUNDS = 5, 40
PEOPLE = ("ann", "bob", "cem", "dao")
MODELS = ["OpenAI/gpt-5.6-luna", "Anthropic/claude-sonnet-5", "Ollama/qwen3"]
WORDS = ["orders", "refunds", "mail", "stock", "prices", "friends", "routes", "bills", "visits"]


# --- files


def agent_file(random: Random, number: int) -> str:
    """A file with an agent, its tools, and one tool at the top that it shares."""
    tools = random.sample(WORDS, 3)
    written = ",\n".join(
        f"""  // about {word}
  [find_{word}:Tool {{description: "Finds {word}."}} |
    (query::Text)==>(limit::Integer {{default: {random.randint(1, 9)}}})==>(::Text)]"""
        for word in tools
    )
    return f"""// desk {number}
[desk_{number}:Agent {{
  description: "Answers about {", ".join(tools)}.",
  instruction: ```
    You answer questions.
    Look things up with `find_{tools[0]}`.
    Be brief.
    ```, // short
  model: "{random.choice(MODELS)}",
  settings: {{temperature: 0.2, max_tokens: 500}}
}} |
{written},
  ask
]
[helper_{number}:Agent {{instruction: "Help.", model: "{random.choice(MODELS)}"}}]
[ask:Tool {{description: "Asks a person."}} | (question::Text)==>(::Text)]
"""


def real_files() -> list[str]:
    """The longer texts of the conformance data."""
    corpus = Path(os.environ.get("GRAM_CONFORMANCE", "")) / "corpus.jsonl"
    rows = map(json.loads, corpus.read_text("utf-8").splitlines()) if corpus.is_file() else ()
    found = [row["source"] for row in rows if row["superset_accepts"]]
    return [text for text in found if len(text) > 400]


# --- edits


@attrs.frozen
class Edit:
    """An edit as people make them.

    Attributes:
        rank: when it is made, where the edits of both people are made one after the other.
        name: the name of the pattern that it is about.
        key: what it changes of it, if that is all.
        apply: makes it.
    """

    rank: int
    name: str
    key: str
    apply: Callable[[Trees], Trees]


IN, BESIDE, REMOVAL, RENAME = range(4)


def at(name: str, change: Callable[[Pattern], Trees]) -> Callable[[Trees], Trees]:
    """Changes the definitions of a name, wherever they are."""

    def inside(trees: Trees) -> Trees:
        found: list[Pattern] = []
        for tree in trees:
            below = attrs.evolve(tree, elements=inside(tree.elements))
            is_meant = tree.value.identity == name and (tree.value.labels or tree.value.properties)
            found += change(below) if is_meant else (below,)
        return tuple(found)

    return inside


def renamed(old: str, new: str) -> Callable[[Trees], Trees]:
    """A rename of a pattern and of all references to it."""

    def inside(trees: Trees) -> Trees:
        return tuple(
            attrs.evolve(
                tree,
                value=attrs.evolve(tree.value, identity=new)
                if tree.value.identity == old
                else tree.value,
                elements=inside(tree.elements),
            )
            for tree in trees
        )

    return inside


def other_value(value: object, random: Random, who: str) -> Callable[[object], object]:
    """What changes a value: one of its lines if it has several."""
    if not isinstance(value, str):
        number = random.randrange(10**6)
        return lambda old: number
    line = random.randrange(value.count("\n") + 1)

    def change(old: object) -> object:
        lines = str(old).split("\n")
        lines[line] += f" ({who})"
        return "\n".join(lines)

    return change


def definitions(trees: Trees, *, listed: bool = True) -> Iterator[tuple[Pattern, bool]]:
    """The patterns with a name, and whether each is an element that can be taken out."""
    for tree in trees:
        if tree.value.identity and (tree.value.labels or tree.value.properties):
            yield tree, listed
        is_path = is_edge(tree) or tree.value == WALK_SUBJECT
        yield from definitions(tree.elements, listed=listed and not is_path)


def some_edit(trees: Trees, random: Random, who: str, rank: int) -> Edit | None:
    """An edit of something that was there before and has a name of its own."""
    known = Counter(tree.value.identity for tree, _ in definitions(trees))
    named = [
        (tree, listed)
        for tree, listed in definitions(trees)
        if known[tree.value.identity] == 1 and not tree.value.identity.startswith(who)
    ]
    if not named:
        return None
    tree, listed = random.choice(named)
    name, is_bracket = tree.value.identity, bool(tree.elements) and not is_edge(tree)
    key = random.choice([*sorted(tree.value.properties), "note"])
    value = other_value(tree.value.properties.get(key, ""), random, who)
    new = f"{who}_{random.randrange(999)}"
    (tool,) = loads(f'[{new}:Tool {{description: "x"}} | ({new}_q::Text)==>(::Text)]')

    def with_value(tree: Pattern) -> Trees:
        properties = tree.value.properties
        new = properties.set(key, value(properties.get(key, "")))
        return (attrs.evolve(tree, value=attrs.evolve(tree.value, properties=new)),)

    def with_tool(tree: Pattern) -> Trees:
        return (attrs.evolve(tree, elements=(*tree.elements, tool)),)

    def with_parameter(tree: Pattern) -> Trees:
        def longer(signature: str) -> str:
            head, arrow, returned = signature.rpartition("==>")
            return f"{head}{arrow}({new}::Text){arrow}{returned}"

        return (over(tool_spec_type_signature, longer, tree),)

    if rank == IN and is_tool(tree) and random.random() < 0.3:
        return Edit(IN, name, "", at(name, with_parameter))
    used = {each.value.identity for each in tree.elements}
    shared = [each for each in trees if is_tool(each) and each.value.identity not in used]
    if rank == IN and is_agent(tree) and shared and random.random() < 0.3:
        used_name = random.choice(shared).value.identity

        def with_use(tree: Pattern) -> Trees:
            reference = Pattern(Subject(used_name))
            others = (each for each in tree.elements if each != reference)
            return (attrs.evolve(tree, elements=(*others, reference)),)

        return Edit(IN, name, f"uses {used_name}", at(name, with_use))
    if rank == IN and is_bracket and not is_tool(tree) and random.random() < 0.3:
        return Edit(IN, name, "", at(name, with_tool))
    if rank == BESIDE and listed:
        return Edit(BESIDE, name, "", at(name, lambda tree: (tree, tool)))
    if rank == REMOVAL and listed:
        return Edit(REMOVAL, name, "", at(name, lambda tree: ()))
    if rank == RENAME:
        return Edit(RENAME, name, "a new name", renamed(name, f"{who}_{name}"))
    return Edit(IN, name, key, at(name, with_value)) if rank == IN else None


def everything(trees: Trees) -> list[Pattern]:
    """The trees and all below them."""
    found = [*trees]
    for tree in found:
        found += tree.elements
    return found


def made_by(base: Document, random: Random, who: str) -> tuple[list[Edit], str]:
    """One to four edits, and the text after them; now and then it is laid out anew."""
    ranks = random.choices(range(4), [10, 2, 1, 1], k=random.randint(1, 4))
    edits: list[Edit] = []
    document = base
    for rank in sorted(ranks):
        if edit := some_edit(document.patterns, random, who, rank):
            document = document.replace(edit.apply(document.patterns))
            edits.append(edit)
    return edits, format_text(document.text) if random.random() < 0.1 else document.text


# --- merges


def in_any_order(trees: Trees) -> object:
    """Trees in a form in which the order of elements does not matter."""
    return sorted(repr((tree.value, in_any_order(tree.elements))) for tree in trees)


def lasting(base: Trees, side: list[Edit]) -> list[Edit]:
    """The edits of one person, without those inside what the same person has removed since."""
    gone = {
        tree.value.identity
        for edit in side
        if edit.rank == REMOVAL
        for tree in inside(base, edit.name)
    }
    return [edit for edit in side if edit.rank == REMOVAL or edit.name not in gone]


def inside(trees: Trees, name: str) -> list[Pattern]:
    """The patterns of a name, and the definitions in them."""
    meant = tuple(tree for tree, _ in definitions(trees) if tree.value.identity == name)
    return [tree for tree, _ in definitions(meant)]


def excludes(base: Trees, one: Edit, other: Edit) -> bool:
    """Whether two people's edits do not go together, as the first of them shows."""
    meant = inside(base, one.name)
    if other.key == f"uses {one.name}":
        return one.rank in (REMOVAL, RENAME)
    if one.rank == REMOVAL and other.name in {each.value.identity for each in meant}:
        return other.name != one.name or other.rank not in (BESIDE, REMOVAL)
    if not one.key or (one.name, one.key) != (other.name, other.key):
        return False
    has_lines = any("\n" in str(each.value.properties.get(one.key)) for each in meant)
    return not has_lines and one.apply(base) != other.apply(base)


def wanted(base: Document, ours: list[Edit], theirs: list[Edit]) -> object:
    """What all edits come to; None where some of both sides exclude each other."""
    we, they = (lasting(base.patterns, side) for side in (ours, theirs))
    if any(excludes(base.patterns, *pair) for pair in [*product(we, they), *product(they, we)]):
        return None
    trees = base.patterns
    for edit in sorted([*ours, *theirs], key=lambda each: each.rank):
        trees = edit.apply(trees)
    return in_any_order(trees)


def by_lines(folder: Path, base: str, ours: str, theirs: str) -> str | None:
    """The merge of git; None where it has conflicts."""
    names = [str(folder / name) for name in ("ours", "base", "theirs")]
    for name, text in zip(names, (ours, base, theirs), strict=True):
        Path(name).write_text(text, encoding="utf-8", newline="")
    done = subprocess.run(["git", "merge-file", "-p", *names], capture_output=True)
    return None if done.returncode else done.stdout.decode()


def by_structure(base: str, ours: str, theirs: str) -> str | None:
    """The merge of gram; None where it has conflicts, in the text or in the program."""
    found = merge_programs(base, ours, theirs)
    return None if found.merge.conflicts or found.faults else found.merge.text()


def verdicts(text: str, base: str, ours: str, theirs: str, right: object) -> Iterator[str]:
    """What is wrong with a merge that had no conflict."""
    try:
        merged = parse_program(text)
    except GramDecodeError:
        yield "not gram"
        return
    if in_any_order(merged.patterns) != right:
        yield "wrong"
    if judge_merge(*map(parse_program, (base, ours, theirs)), merged):
        yield "broken program"


Merging: TypeAlias = Callable[[str, str, str], "str | None"]


def judged(
    merge: Merging, base: str, ours: str, theirs: str, right: object, counts: Counter[str]
) -> str | None:
    """The merge of a triple, counted; None where it is a conflict."""
    text = merge(base, ours, theirs)
    if text is None:
        counts.update(["conflict", *["needless"] * (right is not None)])
    else:
        counts.update(verdicts(text, base, ours, theirs, right))
    return text


def history(base: str, random: Random, merge: Merging) -> Counter[str]:
    """What came of the merges of a file in which several people work for many rounds."""
    counts: Counter[str] = Counter()
    for number in range(ROUNDS):
        document = parse_program(base)
        (edits, ours), *others = (made_by(document, random, f"{who}{number}") for who in PEOPLE)
        for more, theirs in others:
            counts["merges"] += 1
            right = wanted(document, edits, more)
            text = judged(merge, base, ours, theirs, right, counts)
            if text is not None:
                edits, ours = [*edits, *more], text
        base = ours
    return counts


def shown(way: str, counts: Counter[str]) -> str:
    """A row of the table."""
    kinds = ("conflict", "needless", "wrong", "not gram", "broken program")
    merges = f"{counts['merges']} merges, " if counts["merges"] else ""
    return f"  {way:15} {merges}{', '.join(f'{kind} {counts[kind]}' for kind in kinds)}"


def main() -> None:
    """Merge the triples and the histories in both ways, and print the tables."""
    random = Random(32)
    repository = [agent_file(random, number) for number in range(50)]
    with tempfile.TemporaryDirectory() as folder:
        ways: dict[str, Merging] = {
            "git merge-file": partial(by_lines, Path(folder)),
            "gram merge": by_structure,
        }
        for name, files in (("fifty agents", repository), ("real files", real_files())):
            if not files:
                continue
            excluded = 0
            counts = {way: Counter[str]() for way in ways}
            for _ in range(TRIPLES):
                base = random.choice(files)
                document = parse_program(base)
                (our_edits, ours), (their_edits, theirs) = (
                    made_by(document, random, who) for who in PEOPLE[:2]
                )
                right = wanted(document, our_edits, their_edits)
                excluded += right is None
                for way, merge in ways.items():
                    judged(merge, base, ours, theirs, right, counts[way])
            print(f"{name}: {TRIPLES} triples, {excluded} of them exclude each other")
            for way in ways:
                print(shown(way, counts[way]))
            print(f"{name}: {HISTORIES} histories of {len(PEOPLE)} people, {ROUNDS} rounds each")
            begun = [random.choice(files) for _ in range(HISTORIES)]
            for way, merge in ways.items():
                found = (history(base, Random(at), merge) for at, base in enumerate(begun))
                print(shown(way, sum(found, Counter())))


if __name__ == "__main__":
    main()
