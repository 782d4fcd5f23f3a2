"""The commands of ``gram``, one module each."""
