"""Random workflows whose types fit along every arrow, and the same with one thing broken."""

from __future__ import annotations

from collections.abc import Callable

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
    """

    gives: dict[str, str | None]
    arrows: list[tuple[str, str]]
    arms: dict[str, list[str]] = field(factory=dict)
    renamed: dict[tuple[str, str], str] = field(factory=dict)
    takes: dict[str, list[tuple[str, str]]] = field(factory=dict)
    otherwise: bool = False
    extra: str = ""

    def text(self) -> str:
        """The program."""
        elements = [*self.gives, *map(self._arrow, self.arrows)]
        for source, targets in self.arms.items():
            for index, target in enumerate(targets):
                label = f'WHEN {{is: "a{index}"}}'
                if self.otherwise and index == len(targets) - 1:
                    label = "OTHERWISE"
                elements.append(f"({source})-[:{label}]->({target})")
        flow = f"[w:Workflow | {', '.join([*elements, *filter(None, [self.extra])])}]"
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
        answers = ", ".join(f'"a{index}"' for index in range(len(self.arms[name])))
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


def well_typed_workflows() -> st.SearchStrategy[str]:
    """Programs of a workflow with nothing wrong."""
    return (flows() | choices()).map(Flow.text)


@frozen
class Broken:
    """A program with one thing wrong, and the codes of the faults of which one has to be told."""

    text: str
    codes: set[str]


def _wrong_type(flow: Flow, arrow: tuple[str, str]) -> Broken:
    source, target = arrow
    given = flow.gives[source] or "String"
    wrong = OTHER.get(given, "String")
    takes = [
        (name, wrong if len(flow.takes[target]) == 1 or name == source else kind)
        for name, kind in flow.takes[target]
    ]
    changed = evolve(flow, takes={**flow.takes, target: takes})
    return Broken(changed.text(), {"arrow-type"})


def _unknown_name(flow: Flow, arrow: tuple[str, str]) -> Broken:
    source, _ = arrow
    return Broken(
        evolve(flow, arrows=[*flow.arrows, (source, "nowhere")]).text(), {"undefined-reference"}
    )


def _circle(flow: Flow, arrow: tuple[str, str]) -> Broken:
    source, target = arrow
    return Broken(evolve(flow, arrows=[*flow.arrows, (target, source)]).text(), {"arrow-cycle"})


def _no_direction(flow: Flow, arrow: tuple[str, str]) -> Broken:
    source, target = arrow
    return Broken(
        flow.text().replace(f"({source})-->({target})", f"({source})--({target})", 1),
        {"arrow-direction"},
    )


def _misspelt_label(flow: Flow, arrow: tuple[str, str]) -> Broken:
    source, target = arrow
    text = flow.text().replace(f"({source})-->({target})", f"({source})-[:ECH]->({target})", 1)
    return Broken(text, {"arrow-label"})


def _unused(flow: Flow, _: tuple[str, str]) -> Broken:
    changed = evolve(
        flow,
        gives={**flow.gives, "idle": "String"},
        takes={**flow.takes, "idle": [("x", "String")]},
    )
    return Broken(changed.text(), {"unconnected-node"})


def _carried_otherwise(flow: Flow, arrow: tuple[str, str]) -> Broken:
    """What is carried has another name, or is a record now where a value was."""
    _, target = arrow
    codes = {"missing-field", "arrow-type"}
    if len(flow.takes[target]) == 1 and flow.takes[target][0][1] == "Object":
        return _circle(flow, arrow)  # an object takes any record
    return Broken(evolve(flow, renamed={arrow: "other"}).text(), codes)


MUTATIONS: list[Callable[[Flow, tuple[str, str]], Broken]] = [
    _wrong_type,
    _unknown_name,
    _circle,
    _no_direction,
    _misspelt_label,
    _unused,
    _carried_otherwise,
]


def _missing_arm(flow: Flow) -> Broken:
    """A choice that no longer covers its answers."""
    text = evolve(flow, otherwise=False).text()
    last = len(flow.arms["chooser"]) - 1
    return Broken(text.replace(f'WHEN {{is: "a{last}"}}', 'WHEN {is: "a0"}'), {"uncovered-choice"})


def _impossible_arm(flow: Flow) -> Broken:
    text = evolve(flow, otherwise=False).text()
    return Broken(text.replace('WHEN {is: "a0"}', 'WHEN {is: "never"}'), {"impossible-choice"})


def broken_workflows() -> st.SearchStrategy[Broken]:
    """Programs of a workflow with one thing wrong."""
    plain = (flows() | choices()).filter(lambda flow: bool(flow.arrows))
    mutated = plain.flatmap(
        lambda flow: st.builds(
            lambda mutate, arrow: mutate(flow, arrow),
            st.sampled_from(MUTATIONS),
            st.sampled_from(flow.arrows),
        )
    )
    chosen = choices().flatmap(
        lambda flow: st.sampled_from([_missing_arm(flow), _impossible_arm(flow)])
    )
    return mutated | chosen
