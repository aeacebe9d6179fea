# SPDX-License-Identifier: Apache-2.0
"""The same functions for asyncio. The event loop watches the context's descriptor; no thread is started."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from ._context import Asking, Context, Event, Policy, Text


async def events(context: Context) -> AsyncIterator[Event]:
    """Yields the events of the current request, ending with `DONE`.

    If the task is cancelled, the request is cancelled as well.
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
    """Waits until the request ends, and raises its error if it failed."""
    async for _ in events(context):
        pass
    context.check()


async def can_evaluate(application: str, policy: Policy = Policy.BIOMETRICS, path: str | None = None) -> None:
    """Returns if an evaluation could succeed now; otherwise raises the reason why not."""
    with Context(application, path) as context:
        context.can_evaluate(policy)
        await finish(context)


async def evaluate(application: str, reason: str, path: str | None = None, **options: object) -> str:
    """Prompts the owner, and returns "biometry" or "passcode"; raises an error if authentication failed."""
    with Context(application, path) as context:
        context.evaluate(Asking(reason, **options))  # type: ignore[arg-type]
        await finish(context)
        return context.text(Text.METHOD)


async def domain_state(application: str, path: str | None = None) -> bytes:
    """Returns a digest of the enrolled fingers: 32 bytes, which differ after each change."""
    with Context(application, path) as context:
        context.domain_state()
        await finish(context)
        return context.take_domain_state()
