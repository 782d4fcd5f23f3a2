"""From trees to text: canonical writing."""

from .abridged import abridged, abridged_subject
from .serializer import (
    ONE_LINE,
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
