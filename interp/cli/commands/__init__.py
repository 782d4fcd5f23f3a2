"""The commands of ``gram``; ``table.py`` says where each of them is."""
