"""Running a program: the loop that drives a run, and the handler that performs its effects."""

from ..machine import AgentFinished as AgentFinished, AgentStarted as AgentStarted
from .driver import Driver, startable
from .handlers import (
    Answer,
    Approver,
    Handler as Handler,
    LiveHandler as LiveHandler,
    ModelChoice,
    OnToolError,
    Report,
    first_that_replies,
    may_be_passed,
    named_model,
)
from .logs import log_fields
from .observations import (
    Finished as Finished,
    Observation as Observation,
    Observer,
    ReasoningDelta as ReasoningDelta,
    SaidBeforeCalls as SaidBeforeCalls,
    TextDelta as TextDelta,
    ToolProgress as ToolProgress,
    ToolStarted as ToolStarted,
    Watcher,
    finished,
    seen_in,
)
from .recorder import CANCELLED, WAITS, Begun, Failed, Folded, Note, Retried, RunLog, Stopped, now
from .spending import Budget, CostOf, Spending
from .telemetry import Telemetry as Telemetry, current_trace
