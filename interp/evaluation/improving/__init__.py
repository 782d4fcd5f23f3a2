"""Programs made better, with evidence: a search for changes, and one planned test of the best."""

from .carrying_out import TRIES, improve
from .gepa_search import search_with_gepa
from .improvement import Improvement
from .journal import OtherSearchError
from .proposing import FailingRun, Proposer, Question
from .searching import Search, search_by_front
