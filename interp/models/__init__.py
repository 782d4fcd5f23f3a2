"""Models: what they are, how they are asked and how their replies are read."""

from .calls_in_text import call_in_text
from .chat import request_body as request_body
from .connect import connect_model as connect_model
from .connections import client_of, close_connections, no_cookies
from .language_model import AnyModel, LanguageModel as LanguageModel, SeveralModels
from .offered_checks import OfferedCheck
from .offered_models import offered_models
from .pace import Pace
from .prices import context_window, cost_at, price_of as price_of, price_of_reply
from .program_checks import check_program
from .providers.provider import Provider as Provider
from .providers.table import PROVIDERS as PROVIDERS
from .rehearsal_values import Filling
from .reply_reading import SAYS_NOTHING, Reply, detect_tool_call as detect_tool_call, read_reply
from .retries import awith_retries, noticing_retries, sent_once
from .scripted import ScriptedModel as ScriptedModel, read_script
from .wire import Reasoning
