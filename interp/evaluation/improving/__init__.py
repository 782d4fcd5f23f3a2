"""Programs made better, with evidence: a search for changes, and one planned test of the best."""

from .carrying_out import TRIES, improve
from .changes import FailingRun, Proposer, Question
from .deciding import Improvement
from .one_search import OtherSearchError
from .searching import Search, search_by_front, search_with_gepa
