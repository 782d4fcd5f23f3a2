"""Programs made better, with evidence: a search for changes, and one planned test of the best."""

from .changes import FailingRun, Proposer, Question
from .one_search import improve
from .searching import Improvement, Search, search_by_front, search_with_gepa
