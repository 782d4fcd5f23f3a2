"""Trees beside each other: which element of one is which of another."""

from .matching import Matching as Matching, match as match, match_values as match_values
