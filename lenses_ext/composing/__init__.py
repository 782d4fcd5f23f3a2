"""Agents and workflows from parts; tools shared by the agents of a document; what changed."""

from .program_change import Level as Level, ProgramChange as ProgramChange, Said as Said
from .program_changes import changes as changes, level_of as level_of
