# SPDX-License-Identifier: Apache-2.0
"""Fingerprints that unlock secrets and keys, by libwhorl.

    import whorl

    whorl.evaluate("org.example.till", "open the till")                  # waits; raises whorl.Error
    await whorl.aio.evaluate("org.example.till", "open the till")        # with asyncio

A program with a screen of its own, or with a loop of its own, takes a `Context` and its events.
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
