"""Rewrites annotations: in place, or as the subject of a bracket."""

from __future__ import annotations

from functools import partial

from ..reading import has_comment, syntax
from ..trees import Pattern, Subject, is_symbol
from ..writing import Spelling, write_key, write_name, write_subject, write_value
from .comma_list import Named, Place, annotations_of, with_additions
from .rewrite_subject import property_places, rewrite_identity, rewrite_labels, rewrite_value
from .writer import Writer


def can_annotate(old: syntax.Annotated, tree: Pattern) -> bool:
    """Whether a tree can be written as annotations before its one element."""
    subject = tree.value
    says = subject.identity or subject.labels or subject.properties or _has_empty_name(old, subject)
    return bool(says) and len(tree.elements) == 1 and all(map(is_symbol, subject.properties))


def _has_empty_name(old: syntax.Annotated, subject: Subject) -> bool:
    """Whether annotations give a name of no characters, and may go on to."""
    name = old.identified.identity if old.identified else None
    return name is not None and name.text == subject.identity == ""


def rewrite_annotations(
    writer: Writer, old: syntax.Annotated, subject: Subject, spelling: Spelling
) -> None:
    """Write a subject over the annotations before a pattern, up to where the pattern begins."""
    identified = [old.identified] if old.identified else []

    def new_annotation(key: str) -> None:
        writer.put(f"@{key}({write_value(subject.properties[key])})")

    places: list[Place] = []
    if old.identified and (subject.identity or subject.labels or _has_empty_name(old, subject)):
        places.append(
            Place(0, partial(_rewrite_identified, writer, old.identified, subject, spelling))
        )
    elif subject.identity or subject.labels:
        name = write_subject(Subject(subject.identity, subject.labels), spelling)
        places.append(Place(None, partial(writer.put, f"@@{name}")))
    places += property_places(
        writer, old.annotations, subject.properties, new_annotation, first=len(identified)
    )
    annotations_of(writer.old, old).write(writer, places)


def _rewrite_identified(
    writer: Writer, old: syntax.Identified, subject: Subject, spelling: Spelling
) -> None:
    name, after_marker = old.identity, old.start + len("@@")
    labels = {label.name.text for label in old.labels}
    if (name.text if name else "") == subject.identity and labels == subject.labels:
        writer.copy(old.start, old.end)
        return
    if name is not None and name.text == subject.identity:
        writer.copy(old.start, name.end)
    else:
        if subject.identity:
            writer.put(f"@@{write_name(subject.identity, integers=True)}")
        else:
            writer.copy(old.start, after_marker)
        if name is not None and has_comment(writer.old[after_marker : name.start]):
            writer.copy_trivia(after_marker, name.start)
    after = name.end if name else after_marker
    spelled = bool(subject.identity)
    rewrite_labels(writer, old.labels, after, subject.labels, spelling, spelled=spelled)


def annotations_as_subject(
    writer: Writer, old: syntax.Annotated, subject: Subject, spelling: Spelling
) -> None:
    """Write a subject as identity, labels and record, with the annotations' names and values."""
    name = old.identified.identity if old.identified else None
    labels = old.identified.labels if old.identified else ()
    spelled = rewrite_identity(writer, name, subject.identity)
    start = labels[0].start if labels else old.start
    rewrite_labels(writer, labels, start, subject.labels, spelling, spelled=spelled)
    if not subject.properties:
        return
    last = {annotation.key.text: annotation for annotation in old.annotations}
    kept: list[Named] = [
        (key, Place(None, partial(_annotation_as_entry, writer, annotation, subject)))
        for key, annotation in last.items()
        if key in subject.properties
    ]
    added: list[Named] = [
        (key, Place(None, partial(writer.put, f"{write_key(key)}: {write_value(value)}")))
        for key, value in subject.properties.items()
        if key not in last
    ]
    writer.put_trivia(" " if spelled or subject.labels else "")
    writer.put("{")
    for index, place in enumerate(with_additions(kept, added)):
        writer.put(", " if index else "")
        place.write()
    writer.put("}")


def _annotation_as_entry(writer: Writer, annotation: syntax.Annotation, subject: Subject) -> None:
    writer.copy(annotation.key.start, annotation.key.end)
    writer.put(": ")
    rewrite_value(writer, annotation.value, subject.properties[annotation.key.text])
