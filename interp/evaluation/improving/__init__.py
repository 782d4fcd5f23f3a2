"""Programs made better, with evidence: a search for changes, and one planned test of the best."""

from .carrying_out import TRIES, improve
from .deciding import Improvement
from .proposing import FailingRun, Proposer, Question
from .searching import Search, search_by_front, search_with_gepa
from .world import OtherSearchError
