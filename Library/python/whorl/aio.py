# SPDX-License-Identifier: Apache-2.0
"""The same with asyncio: the loop watches the context's descriptor, and no thread is started."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from ._context import Asking, Context, Event, Policy, Text


async def events(context: Context) -> AsyncIterator[Event]:
    """Gives the events of the request that was begun, the last one of which is `DONE`.

    Where the task is cancelled, the request is too.
    """
    loop = asyncio.get_running_loop()
    descriptor = context.fileno()
    readable = asyncio.Event()
    loop.add_reader(descriptor, readable.set)
    is_done = False
    try:
        while True:
            for event in context.events():
                is_done = event == Event.DONE
                yield event
                if is_done:
                    return
            readable.clear()
            await readable.wait()
    finally:
        loop.remove_reader(descriptor)
        if not is_done:
            context.cancel()


async def finish(context: Context) -> None:
    """Waits for the end of the request, and raises its error."""
    async for _ in events(context):
        pass
    context.check()


async def can_evaluate(application: str, policy: Policy = Policy.BIOMETRICS, path: str | None = None) -> None:
    """Raises the reason for which the owner cannot be asked; returns where an evaluation could succeed."""
    with Context(application, path) as context:
        context.can_evaluate(policy)
        await finish(context)


async def evaluate(application: str, reason: str, path: str | None = None, **options: object) -> str:
    """Asks the owner, and returns "biometry" or "passcode"; any other end is an error."""
    with Context(application, path) as context:
        context.evaluate(Asking(reason, **options))  # type: ignore[arg-type]
        await finish(context)
        return context.text(Text.METHOD)


async def domain_state(application: str, path: str | None = None) -> bytes:
    """Returns the state of the fingers, 32 bytes that differ after each change."""
    with Context(application, path) as context:
        context.domain_state()
        await finish(context)
        return context.take_domain_state()
