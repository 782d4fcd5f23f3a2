"""The language server: what the commands know of a file, told to an editor while one types."""
