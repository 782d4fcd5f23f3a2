"""Stores for tests, see `tests.interp.stores.conftest`."""

from tests.interp.stores.conftest import address as address, store as store
