"""Models: what they are, how they are asked and how their replies are read."""

from .calls_in_text import call_in_text
from .connect import connect_model
from .connections import client_of, close_connections
from .cookies import no_cookies
from .language_model import AnyModel, LanguageModel
from .offered_checks import OfferedCheck
from .offered_models import offered_models
from .pace import Pace
from .prices import context_window, cost_at, price_of_reply
from .program_checks import check_program
from .reasoning import Reasoning
from .reply_reading import read_reply
from .request_json import request_body
from .retries import awith_retries, noticing_retries, sent_once
from .scripted import ScriptedModel
from .several_models import one_of

__all__ = [
    "AnyModel",
    "LanguageModel",
    "OfferedCheck",
    "Pace",
    "Reasoning",
    "ScriptedModel",
    "awith_retries",
    "call_in_text",
    "check_program",
    "client_of",
    "close_connections",
    "connect_model",
    "context_window",
    "cost_at",
    "no_cookies",
    "noticing_retries",
    "offered_models",
    "one_of",
    "price_of_reply",
    "read_reply",
    "request_body",
    "sent_once",
]
