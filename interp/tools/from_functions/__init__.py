"""Python functions as tools: their hints, defaults and docstrings become a schema."""
