"""A recorded run, as lines and as a page: what was asked, called and answered, and what it took.

A line is a text, or its parts, each with the name of a style or "".
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias, Union

from attrs import evolve, frozen

from gram import highlighted
from gram.display import Content, Markup, element
from gram.errors import expect
from gram.words import counted
from lenses_ext import drawing_of, to_svg
from lenses_ext.drawings import Drawing, Node
from lenses_ext.workflows import grouped

from ..files import File
from ..history.records import RecordedRun
from ..history.replaying import Entry, Timeline, round_name, timeline
from ..json_text import json_or_text, read_json, write_json
from ..machine import Status, Usage, call_text, shown_price
from ..shown import shortened, visible_text
from .page import facts, page, part

Line: TypeAlias = Union[str, list[tuple[str, str]]]

_LONGEST: Final = 100  # characters of what is said and of results
_WIDEST: Final = 30  # characters of a position that others are aligned with


def lines(found: Timeline) -> list[Line]:
    """The lines of a timeline: the one about the run, then one for each entry."""
    attached = [f"attached: {file}" for file in found.attachments]
    return [summary(found), *attached, *RunLines(found).of(found.entries)]


def summary(found: Timeline) -> str:
    """The line about the run."""
    reason = (found.stopped or "").partition("\n")[0].rstrip(":")  # hints are for who ran it
    why = f" ({_shortened(reason)})" if found.stopped else ""
    parts = [
        found.agent or "the agent",
        found.model,
        found.standing + why,
        f"{counted(found.requests, 'request')}, {counted(found.calls, 'call')}",
        _tokens(found.usage),
        cost_of(found),
        "" if found.seconds is None else f"{found.seconds:.2f} s",
    ]
    return " · ".join(filter(None, parts))


class RunLines:
    """How the entries of a timeline are shown."""

    def __init__(self, found: Timeline) -> None:
        widths = (len(position_of(each)) for each in found.in_order)
        self._width = max((each for each in widths if each <= _WIDEST), default=0) + 1

    def of(self, entries: Iterable[Entry]) -> Iterator[Line]:
        """The lines of some entries, each with those inside it."""
        for entry in entries:
            yield from self.own(entry)
            yield from self.of(entry.children)

    def own(self, entry: Entry, *, by_whom: bool = False) -> Iterator[Line]:
        """The lines of an entry alone: what came before it, and where, when, how long, and what."""
        blank = " " * (self._width + 19) + "  " * (entry.level + 1)
        for why in dict.fromkeys(entry.retries):
            yield f"{blank}sent again: {_problem(why)}"
        if entry.reasoning:
            yield [(f"{blank}reasoning: {_shortened(entry.reasoning)}", "reasoning")]
        began = "" if entry.started is None else f"+{entry.started:.2f}"
        took = "" if entry.seconds is None else f"{entry.seconds:.2f} s"
        who = f"{entry.who}: " if by_whom and not entry.is_frame else ""
        place = f"{position_of(entry):<{self._width}}{began:>9}{took:>10}"
        yield [(f"{place}  {'  ' * entry.level}{who}", ""), *said_of(entry)]


def said_of(entry: Entry) -> list[tuple[str, str]]:
    """What an entry was, in words."""
    match entry.kind:
        case "model":
            return _request(entry)
        case "change":
            return [(f"resumed with {_changes(entry.arguments or '{}')}", "")]
        case "each":
            return [(f"{entry.name}: the list is empty", "")]
        case "stop":
            return [("stopped: ", ""), (_shortened(entry.error or ""), "failed")]
    named = _shortened(call_text(entry.name, entry.arguments or "{}"))
    waits, goes = "waits for", "runs"
    if entry.is_frame:  # its name and what it spent stay visible, texts are cut
        parts = [counted(entry.requests or 0, "request"), counted(entry.tool_calls or 0, "call")]
        parts += [_tokens(entry.usage)] if entry.usage and entry.requests else []
        parts += filter(None, [cost_of(entry)])
        name = round_name(entry) if entry.kind == "round" else entry.name
        named, waits, goes = f"{name} ({', '.join(parts)})", "waits in", "is in"
    elif entry.how == "asked":
        named = visible_text(named)
        if entry.may_have_run:
            return [(f"may have run already, asks whether to run again: {named}", "")]
        return [(f"waits for approval of {named}", "")]
    if entry.is_open:
        return [(f"{waits if entry.how == 'waiting' else goes} {named}", "")]
    if entry.how == "done":
        allowed, gave = " (allowed)" if entry.approval else "", _shortened(entry.result or "")
        if not entry.is_frame:
            return [(f"{named}{allowed} -> {gave}", "")]
        cut = [(f" ({entry.error})", "failed")] if entry.error else []
        return [(f"{named}{allowed} -> {shortened(gave, _LONGEST // 2)}", ""), *cut]
    style = "failed" if entry.how == "failed" else "refused"
    return [(f"{named} -> ", ""), (f"error: {_problem(entry.error or '')}", style)]


def _changes(arguments: str) -> str:
    """What was changed on resuming: ``model X/y; limits iterations=3``."""
    changed = []
    for name, value in read_json(arguments).items():
        parts = value.items() if isinstance(value, dict) else ()
        told = " ".join(f"{key}={write_json(part)}" for key, part in parts)
        changed.append(f"{name} {told or (value if isinstance(value, str) else write_json(value))}")
    return _shortened("; ".join(changed), 3 * _LONGEST)


def _request(entry: Entry) -> list[tuple[str, str]]:
    if entry.is_open:
        return [(f"{'waits for' if entry.how == 'waiting' else 'asks'} {entry.name}", "")]
    if entry.how in ("failed", "dropped"):
        return [("model: ", ""), (f"error: {_problem(entry.error or '')}", "failed")]
    said = _shortened(entry.result or "")
    said = f'"{said}"' if said and not said.startswith('"') else said
    calls = f"calls {', '.join(entry.calls)}" if entry.calls else ""
    spent = [] if entry.usage is None else [_tokens(entry.usage), cost_of(entry)]
    used = f"({', '.join(filter(None, spent))})" if spent else ""
    model = f"{entry.name} at " if entry.retries else ""  # maybe another than the first
    where = f"from {model}{_shortened(entry.server)}" if entry.server else ""
    cut = [(f" ({entry.error})", "failed")] if entry.error else []
    who = "summary:" if entry.is_summary else "model:"
    return [(" ".join(filter(None, (who, said, calls, used, where))), ""), *cut]


def position_of(entry: Entry) -> str:
    """Where something happened, in one word."""
    return ".".join(map(str, entry.at))


def cost_of(found: Entry | Timeline) -> str:
    """What the replies cost; "" where nothing was asked of a server that takes money."""
    if found.cost is None:
        return "cost unknown" if found.was_asked_elsewhere else ""
    return f"${shown_price(found.cost)}"


def _tokens(usage: Usage) -> str:
    if usage.total_tokens is None:
        return "tokens unknown"
    known = (usage.cached_tokens, "cached"), (usage.reasoning_tokens, "reasoning")
    parts = [f"{number} {word}" for number, word in known if number]
    more = f" ({', '.join(parts)})" if parts else ""
    return f"{usage.input_tokens}+{usage.output_tokens} tokens{more}"


def _problem(error: str) -> str:
    """An error on one line: its hint is for who ran it."""
    return _shortened(error.partition("\n  hint:")[0])


def _shortened(text: str, most: int = _LONGEST) -> str:
    return shortened(" ".join(text.split()), most)


def with_counts(drawing: Drawing, run: Timeline) -> Drawing:
    """A drawing with how often a run came to each agent and tool, and how often that failed.

    An agent counts its requests to a model, a tool its calls, by the names in the drawing.
    """
    asked, called, failed = Counter[str](), Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for entry in run.in_order:
        if entry.is_open:
            continue
        if entry.kind == "model":
            asked[entry.who] += 1
        elif entry.kind in ("tool", "agent", "workflow"):
            called[entry.who, entry.name] += 1
            failed[entry.who, entry.name] += entry.how != "done"
    names = {node.key: node.name for node in drawing.nodes}
    has = (edge for edge in drawing.edges if edge.kind == "has")
    holders = grouped((edge.target, names[edge.source]) for edge in has)

    def counted_node(node: Node) -> Node:
        if node.kind not in ("agent", "tool"):
            return node
        pairs = {(holder, node.name) for holder in holders.get(node.key, ())}
        if node.kind == "tool" and not pairs:  # a step of a workflow
            pairs = {pair for pair in called if pair[1] == node.name}
        count = asked[node.name] if node.kind == "agent" else sum(called[each] for each in pairs)
        return evolve(node, count=count, failed=sum(failed[each] for each in pairs))

    edges = [
        evolve(edge, count=called[names[edge.source], names[edge.target]])
        if edge.kind == "has" and names[edge.target]
        else edge
        for edge in drawing.edges
    ]
    return evolve(drawing, nodes=tuple(map(counted_node, drawing.nodes)), edges=tuple(edges))


# --- the page

_MOST_OF_ALL, _MOST_OF_ONE, _LEAST_OF_ONE = 20_000_000, 200_000, 2_000
_MOST_NODES = 150  # that are drawn

_KINDS = {"workflow": "flow", "each": "list", "change": "you"}
"""How a kind of entry is called, where that is not its name."""
_STYLES = {"failed": "bad", "refused": "warn", "dropped": "warn"}
"""How what did not end well looks."""
_STATUS = {Status.DONE: "good", Status.LIMITED: "bad", Status.UNUSABLE: "bad"}


def run_page(run: RecordedRun, *, title: str = "") -> str:
    """The page of a recorded run: one file of HTML that loads nothing.

    It can be searched, and everything in it opens with a key press. Known keys are replaced, and
    whatever people, models and tools wrote is text in it. Very long texts are cut.

    Args:
        title: what the page is named; by default, the name of the agent.
    """
    expect(run, RecordedRun, "run", by="run_page")
    expect(title, str, "title", by="run_page")
    found = timeline(run)
    count = len(found.in_order) or 1
    longest = max(_LEAST_OF_ONE, min(_MOST_OF_ONE, _MOST_OF_ALL // count))
    ends = [(each.started or 0) + (each.seconds or 0) for each in found.in_order]
    view = _View(longest, max(ends, default=0))
    told: dict[str, Content] = {
        "status": element("span", found.standing, class_=_STATUS.get(found.status, "warn")),
        "model": found.model,
        "requests": str(found.requests),
        "calls": str(found.calls),
        **_token_facts(found.usage),
        "cost": cost_of(found).removeprefix("cost "),
        "time": _seconds(found.seconds),
        "began": f"{found.started:%Y-%m-%d %H:%M:%S %Z}" if found.started else None,
        "program": found.program,
    }
    return page(
        title or found.agent or "a run",
        facts(told),
        view.said("asked", found.input),
        map(_attached, found.attachments),
        view.said("answered", found.answer),
        view.said("stopped", found.stopped, "bad"),
        element("h2", "What happened"),
        part("search.html"),
        element("ol", map(view.entry, found.entries), class_="timeline"),
        _drawn(run, found),
        _program(run.program),
    )


def _attached(file: File) -> Markup:
    """A file that was attached, or that a tool returned: a picture is seen, nothing is loaded."""
    picture = None
    if file.kind == "picture" and file.content is not None:
        data = f"data:{file.media_type};base64,{b64encode(file.content).decode()}"
        picture = element("img", src=data, alt=file.filename)
    return element("figure", picture, element("figcaption", str(file)))


def _drawn(run: RecordedRun, found: Timeline) -> Content:
    drawing = drawing_of(run.first.agent)
    if len(drawing.nodes) > _MOST_NODES:
        return None
    drawn = to_svg(with_counts(drawing, found), standalone=False)
    return [element("h2", "What ran"), element("figure", drawn, class_="drawing", tabindex=0)]


def _program(text: str) -> Content:
    pieces = (
        element("span", piece, class_=f"g-{kind}") if kind else piece
        for kind, piece in highlighted(text)
    )
    heading = element("summary", element("h2", "The program"))
    return element("details", heading, element("pre", pieces), class_="source")


@frozen
class _View:
    """How the entries of one run are shown.

    Attributes:
        end: when the last entry ended, in seconds after the run began.
    """

    longest: int
    end: float

    def said(self, word: str, text: str | None, style: str | None = None) -> Content:
        """Something said, below a word that says by whom."""
        if not text:
            return None
        shown = element("div", self._cut(text), class_="says")
        return element("section", element("h2", word), shown, class_=f"said {style or ''}".strip())

    def entry(self, entry: Entry) -> Markup:
        """An entry: a line, and what opens below it."""
        style = _STYLES.get(entry.how)
        said = (element("bdi", text, class_=_STYLES.get(how)) for text, how in said_of(entry))
        line = [
            element("span", _KINDS.get(entry.kind, entry.kind), class_=f"kind k-{entry.kind}"),
            element("span", said, class_="what"),
            element("span", entry.how, class_=f"how {style}") if style else None,
            element("span", _seconds(entry.seconds), class_="num took"),
            self._bar(entry),
        ]
        inside = element("ol", map(self.entry, entry.children)) if entry.children else None
        opened = element("details", element("summary", line), self._parts(entry), inside)
        return element("li", opened, class_="entry")

    def _parts(self, entry: Entry) -> Content:
        """What opens below the line of an entry."""
        told: dict[str, Content] = {
            "position": position_of(entry),
            "agent": entry.who,
            "model" if entry.kind == "model" else "name": entry.name,
            "answered by": entry.served_model,
            "requests": _count(entry.requests),
            "calls": _count(entry.tool_calls),
            **_token_facts(entry.usage or Usage()),
            "cost": cost_of(entry).removeprefix("cost "),
            "server": entry.server,
            "ended because": entry.finish_reason,
            "began after": _seconds(entry.started),
            "asked for approval": {None: "", True: "allowed", False: "denied"}[entry.approval],
            "sent again": "; ".join(entry.retries),
        }
        result = "said" if entry.kind == "model" else "result"
        return [
            facts(told),
            self._block("arguments", entry.arguments),
            self._block("reasoning", entry.reasoning, "quiet"),
            self._block(result, entry.result),
            map(_attached, entry.files),
            self._block("error", entry.error, "bad"),
        ]

    def _block(self, word: str, text: str | None, style: str | None = None) -> Content:
        if not text:
            return None
        value = json_or_text(text)  # JSON is laid out
        plain = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
        return [element("h3", word), element("pre", self._cut(plain), tabindex=0, class_=style)]

    def _cut(self, text: str) -> str:
        if len(text) <= self.longest:
            return text
        return f"{text[: self.longest]}\n… {counted(len(text) - self.longest, 'more character')}"

    def _bar(self, entry: Entry) -> Content:
        if not entry.seconds or not self.end:
            return None
        start, width = (entry.started or 0) / self.end * 100, entry.seconds / self.end * 100
        return Markup(
            '<svg class="bar" viewBox="0 0 100 3" preserveAspectRatio="none" aria-hidden="true">'
            f'<rect x="{start:.2f}" width="{max(width, 0.3):.2f}" height="3"/></svg>'
        )


def _token_facts(usage: Usage) -> dict[str, Content]:
    """The known numbers of tokens, under the words for them."""
    return {name.replace("_", " "): str(number) for name, number in usage.details().items()}


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _seconds(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
