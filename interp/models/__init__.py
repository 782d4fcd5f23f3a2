"""Models: what they are, how they are asked and how their replies are read."""

from .chat import request_body as request_body
from .connect import connect_model as connect_model, offered_models
from .connections import client_of, close_connections, limit_body, no_cookies
from .failures import awith_retries, noticing_retries, sent_once
from .language_model import AnyModel, LanguageModel as LanguageModel
from .prices import (
    context_window,
    cost_at,
    price_of as price_of,
    price_of_reply,
    require_prices,
    unknown_price,
)
from .program_checks import (
    RETIRED as RETIRED,
    check_program,
    lint_program,
    offered_check,
    problems_of_levels,
)
from .providers import (
    ADDRESS_RULE,
    CHAT_FIELDS,
    OFFLINE,
    PROVIDERS as PROVIDERS,
    Dialect,
    Provider as Provider,
    added,
    find_provider,
    is_known,
    known_providers,
    provider_of,
    unknown_provider,
)
from .reply_reading import (
    SAYS_NOTHING,
    Reply,
    call_in_text,
    detect_tool_call as detect_tool_call,
    read_reply,
    without_thinking,
)
from .wire import Reasoning, file_of_part
from .without_network import Filling, ScriptedModel as ScriptedModel, read_script
