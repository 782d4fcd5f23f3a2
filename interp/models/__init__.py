"""Models: what they are, how they are asked and how their replies are read."""

from .attached_parts import file_of_part
from .calls_in_text import call_in_text
from .chat import request_body as request_body
from .connect import connect_model as connect_model
from .connections import client_of, close_connections, no_cookies
from .language_model import AnyModel, LanguageModel as LanguageModel, SeveralModels
from .offered_models import offered_models
from .pace import Pace
from .prices import (
    context_window,
    cost_at,
    price_of as price_of,
    price_of_reply,
    require_prices,
)
from .program_checks import (
    RETIRED as RETIRED,
    OfferedCheck,
    check_program,
    lint_program,
    problems_of_levels,
)
from .providers import (
    ADDRESS_RULE,
    OFFLINE,
    PROVIDERS as PROVIDERS,
    Dialect,
    Provider as Provider,
    added,
    find_provider,
    in_variable_name,
    is_address,
    is_known,
    known_providers,
    provider_of,
    unknown_provider,
)
from .rehearsal_values import Filling
from .reply_reading import SAYS_NOTHING, Reply, detect_tool_call as detect_tool_call, read_reply
from .retries import awith_retries, noticing_retries, sent_once
from .scripted import ScriptedModel as ScriptedModel, read_script
from .setting_fields import CHAT_FIELDS
from .wire import Reasoning
