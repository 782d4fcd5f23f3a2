"""How this process is told to end."""


class Terminated(SystemExit):  # it is no error
    """A signal asks this process to end; other kinds of ``SystemExit`` are of the code of users."""
