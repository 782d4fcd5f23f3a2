"""What notebooks print of our errors."""

from __future__ import annotations

from gram import GramError, loads, loads_one


def test_it_has_the_lines_of_the_caller_and_the_message() -> None:
    try:
        loads("(a")
    except GramError as error:
        shown = error._render_traceback_()

    assert shown[-1] == "hint: close it with )" or "GramDecodeError" in "\n".join(shown)
    assert sum(line.startswith("  File ") for line in shown) == 1
    assert 'loads("(a")' in "\n".join(shown)


def test_a_cause_of_the_caller_is_shown_and_one_of_a_library_is_not() -> None:
    def fails() -> None:
        raise ValueError("theirs")

    shown = []
    for act in (fails, lambda: loads_one("(a")):
        try:
            try:
                act()
            except Exception as cause:
                if act is not fails:
                    cause = cause.with_traceback(None)
                raise GramError("ours") from cause
        except GramError as error:
            shown.append("\n".join(error._render_traceback_()))

    assert "ValueError: theirs" in shown[0]
    assert "GramDecodeError" not in shown[1]
    assert all(each.endswith("GramError: ours") for each in shown)
