"""Random workflows whose types fit along every arrow."""

from __future__ import annotations

from attrs import evolve, field, frozen
from hypothesis import strategies as st

TYPES = ["String", "Integer", "Boolean", "Array", "Object"]


@frozen
class Flow:
    """A workflow of tools and choosing agents.

    Attributes:
        gives: what each node gives, by name; None for an agent that chooses among its arrows.
        arrows: the source and target of each plain arrow.
        arms: for each choosing node the targets of its arms, each for an answer of its own.
        takes: for each node its parameters, name and type.
        otherwise: whether the last arm is taken where no other is.
        extra: more elements.
        head: the name and label of the workflow, with the properties.
    """

    gives: dict[str, str | None]
    arrows: list[tuple[str, str]]
    arms: dict[str, list[str]] = field(factory=dict)
    takes: dict[str, list[tuple[str, str]]] = field(factory=dict)
    otherwise: bool = False
    extra: str = ""
    head: str = "w:Workflow"

    def text(self) -> str:
        """The program."""
        elements = [*self.gives, *(f"({one})-->({other})" for one, other in self.arrows)]
        for source, targets in self.arms.items():
            for index, target in enumerate(targets):
                label = f'WHEN {{is: "a{index}"}}'
                if self.otherwise and index == len(targets) - 1:
                    label = "OTHERWISE"
                elements.append(f"({source})-[:{label}]->({target})")
        flow = f"[{self.head} | {', '.join([*elements, *filter(None, [self.extra])])}]"
        return "\n".join([flow, *map(self._definition, self.gives)])

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
