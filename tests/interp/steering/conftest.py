"""Stores for tests, see `tests.interp.history.stores.conftest`."""

from tests.interp.history.stores.conftest import address as address, store as store
