# SPDX-License-Identifier: Apache-2.0
"""Fingerprints that unlock secrets and keys, through libwhorl.

    import whorl

    whorl.evaluate("org.example.till", "open the till")                  # waits; raises whorl.Error
    await whorl.aio.evaluate("org.example.till", "open the till")        # with asyncio

A program that shows the prompts itself, or that has another event loop, uses a `Context` and its events.
"""

from ._context import (
    Action,
    Asking,
    Context,
    Error,
    Event,
    Finger,
    Item,
    Number,
    Policy,
    Status,
    Text,
    Update,
    can_evaluate,
    domain_state,
    evaluate,
    version,
)
from . import aio

__all__ = [
    "Action",
    "Asking",
    "Context",
    "Error",
    "Event",
    "Finger",
    "Item",
    "Number",
    "Policy",
    "Status",
    "Text",
    "Update",
    "aio",
    "can_evaluate",
    "domain_state",
    "evaluate",
    "version",
]
