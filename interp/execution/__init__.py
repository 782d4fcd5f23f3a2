"""Running a program: the loop that drives a run, and the handler that performs its effects."""

from .budget import Budget as Budget, CostOf as CostOf
from .driver import Driver as Driver
from .fallbacks import (
    first_that_replies as first_that_replies,
    may_be_passed as may_be_passed,
)
from .handlers import (
    Answer as Answer,
    Approver as Approver,
    Handler as Handler,
    LiveHandler as LiveHandler,
    ModelChoice as ModelChoice,
    OnToolError as OnToolError,
    Report as Report,
    named_model as named_model,
)
from .logs import log_fields as log_fields
from .notebook import conversation_form as conversation_form
from .observations import (
    AgentFinished as AgentFinished,
    AgentStarted as AgentStarted,
    Finished as Finished,
    Observation as Observation,
    ReasoningDelta as ReasoningDelta,
    SaidBeforeCalls as SaidBeforeCalls,
    TextDelta as TextDelta,
    ToolFinished as ToolFinished,
    ToolProgress as ToolProgress,
    ToolStarted as ToolStarted,
    finished as finished,
    observations as observations,
    under_way as under_way,
)
from .run_log import Folded as Folded, RunLog as RunLog
from .run_notes import (
    CANCELLED as CANCELLED,
    Begun as Begun,
    Failed as Failed,
    Note as Note,
    Retried as Retried,
    Stopped as Stopped,
    now as now,
)
from .scheduling import startable as startable
from .spending import Spending as Spending
from .telemetry import Telemetry as Telemetry
from .watchers import Observer as Observer, Watcher as Watcher
