"""A world around a world that keeps to the limits that all workers share."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Final

from attrs import frozen

from lenses_ext import Model

from ..errors import ModelError
from ..execution import Report, World
from ..machine import CallModel, Effect, Event
from ..models import awith_retries, sent_once
from .kept_limits import limit_name
from .later import LaterError
from .shared_limits import TENANT, Permission, SharedLimits

_PATIENCE: Final = 5.0
"""The seconds that a run waits in its worker; for longer it makes room for others."""

_ATTEMPTS: Final = 3
_TOO_MANY_REQUESTS: Final = 429


@frozen
class LimitedWorld:
    """A world that asks before each request to a model whether it may be sent.

    A request is sent again where that can help, as without this world, and counts each time.

    Attributes:
        world: what performs the effects.
        limits: the limits.
        tenant: for whom the run is, or None.
    """

    world: World
    limits: SharedLimits
    tenant: str | None

    async def perform(self, effect: Effect, report: Report | None) -> Event:
        """Perform an effect.

        Raises:
            LaterError: it has to wait for longer than a run stays in its worker.
        """
        if not isinstance(effect, CallModel):
            return await self.world.perform(effect, report)
        return await awith_retries(lambda: self._asked(effect, report), _ATTEMPTS)

    async def _asked(self, effect: CallModel, report: Report | None) -> Event:
        model = effect.request.model
        permission = await self._permission(model)
        try:
            with sent_once():
                return await self.world.perform(effect, report)
        except ModelError as error:
            if error.status == _TOO_MANY_REQUESTS and error.retriable and error.retry_after:
                await self.limits.hold_back(limit_name(model.provider), error.retry_after)
                if error.retry_after > _PATIENCE:
                    raise LaterError(str(error), error.retry_after) from error
            raise
        finally:
            await self.limits.ended(permission)

    async def _permission(self, model: Model) -> Permission:
        names = [limit_name(model.provider), limit_name(str(model))]
        if self.tenant is not None:
            names.append(TENANT + self.tenant)
        until = monotonic() + _PATIENCE
        while (permission := await self.limits.ask(names)).wait > 0:
            if monotonic() + permission.wait > until:
                reason = f"the limits of {' or '.join(names)} are reached"
                raise LaterError(reason, permission.wait)
            await asyncio.sleep(permission.wait)
        return permission
