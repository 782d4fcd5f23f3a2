"""The results of cases as JUnit XML, which CI systems read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from xml.etree import ElementTree as ET

from ..cases import Case
from .case_results import CaseResult

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(
    cases: Mapping[str, Sequence[Case]],
    results: Sequence[CaseResult],
    shown: Callable[[CaseResult], str],
) -> str:
    """The results as JUnit XML: a suite for each file, a case that was not run as skipped.

    Args:
        cases: the cases of each file.
        results: what became of those that were run.
        shown: the run of a case that did not pass, as text.
    """
    of_cases = {id(each.case): each for each in results}
    root = ET.Element("testsuites", name="gram test")
    for file, own in cases.items():
        suite = ET.SubElement(root, "testsuite", name=_text(file))
        for case in own:
            _add(suite, file, case, of_cases.get(id(case)), shown)
        _count(suite)
        suite.set("timestamp", datetime.now(UTC).isoformat(timespec="seconds"))
    _count(root)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _add(
    suite: ET.Element,
    file: str,
    case: Case,
    result: CaseResult | None,
    shown: Callable[[CaseResult], str],
) -> None:
    found = ET.SubElement(suite, "testcase", classname=_text(file), name=_text(case.name))
    found.set("file", _text(file))
    if case.row:
        found.set("line", str(case.row.source.position(case.row.span.start)[0]))
    found.set("time", f"{result.seconds if result else 0:.3f}")
    if result is None:
        ET.SubElement(found, "skipped", message="not run")
    elif not result.is_passed:
        run = result.shown
        kind = type(run.error).__name__ if run.error else run.failures[0].part
        message = result.messages[0].split("\n")[0]
        inside = ET.SubElement(found, "error" if run.error else "failure", type=kind)
        inside.set("message", _text(message))
        inside.text = _text("\n\n".join([*result.messages, shown(result)]))


def _count(element: ET.Element) -> None:
    """Set the counts and the time of a suite, or of all suites."""
    cases = list(element.iter("testcase"))
    element.set("tests", str(len(cases)))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(attribute, str(len(list(element.iter(tag)))))
    element.set("time", f"{sum(float(each.get('time', 0)) for each in cases):.3f}")


def _text(text: str) -> str:
    """A text without the characters that XML cannot have."""
    return _NOT_XML.sub("\ufffd", text)
