"""Runs as gram, kept in files and stores; recorded runs replayed, and as timelines."""
