# SPDX-License-Identifier: Apache-2.0
"""The functions of libwhorl.so.1, as declared in whorl.h."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_int, c_int64, c_size_t, c_uint, c_uint64, c_void_p


class AskingStructure(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("policy", c_int),
        ("flags", c_uint),
        ("reason", c_char_p),
        ("cancel_title", c_char_p),
        ("fallback_title", c_char_p),
        ("timeout", c_int),
        ("reuse", c_int),
    ]


_ASKING = POINTER(AskingStructure)
_CONTEXT = POINTER(c_uint64)
_COUNT = POINTER(c_size_t)

# The result and the parameters of each function. A context is a 64-bit number, and always the first parameter.
SIGNATURES: dict[str, tuple[object, list[object]]] = {
    "whorl_status_name": (c_char_p, [c_int]),
    "whorl_status_text": (c_char_p, [c_int]),
    "whorl_version": (c_char_p, []),
    "whorl_open": (c_int, [c_char_p, _CONTEXT]),
    "whorl_open_at": (c_int, [c_char_p, c_char_p, _CONTEXT]),
    "whorl_close": (c_int, [c_uint64]),
    "whorl_descriptor": (c_int, [c_uint64]),
    "whorl_events": (c_int, [c_uint64]),
    "whorl_dispatch": (c_int, [c_uint64]),
    "whorl_wait": (c_int, [c_uint64, c_int]),
    "whorl_result": (c_int, [c_uint64]),
    "whorl_cancel": (c_int, [c_uint64]),
    "whorl_text": (c_char_p, [c_uint64, c_int]),
    "whorl_number": (c_int64, [c_uint64, c_int]),
    "whorl_bytes": (c_int, [c_uint64, c_int, c_void_p, c_size_t, _COUNT]),
    "whorl_take_secret": (c_int, [c_uint64, c_void_p, c_size_t, _COUNT]),
    "whorl_rows": (c_int, [c_uint64]),
    "whorl_row_text": (c_char_p, [c_uint64, c_int, c_int]),
    "whorl_row_number": (c_int64, [c_uint64, c_int, c_int]),
    "whorl_can_evaluate": (c_int, [c_uint64, c_int]),
    "whorl_evaluate": (c_int, [c_uint64, _ASKING]),
    "whorl_domain_state": (c_int, [c_uint64]),
    "whorl_fingers": (c_int, [c_uint64]),
    "whorl_enroll": (c_int, [c_uint64, c_char_p, c_char_p, _ASKING]),
    "whorl_remove_finger": (c_int, [c_uint64, c_char_p, _ASKING]),
    "whorl_items": (c_int, [c_uint64]),
    "whorl_store_secret": (c_int, [c_uint64, c_char_p, c_char_p, c_void_p, c_size_t]),
    "whorl_read_secret": (c_int, [c_uint64, c_char_p, _ASKING]),
    "whorl_make_key": (c_int, [c_uint64, c_char_p, c_char_p]),
    "whorl_public_key": (c_int, [c_uint64, c_char_p]),
    "whorl_sign": (c_int, [c_uint64, c_char_p, c_void_p, c_size_t, _ASKING]),
    "whorl_delete_secret": (c_int, [c_uint64, c_char_p, _ASKING]),
    "whorl_delete_key": (c_int, [c_uint64, c_char_p, _ASKING]),
    "whorl_register_agent": (c_int, [c_uint64, c_uint]),
    "whorl_prompt_passcode": (c_int, [c_uint64, c_char_p, c_void_p, c_size_t]),
    "whorl_prompt_typing": (c_int, [c_uint64, c_char_p]),
    "whorl_prompt_close": (c_int, [c_uint64, c_char_p]),
    "whorl_prompt_end": (c_int, [c_uint64, c_char_p, c_int]),
}


def load(name: str = "libwhorl.so.1") -> ctypes.CDLL:
    """Loads the library and declares its functions."""
    library = ctypes.CDLL(name)
    for function, (result, parameters) in SIGNATURES.items():
        declared = getattr(library, function)
        declared.restype, declared.argtypes = result, parameters
    return library
