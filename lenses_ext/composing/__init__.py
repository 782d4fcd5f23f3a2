"""Agents and workflows from parts; tools shared by the agents of a document."""
