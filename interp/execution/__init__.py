"""Running a program: the loop that drives a run, and the handler that performs its effects."""

from .budget import Budget, CostOf
from .driver import Driver
from .fallbacks import first_that_replies, may_be_passed
from .handlers import (
    Answer,
    Approver,
    Handler as Handler,
    LiveHandler as LiveHandler,
    ModelChoice,
    OnToolError,
    Report,
    named_model,
)
from .logs import log_fields
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
    finished,
    observations,
    under_way,
)
from .run_log import Folded, RunLog
from .run_notes import CANCELLED, Begun, Failed, Note, Retried, Stopped, now
from .scheduling import startable
from .spending import Spending
from .telemetry import Telemetry as Telemetry, current_trace
from .watchers import Observer, Watcher
