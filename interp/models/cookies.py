"""No cookies."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from http.cookiejar import CookieJar


def no_cookies() -> CookieJar:
    """A jar that takes no cookies, and reads none: one request says nothing to the next."""
    from http.cookiejar import CookieJar  # only needed when a request is about to leave

    class Closed(CookieJar):
        def extract_cookies(self, response: object, request: object) -> None:
            """Take nothing."""

    return Closed()
