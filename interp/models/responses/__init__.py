"""The Responses API of OpenAI, as one more dialect.

The conversation is ours: ``store`` is false, and every request has all of it. What has to go back
to the server, such as encrypted reasoning, is kept with the message that it came with. The source
of the rules is OpenAI's API reference for ``POST /v1/responses``.
"""

from .request import Responses

__all__ = ["Responses"]
