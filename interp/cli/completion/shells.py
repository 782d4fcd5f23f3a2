"""How each shell asks for completion: the script that it loads, and what it is answered.

click has all of this. But Bash cuts words at ``=`` and ``:``, and adds a space after a word that
goes on, such as ``temperature=``.
"""

from __future__ import annotations

import os
import re
from glob import escape, glob
from pathlib import Path
from typing import Any

from click import shell_completion
from click.shell_completion import CompletionItem, ShellComplete, add_completion_class


class _OrFiles(ShellComplete):
    """Completes files where nothing else is offered; in a message, those after its ``@``."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        found = super().get_completions(args, incomplete)
        if not found and incomplete.startswith("@"):
            names = sorted(glob(f"{escape(incomplete[1:])}*"))  # noqa: PTH207  # any beginning
            return [CompletionItem(f"@{name}") for name in names]
        return found or [CompletionItem(incomplete, type="file")]


@add_completion_class
class Bash(_OrFiles, shell_completion.BashComplete):
    """Completes the line up to the cursor; answers with what follows the last ``=`` or ``:``."""

    source_template = Path(__file__).with_name("completion.bash").read_text(encoding="utf-8")
    _word = ""

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the one that is begun, and that one."""
        typed = os.environ.get("GRAM_TYPED", " ")
        words = shell_completion.split_arg_string(typed)
        is_new = typed[-1:].isspace()
        self._word = "" if is_new else re.split(r"\s", typed)[-1]
        return words[1 : None if is_new else -1], "" if is_new else words[-1]

    def format_completion(self, item: CompletionItem) -> str:
        """The kind of an item and its value, as Bash takes it."""
        value = item.value
        if not self._word.startswith(("'", '"')):
            done = max(self._word.rfind("="), self._word.rfind(":")) + 1
            value = re.sub(r"([^\w@%+=:,./~-])", r"\\\1", value[done:])
        return f"{'open' if item.is_open else item.type},{value}"


@add_completion_class
class Fish(_OrFiles, shell_completion.FishComplete):
    """Completes for fish."""


@add_completion_class
class Zsh(_OrFiles, shell_completion.ZshComplete):
    """Completes for zsh."""


SHELLS: dict[str, type[Any]] = {"bash": Bash, "fish": Fish, "zsh": Zsh}
