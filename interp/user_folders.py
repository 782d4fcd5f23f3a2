"""Where a user's own files are: as the XDG base directory specification has it."""

from __future__ import annotations

import errno
import os
from pathlib import Path


def user_folder(variable: str, default: str) -> Path:
    """The folder of gram's files.

    Args:
        variable: the environment variable that names the folder around it.
        default: that folder where the variable is not set, from ``~`` on.

    Raises:
        FileNotFoundError: there is none; who runs in a container may have no home.
    """
    try:
        return Path(os.environ.get(variable) or Path(default).expanduser()) / "gram"
    except RuntimeError as error:
        raise FileNotFoundError(errno.ENOENT, str(error), default) from None
