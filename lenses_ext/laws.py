"""The laws of optics as checks, for those of this package and for your own.

Each check draws wholes and parts from Hypothesis strategies, and raises `LawError` with the
smallest counterexample that Hypothesis finds. Hypothesis is needed only here: install the extra
``laws``. ``docs/reference/lens-laws.md`` shows how they are used.

A whole that an optic cannot look at (it raises one of `REFUSALS`) is not a counterexample, as long
as setting refuses it too: a part that cannot be seen is never overwritten.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from gram.errors import expect

from .errors import LawError as LawError, shown
from .optics import Getter, Lens, Prism, Traversal, collect, optic_name, over, put, view

if TYPE_CHECKING:
    from hypothesis.strategies import DataObject, SearchStrategy

S = TypeVar("S")
A = TypeVar("A")

REFUSALS = (LookupError, AttributeError)
"""What an optic raises where it cannot look: `FocusError` is a LookupError."""


def check_lens(
    lens: Lens[S, A], states: SearchStrategy[S], values: SearchStrategy[A], *, put_put: bool = True
) -> None:
    """Check the laws of a lens.

    get-put: putting back what is there changes nothing. put-get: what was put is what is seen.
    put-put: only the last put counts. put-refuses: where nothing can be seen, nothing can be put.

    Args:
        lens: a lens of this package, or of `lenses` alone.
        states: wholes, some of which the lens cannot look at.
        values: parts that may be put into every whole the lens can look at.
        put_put: False for a lens that says in its documentation where put-put does not hold.

    Raises:
        LawError: it breaks a law.
    """

    def laws(state: S, first: A, second: A) -> None:
        found = _attempt(lambda: view(lens, state))
        if isinstance(found, REFUSALS):
            _refuses(lens, state, found, lambda: put(lens, first, state))
            return
        _same("get-put", lens, state, state, lambda: put(lens, found, state))
        once = _accepted("put-get", lens, state, lambda: put(lens, first, state))
        _same("put-get", lens, state, first, lambda: view(lens, once))
        if put_put:
            twice = _accepted("put-put", lens, state, lambda: put(lens, second, state))
            _same("put-put", lens, state, twice, lambda: put(lens, second, once))

    _for_all(laws, states, values, values)


def check_getter(getter: Getter[S, A], states: SearchStrategy[S]) -> None:
    """Check the laws of a getter.

    get-get: looking twice shows the same. read-only: setting raises a TypeError.

    Args:
        getter: a getter of this package, or of `lenses` alone.
        states: wholes, some of which the getter cannot look at.

    Raises:
        LawError: it breaks a law.
    """
    setter: Any = getter  # for mypy a getter has no `set`, which is what is checked here

    def laws(state: S) -> None:
        found = _attempt(lambda: view(getter, state))
        if isinstance(found, REFUSALS):
            _refuses(getter, state, found, lambda: view(getter, state))
        else:
            _same("get-get", getter, state, found, lambda: view(getter, state))
        try:
            new = setter.set(found)(state)
        except TypeError:
            return
        raise LawError("read-only", optic_name(getter), state, f"it was set, giving {shown(new)}")

    _for_all(laws, states)


def check_traversal(
    traversal: Traversal[S, A], states: SearchStrategy[S], values: SearchStrategy[A]
) -> None:
    """Check the laws of a traversal, a lens onto several parts whose number never changes.

    get-put: putting back each part, or changing none, changes nothing. put-get: what was put is
    what is seen, part for part. put-put: only the last put counts. put: one value put is
    that value put for each part. put-refuses: where nothing can be seen, nothing can be put.

    Args:
        traversal: a traversal or prism of this package, or of `lenses` alone.
        states: wholes, some of which the traversal cannot look at.
        values: parts that may be put into every whole the traversal can look at.

    Raises:
        LawError: it breaks a law.
    """
    from hypothesis import strategies as st

    def laws(state: S, value: A, data: DataObject) -> None:
        found = _attempt(lambda: collect(traversal, state))
        if isinstance(found, REFUSALS):
            _refuses(traversal, state, found, lambda: put(traversal, value, state))
            return

        def put_many(parts: tuple[A, ...], whole: S) -> S:
            return traversal.set_many(parts)(whole)

        _same("get-put", traversal, state, state, lambda: over(traversal, lambda part: part, state))
        _same("get-put", traversal, state, state, lambda: put_many(found, state))
        some = st.lists(values, min_size=len(found), max_size=len(found)).map(tuple)
        first, second = data.draw(some), data.draw(some)
        once = _accepted("put-get", traversal, state, lambda: put_many(first, state))
        _same("put-get", traversal, state, first, lambda: collect(traversal, once))
        twice = _accepted("put-put", traversal, state, lambda: put_many(second, state))
        _same("put-put", traversal, state, twice, lambda: put_many(second, once))
        all_alike = put_many((value,) * len(found), state)
        _same("put", traversal, state, all_alike, lambda: put(traversal, value, state))

    _for_all(laws, states, values, st.data())


def check_prism(prism: Prism[S, A], states: SearchStrategy[S], values: SearchStrategy[A]) -> None:
    """Check the laws of a prism, a traversal of at most one part (at-most-one).

    construct-get: what was made from a part shows that part. get-construct: what is made from the
    part of a whole is that whole.

    Args:
        prism: a prism of this package, or of `lenses` alone.
        states: wholes, with and without the part.
        values: parts.

    Raises:
        LawError: it breaks a law.
    """

    def laws(state: S, value: A) -> None:
        made = _accepted("construct-get", prism, state, lambda: prism.construct(value))
        _same("construct-get", prism, made, (value,), lambda: collect(prism, made))
        found = collect(prism, state)
        if len(found) > 1:
            raise LawError("at-most-one", optic_name(prism), state, f"it sees {shown(found)}")
        if found:
            _same("get-construct", prism, state, state, lambda: prism.construct(found[0]))

    _for_all(laws, states, values)
    check_traversal(prism, states, values)


def _attempt(look: Callable[[], A]) -> A | LookupError | AttributeError:
    """What can be seen, or the error that says why nothing can be."""
    try:
        return look()
    except REFUSALS as error:
        return error


def _refuses(optic: object, state: object, found: Exception, act: Callable[[], object]) -> None:
    """Where looking fails, this fails alike."""
    new = _attempt(act)
    if not isinstance(new, REFUSALS):
        reason = f"nothing can be seen ({found}), and yet setting gives {shown(new)}"
        raise LawError("put-refuses", optic_name(optic), state, reason)
    if type(new) is not type(found):
        reason = f"looking raises {found!r}, setting raises {new!r}"
        raise LawError("put-refuses", optic_name(optic), state, reason)


def _accepted(law: str, optic: object, state: object, act: Callable[[], A]) -> A:
    done = _attempt(act)
    if isinstance(done, REFUSALS):
        raise LawError(law, optic_name(optic), state, f"it refuses: {done}") from done
    return done


def _same(
    law: str, optic: object, state: object, expected: object, act: Callable[[], object]
) -> None:
    found = _accepted(law, optic, state, act)
    if found != expected:
        reason = f"expected {shown(expected)}, found {shown(found)}"
        raise LawError(law, optic_name(optic), state, reason)


def _for_all(laws: Callable[..., None], *strategies: SearchStrategy[Any]) -> None:
    """Hold the laws against many examples; the settings are those of the profile in use."""
    from hypothesis import given, settings
    from hypothesis.strategies import SearchStrategy

    for each in strategies:
        expect(each, SearchStrategy, "strategy", by=laws.__qualname__.partition(".")[0])

    # Several counterexamples would come as a group, which is not a LawError. Hypothesis keeps past
    # examples by function, and this function is used for every optic.
    run = settings(report_multiple_bugs=False, database=None)(given(*strategies)(laws))
    run()
