"""How each shell asks for completion: the script that it loads, and what it is answered.

click has all of this for words of letters. Bash cuts words at ``=`` and ``:``, and no shell may add
a space after a word that goes on, such as ``temperature=``.
"""

from __future__ import annotations

import os
import re
from typing import Any

from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ZshComplete,
    add_completion_class,
    split_arg_string,
)

_BASH = """\
%(complete_func)s() {
    local kind value
    COMPREPLY=()
    while IFS=, read -r kind value; do
        case $kind in
            file) compopt -o default ;;
            open) compopt -o nospace; COMPREPLY+=("$value") ;;
            plain) COMPREPLY+=("$value") ;;
        esac
    done < <(env GRAM_TYPED="${COMP_LINE:0:COMP_POINT}" %(complete_var)s=bash_complete "$1")
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""

_ZSH = """\
#compdef %(prog_name)s

%(complete_func)s() {
    local -a response plain open
    local kind value
    (( ! $+commands[%(prog_name)s] )) && return 1
    response=("${(@f)$(env COMP_WORDS="${words[*]}" COMP_CWORD=$((CURRENT-1)) \
%(complete_var)s=zsh_complete %(prog_name)s)}")
    for line in $response; do
        kind=${line%%%%,*} value=${line#*,}
        case $kind in
            file) _path_files -f ;;
            open) open+=("$value") ;;
            plain) plain+=("$value") ;;
        esac
    done
    (( $#plain )) && compadd -U -V gram -a plain
    (( $#open )) && compadd -U -S '' -V gram -a open
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    %(complete_func)s "$@"
else
    compdef %(complete_func)s %(prog_name)s
fi
"""


@add_completion_class
class Bash(BashComplete):
    """Completes the line up to the cursor; answers with what follows the last ``=`` or ``:``."""

    source_template = _BASH
    _word = ""

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the one that is begun, and that one."""
        typed = os.environ.get("GRAM_TYPED", " ")
        words = split_arg_string(typed)
        is_new = typed[-1:].isspace()
        self._word = "" if is_new else re.split(r"\s", typed)[-1]
        return words[1 : None if is_new else -1], "" if is_new else words[-1]

    def format_completion(self, item: CompletionItem) -> str:
        """The kind of an item and its value, as Bash takes it."""
        value = item.value
        if not self._word.startswith(("'", '"')):
            done = max(self._word.rfind("="), self._word.rfind(":")) + 1
            value = re.sub(r"([^\w@%+=:,./~-])", r"\\\1", value[done:])
        return f"{_kind(item)},{value}"


@add_completion_class
class Zsh(ZshComplete):
    """Answers with a line for each item."""

    source_template = _ZSH

    def format_completion(self, item: CompletionItem) -> str:
        """The kind of an item and its value."""
        return f"{_kind(item)},{item.value}"


add_completion_class(FishComplete)

SHELLS: dict[str, type[Any]] = {"bash": Bash, "fish": FishComplete, "zsh": Zsh}


def _kind(item: CompletionItem) -> str:
    return "open" if item.is_open else item.type
