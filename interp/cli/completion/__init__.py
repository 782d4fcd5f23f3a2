"""Completes what is typed in a shell."""
