"""From trees to text: canonical writing, and laying out what was written by hand."""

from .layout import INDENT, TIGHT, Group, Joint, Role, layout_of
from .serializer import (
    PLAIN,
    Spelling,
    Style,
    dumps,
    is_path,
    sorted_items,
    write_arrow,
    write_key,
    write_name,
    write_pattern,
    write_record,
    write_subject,
    write_value,
)

__all__ = [
    "INDENT",
    "PLAIN",
    "TIGHT",
    "Group",
    "Joint",
    "Role",
    "Spelling",
    "Style",
    "dumps",
    "is_path",
    "layout_of",
    "sorted_items",
    "write_arrow",
    "write_key",
    "write_name",
    "write_pattern",
    "write_record",
    "write_subject",
    "write_value",
]
