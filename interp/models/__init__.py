"""Models: what they are, how they are asked and how their replies are read."""

from .calls_in_text import call_in_text
from .connect import connect_model
from .language_model import AnyModel, LanguageModel
from .reply_reading import read_reply
from .request_json import request_body
from .retries import awith_retries, noticing_retries, sent_once
from .scripted import ScriptedModel
from .several_models import one_of

__all__ = [
    "AnyModel",
    "LanguageModel",
    "ScriptedModel",
    "awith_retries",
    "call_in_text",
    "connect_model",
    "noticing_retries",
    "one_of",
    "read_reply",
    "request_body",
    "sent_once",
]
