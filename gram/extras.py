"""Extras of the package: what to type where one is not installed."""

from __future__ import annotations

import json


def install(extra: str) -> str:
    """The command that installs an extra, right for how the package was installed itself.

    >>> install("prices").startswith("pip install ")
    True
    """
    from importlib.metadata import PackageNotFoundError, distribution  # late: seldom needed
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        found = json.loads(distribution("gram-agents").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:  # it is run from its folder
        found = {"dir_info": {"editable": True}}
    if not found:
        return f"pip install 'gram-agents[{extra}]'"
    url = found.get("url", "")
    if "dir_info" not in found:  # a repository or an archive
        kind = found.get("vcs_info", {}).get("vcs")
        return f"pip install 'gram-agents[{extra}] @ {f'{kind}+' if kind else ''}{url}'"
    clone = url2pathname(urlsplit(url).path) or "."  # it may be another folder
    editable = "-e " if found["dir_info"].get("editable", False) else ""
    return f"pip install {editable}'{clone}[{extra}]'"
