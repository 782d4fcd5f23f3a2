"""The agent language as typed views over gram patterns."""
