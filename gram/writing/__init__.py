"""From trees to text: canonical writing."""

from .serializer import (
    ONE_LINE as ONE_LINE,
    PLAIN,
    Spelling as Spelling,
    Style,
    abridged as abridged,
    abridged_subject as abridged_subject,
    dumps,
    is_path,
    sorted_items,
    write_arrow,
    write_key,
    write_name as write_name,
    write_pattern,
    write_record,
    write_subject,
    write_value,
)
