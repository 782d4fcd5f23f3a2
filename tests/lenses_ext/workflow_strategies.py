"""Random workflows whose types fit along every arrow, and the same with one thing broken."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any

from attrs import evolve, field, frozen
from hypothesis import strategies as st

TYPES = ["String", "Integer", "Boolean", "Array", "Object"]
OTHER = {"String": "Boolean", "Integer": "Array", "Boolean": "String", "Array": "Integer"}
"""For each type one whose values it does not have."""


@frozen
class Flow:
    """A workflow of tools and choosing agents.

    Attributes:
        gives: what each node gives, by name; None for an agent that chooses among its arrows.
        arrows: the source and target of each plain arrow.
        arms: for each choosing node the targets of its arms, each for an answer of its own.
        renamed: for an arrow, the name under which it is carried.
        takes: for each node its parameters, name and type.
        otherwise: whether the last arm is taken where no other is.
        extra: more elements.
        head: the name and label of the workflow, with the properties.
    """

    gives: dict[str, str | None]
    arrows: list[tuple[str, str]]
    arms: dict[str, list[str]] = field(factory=dict)
    renamed: dict[tuple[str, str], str] = field(factory=dict)
    takes: dict[str, list[tuple[str, str]]] = field(factory=dict)
    otherwise: bool = False
    extra: str = ""
    head: str = "w:Workflow"

    def text(self) -> str:
        """The program."""
        elements = [*self.gives, *map(self._arrow, self.arrows)]
        for source, targets in self.arms.items():
            for index, target in enumerate(targets):
                label = f'WHEN {{is: "a{index}"}}'
                if self.otherwise and index == len(targets) - 1:
                    label = "OTHERWISE"
                elements.append(f"({source})-[:{label}]->({target})")
        flow = f"[{self.head} | {', '.join([*elements, *filter(None, [self.extra])])}]"
        return "\n".join([flow, *map(self._definition, self.gives)])

    def _arrow(self, arrow: tuple[str, str]) -> str:
        name = self.renamed.get(arrow)
        record = f'[{{as: "{name}"}}]' if name else ""
        return f"({arrow[0]})-{record}->({arrow[1]})"

    def _definition(self, name: str) -> str:
        nodes = "==>".join(f"({each}::{kind})" for each, kind in self.takes[name]) or "()"
        gives = self.gives[name]
        if gives is not None:
            return f'[{name}:Tool {{description: "d"}} | {nodes}==>(::{gives})]'
        answers = ", ".join(f'"a{index}"' for index in range(len(self.arms.get(name, "ab"))))
        return (
            f'[{name}:Agent {{instruction: "x", model: "Offline/rehearsal"}} | {nodes}==>(::Kind), '
            f"[Kind:String {{enum: [{answers}]}}]]"
        )


@st.composite
def flows(draw: st.DrawFn) -> Flow:
    """A workflow whose nodes take exactly what leads to them."""
    count = draw(st.integers(2, 6))
    names = [f"n{index}" for index in range(count)]
    gives: dict[str, str | None] = {name: draw(st.sampled_from(TYPES)) for name in names}
    arrows: list[tuple[str, str]] = []
    takes: dict[str, list[tuple[str, str]]] = {}
    for index, name in enumerate(names):
        sources = sorted(draw(st.sets(st.sampled_from(names[:index]), max_size=3))) if index else []
        if index and not sources and index == count - 1:
            sources = [names[index - 1]]
        arrows += [(source, name) for source in sources]
        given = [(source, gives[source] or "String") for source in sources]
        takes[name] = given if len(given) > 1 else [("x", given[0][1] if given else "String")]
    return _connected(Flow(gives, arrows, takes=takes))


def _connected(flow: Flow) -> Flow:
    """The same with an arrow from the input to each node without one."""
    ends = {end for arrow in flow.arrows for end in arrow}
    alone = [name for name in flow.gives if name not in ends]
    return evolve(flow, extra=", ".join(f"()-->({name})" for name in alone))


@st.composite
def choices(draw: st.DrawFn) -> Flow:
    """A workflow that chooses, its arms taking what the choosing node was given."""
    given = draw(st.sampled_from(["String", "Integer", "Array"]))
    count = draw(st.integers(2, 4))
    arms = [f"arm{index}" for index in range(count)]
    gives: dict[str, str | None] = {"first": given, "chooser": None}
    kind = draw(st.sampled_from(TYPES))
    gives |= dict.fromkeys(arms, kind)
    arrows = [("first", "chooser")]
    takes = {"first": [("x", "String")], "chooser": [("x", given)]}
    takes |= {arm: [("x", given)] for arm in arms}
    if draw(st.booleans()):
        gives["last"] = "String"
        takes["last"] = [("x", kind)]
        arrows += [(arm, "last") for arm in arms]
    return Flow(gives, arrows, {"chooser": arms}, takes=takes, otherwise=draw(st.booleans()))


@st.composite
def loops(draw: st.DrawFn) -> Flow:
    """A loop whose next round takes what its judge answers."""
    kind = draw(st.sampled_from(TYPES))
    gives: dict[str, str | None] = {"writer": kind, "judge": None}
    takes = {"writer": [("x", "String")], "judge": [("x", kind)]}
    arrows = [("writer", "judge")]
    if draw(st.booleans()):  # something between the two
        gives["middle"] = draw(st.sampled_from(TYPES))
        takes |= {"middle": [("x", kind)], "judge": [("x", gives["middle"] or "String")]}
        arrows = [("writer", "middle"), ("middle", "judge")]
    end = draw(st.sampled_from(['"a0"', '{judge: "a1"}']))
    head = f"w:Loop {{max: {draw(st.integers(1, 9))}, until: {end}}}"
    return Flow(gives, arrows, takes=takes, extra="(writer)-->()", head=head)


def well_typed_workflows() -> st.SearchStrategy[str]:
    """Programs of a workflow with nothing wrong."""
    return (flows() | choices() | loops()).map(Flow.text)


@frozen
class Broken:
    """A program with one thing wrong.

    Attributes:
        text: the program.
        codes: the codes of which one has to be told.
        about: the names of the nodes whose definitions the fault has to lead to.
    """

    text: str
    codes: set[str]
    about: frozenset[str] = frozenset()


Arrow = tuple[str, str]
Mutation = Callable[[Flow, Arrow], Broken]


def broken(flow: Flow, code: str, *about: str, **changes: Any) -> Broken:
    """A workflow with changes that are one fault."""
    return Broken(evolve(flow, **changes).text(), {code}, frozenset(about))


def respelt(flow: Flow, code: str, old: str, new: str, *about: str) -> Broken:
    """A workflow with one fault in how it is written."""
    text = flow.text()
    assert old in text
    return Broken(text.replace(old, new, 1), {code}, frozenset(about))


def _wrong_type(flow: Flow, arrow: Arrow) -> Broken:
    source, target = arrow
    wrong = OTHER.get(flow.gives[source] or "String", "String")
    takes = [
        (name, wrong if len(flow.takes[target]) == 1 or name == source else kind)
        for name, kind in flow.takes[target]
    ]
    return broken(flow, "arrow-type", *arrow, takes={**flow.takes, target: takes})


def _circle(flow: Flow, arrow: Arrow) -> Broken:
    return broken(flow, "arrow-cycle", arrows=[*flow.arrows, arrow[::-1]])


def _unused(flow: Flow, _: Arrow) -> Broken:
    gives, takes = {**flow.gives, "idle": "String"}, {**flow.takes, "idle": [("x", "String")]}
    return broken(flow, "unconnected-node", gives=gives, takes=takes)


def _defined_twice(flow: Flow, arrow: Arrow) -> Broken:
    again = flow._definition(arrow[0]).replace('"d"', '"e"').replace('"x"', '"y"')
    return Broken(f"{flow.text()}\n{again}", {"duplicate-definition"})


def _carried_otherwise(flow: Flow, arrow: Arrow) -> Broken:
    """What is carried has another name, or is a record now where a value was."""
    _, target = arrow
    if len(flow.takes[target]) == 1 and flow.takes[target][0][1] == "Object":
        return _circle(flow, arrow)  # it takes any record
    text = evolve(flow, renamed={arrow: "other"}).text()
    return Broken(text, {"missing-field", "arrow-type"}, frozenset({target}))


def _one_more_parameter(flow: Flow, arrow: Arrow) -> Broken:
    """A join, or what a node takes as it is, misses a field."""
    source, target = arrow
    if flow.gives[source] == "Object":
        return _circle(flow, arrow)  # it may have any field
    takes = {**flow.takes, target: [*flow.takes[target], ("more", "Boolean")]}
    text = evolve(flow, takes=takes).text()
    return Broken(text, {"missing-field", "arrow-type"}, frozenset({target}))


def _more_arrows(code: str, more: Callable[[Arrow], Arrow]) -> Mutation:
    """One arrow more, made of another."""
    return lambda flow, arrow: broken(flow, code, arrows=[*flow.arrows, more(arrow)])


def _written(
    code: str, inside: str, end: str = "->", *, unless: Set[str | None] = frozenset()
) -> Mutation:
    """An arrow that is written in another way, unless its source gives one of some types."""

    def mutated(flow: Flow, arrow: Arrow) -> Broken:
        source, target = arrow
        if flow.gives[source] in unless:
            return _circle(flow, arrow)
        old, new = f"({source})-->({target})", f"({source})-{inside}{end}({target})"
        return respelt(flow, code, old, new, *([source] if unless else []))

    return mutated


MUTATIONS: list[Mutation] = [
    _wrong_type,
    _more_arrows("undefined-reference", lambda arrow: (arrow[0], "nowhere")),
    _circle,
    _more_arrows("arrow-cycle", lambda arrow: (arrow[1], arrow[1])),
    _more_arrows("reference-cycle", lambda arrow: (arrow[0], "w")),
    _unused,
    _defined_twice,
    _carried_otherwise,
    _one_more_parameter,
    _written("each-type", "[:EACH]", unless={"Array"}),
    _written("arrow-direction", "", "-"),
    _written("arrow-label", "[:ECH]"),
    _written("arrow-key", '[{az: "x"}]'),
    _written("handoff", "[:HANDOFF]"),
    # a choice by what does not declare its answers, with one of them covered
    _written("uncovered-choice", '[:WHEN {is: "x"}]', unless={*TYPES, None} - {"String"}),
    lambda flow, _: broken(flow, "missing-name", head=flow.head.removeprefix("w")),
]


def _wrong_choices(flow: Flow) -> list[Broken]:
    """A choice that no longer covers its answers, has one of no answer, or twice the same."""
    flow = evolve(flow, otherwise=False)
    last = len(flow.arms["chooser"]) - 1
    arm = f'WHEN {{is: "a{last}"}}'
    free = {**flow.gives, "chooser": "String"}
    return [
        respelt(flow, "uncovered-choice", arm, 'WHEN {is: "a0"}', "chooser"),
        respelt(flow, "impossible-choice", arm, 'WHEN {is: "never"}', "chooser"),
        respelt(flow, "impossible-choice", arm, "WHEN {is: 3}", "chooser"),
        respelt(flow, "arrow-key", arm, "WHEN"),
        respelt(flow, "arrow-label", arm, arm.replace("WHEN", "WEHN")),
        broken(flow, "uncovered-choice", "chooser", gives=free),
    ]


def _wrong_loops(flow: Flow) -> list[Broken]:
    """A loop without a bound, or that never ends."""
    head = flow.head
    until = head[head.index("until") : -1]
    most = head[head.index("max") : head.index(", until")]
    return [
        respelt(flow, "loop-rounds", f"{most}, ", ""),
        respelt(flow, "loop-rounds", most, "max: 0"),
        respelt(flow, "loop-rounds", most, 'max: "3"'),
        respelt(flow, "loop-rounds", f", {until}", ""),
        respelt(flow, "loop-end", until, 'until: {judge: "never"}', "judge"),
        respelt(flow, "loop-end", until, 'until: {nobody: "a0"}'),
        respelt(flow, "loop-rounds", "w:Loop", "w:Workflow"),
    ]


def broken_workflows() -> st.SearchStrategy[Broken]:
    """Programs of a workflow with one thing wrong."""
    plain = (flows() | choices() | loops()).filter(lambda flow: bool(flow.arrows))
    mutated = plain.flatmap(
        lambda flow: st.builds(
            lambda mutate, arrow: mutate(flow, arrow),
            st.sampled_from(MUTATIONS),
            st.sampled_from(flow.arrows),
        )
    )
    chosen = choices().flatmap(lambda flow: st.sampled_from(_wrong_choices(flow)))
    looped = loops().flatmap(lambda flow: st.sampled_from(_wrong_loops(flow)))
    return mutated | chosen | looped
