# SPDX-License-Identifier: Apache-2.0
"""Contexts, which have one request at a time, and their events."""

from __future__ import annotations

import ctypes
import dataclasses
import enum
from collections.abc import Iterator
from types import TracebackType

from ._library import AskingStructure, load

_library: ctypes.CDLL | None = None


def library() -> ctypes.CDLL:
    """Returns the library, which is loaded on first use."""
    global _library
    if _library is None:
        _library = load()
    return _library


class Policy(enum.IntEnum):
    """The proof required from the owner."""

    BIOMETRICS = 1
    DEVICE_OWNER = 2


class Event(enum.IntEnum):
    """The events of a request."""

    NONE = 0
    DONE = 1
    PROMPT = 2
    UPDATE = 3
    PROMPT_END = 4
    ELSEWHERE = 5
    PROGRESS = 6
    PASSCODE_NOT_TAKEN = 7
    REGISTERED = 8


class Update(enum.IntEnum):
    """The changes to a prompt or an enrollment."""

    OTHER = 0
    TOUCH = 1
    FINGER = 2
    RETRY = 3
    STAGE = 4
    NO_MATCH = 5
    FINGER_ENDED = 6
    CHECKING = 7
    WRONG_PASSCODE = 8
    THROTTLED = 9
    PASSCODE_ENDED = 10
    MATCHED = 11
    VERIFIED = 12
    ENDED = 13
    BEGAN = 14
    CONFIRMING = 15
    ANOTHER_FINGER = 16


class Text(enum.IntEnum):
    """The strings of an event or a result."""

    CODE = 1
    MESSAGE = 2
    RECOVERY = 3
    CAUSE = 4
    METHOD = 5
    FINGER = 6
    READER_KIND = 7
    PROMPT = 8
    TITLE = 9
    REASON = 10
    CANCEL_TITLE = 11
    FALLBACK_TITLE = 12
    SCAN_TYPE = 13
    ASKER = 14
    ASKER_PROCESS = 15
    RETRY = 16
    STRENGTH = 17
    PURPOSE = 18
    PURPOSE_NAME = 19


class Number(enum.IntEnum):
    """The numbers of an event or a result."""

    UPDATE = 1
    PARTS = 2
    COMPLETED = 3
    TOTAL = 4
    TRIES_LEFT = 5
    MILLISECONDS = 6
    IS_PRESENT = 7
    IS_REUSED = 8
    HAS_READER = 9
    IS_PASSCODE_SET = 10
    GENERATION = 11
    ASKER_PROCESS = 12
    UNUSED_SECONDS = 13
    WHOLE_SECONDS = 14


class Action(enum.IntEnum):
    """The buttons of a prompt."""

    CANCEL = 1
    FALLBACK = 2


class Status(enum.IntEnum):
    """The most common statuses; `Error.status` can also be one of the others in whorl.h."""

    OK = 0
    INVALID_ARGUMENT = -1
    INVALID_CONTEXT = -2
    FORKED = -3
    BUSY = -4
    NO_REQUEST = -5
    NO_SERVICE = -8
    NO_ANSWER = -9
    TOO_SMALL = -13
    TIMED_OUT = -14
    NOTHING = -15
    AUTHENTICATION_FAILED = -101
    USER_CANCEL = -102
    USER_FALLBACK = -103
    SYSTEM_CANCEL = -104
    PASSCODE_NOT_SET = -105
    BIOMETRY_NOT_AVAILABLE = -106
    BIOMETRY_NOT_ENROLLED = -108
    BIOMETRY_LOCKOUT = -109
    APP_CANCEL = -110
    NOT_INTERACTIVE = -112
    NO_SUCH_ITEM = -211
    ITEM_EXISTS = -212


class Error(Exception):
    """The error of a failed request or call."""

    def __init__(self, status: int, code: str = "", message: str = "", recovery: str = "") -> None:
        self.status = status
        self.code = code or library().whorl_status_name(status).decode()
        self.message = message or library().whorl_status_text(status).decode()
        self.recovery = recovery
        super().__init__(" ".join(filter(None, [self.message, self.recovery])))


def checked(result: int) -> int:
    """Returns a result, or raises an error if it is negative."""
    if result < 0:
        raise Error(result)
    return result


@dataclasses.dataclass
class Asking:
    """The options for prompting the owner; times are in milliseconds."""

    reason: str | None = None
    policy: Policy = Policy.BIOMETRICS
    shows_prompts: bool = False
    takes_passcode: bool = False
    interaction: bool = True
    passcode_alone: bool = False
    cancel_title: str | None = None
    fallback_title: str | None = None
    timeout: int = 60_000
    reuse: int = 0

    def structure(self) -> AskingStructure:
        """Returns the options as the C structure."""

        def text(value: str | None) -> bytes | None:
            return None if value is None else value.encode()

        flags = self.shows_prompts | self.takes_passcode << 1 | (not self.interaction) << 2 | self.passcode_alone << 3
        return AskingStructure(
            ctypes.sizeof(AskingStructure),
            self.policy,
            flags,
            text(self.reason),
            text(self.cancel_title),
            text(self.fallback_title),
            self.timeout,
            self.reuse,
        )


@dataclasses.dataclass(frozen=True)
class Finger:
    """An enrolled finger; times are in seconds since 1970-01-01 UTC."""

    id: str
    name: str
    label: str
    reader: str
    enrolled_at: int
    last_matched_at: int | None


@dataclasses.dataclass(frozen=True)
class Item:
    """A secret or a key."""

    name: str
    kind: str
    access: str
    standing: str
    created_at: int


class Context:
    """A context of libwhorl, which has one request at a time, and can be used by one thread at a time.

    A method that begins a request returns immediately. Then either call `wait`, or watch `fileno` for reading and
    iterate over `events`.
    """

    def __init__(self, application: str, path: str | None = None) -> None:
        number = ctypes.c_uint64()
        if path is None:
            checked(library().whorl_open(application.encode(), ctypes.byref(number)))
        else:
            checked(library().whorl_open_at(path.encode(), application.encode(), ctypes.byref(number)))
        self.number = number.value

    def close(self) -> None:
        """Closes the context; a request in progress is cancelled."""
        checked(library().whorl_close(self.number))

    def __enter__(self) -> Context:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- Events and results

    def fileno(self) -> int:
        """Returns the descriptor, which is readable while events are available."""
        return checked(library().whorl_descriptor(self.number))

    def dispatch(self) -> Event:
        """Returns the next event."""
        return Event(checked(library().whorl_dispatch(self.number)))

    def events(self) -> Iterator[Event]:
        """Yields the available events, up to the end of the request."""
        while event := self.dispatch():
            yield event
            if event == Event.DONE:
                return

    def wait(self, milliseconds: int = -1) -> None:
        """Waits until the request ends, and raises its error if it failed."""
        if library().whorl_wait(self.number, milliseconds) == Status.TIMED_OUT:
            raise Error(Status.TIMED_OUT)
        self.check()

    def check(self) -> None:
        """Raises the error of the last request if it failed."""
        result = library().whorl_result(self.number)
        if result < 0:
            raise Error(result, self.text(Text.CODE), self.text(Text.MESSAGE), self.text(Text.RECOVERY))

    def cancel(self) -> None:
        """Cancels the request, which then ends with the status `APP_CANCEL`."""
        checked(library().whorl_cancel(self.number))

    def text(self, which: Text) -> str:
        """Returns a string of the last event or result; "" if it is not available."""
        return library().whorl_text(self.number, which).decode(errors="replace")

    def value(self, which: Number) -> int | None:
        """Returns a number of the last event or result; `None` if there is none."""
        number = library().whorl_number(self.number, which)
        return None if number < 0 else number

    def _bytes(self, which: int) -> bytes:
        room = ctypes.create_string_buffer(128)
        count = ctypes.c_size_t()
        checked(library().whorl_bytes(self.number, which, room, len(room), ctypes.byref(count)))
        return room.raw[: count.value]

    def take_domain_state(self) -> bytes:
        """Returns the digest of the enrolled fingers, 32 bytes."""
        return self._bytes(1)

    def take_public_key(self) -> bytes:
        """Returns the public half of a key, an uncompressed P-256 point of 65 bytes."""
        return self._bytes(2)

    def take_signature(self) -> bytes:
        """Returns the signature: r and s, 64 bytes."""
        return self._bytes(3)

    def take_secret(self) -> bytearray:
        """Returns the secret that was read; the caller should wipe it after use."""
        count = ctypes.c_size_t()
        result = library().whorl_take_secret(self.number, None, 0, ctypes.byref(count))
        if result != Status.TOO_SMALL:
            checked(result)
        secret = bytearray(count.value)
        room = (ctypes.c_char * len(secret)).from_buffer(secret)
        checked(library().whorl_take_secret(self.number, room, len(secret), ctypes.byref(count)))
        return secret

    def _row(self, row: int, which: int) -> str:
        return library().whorl_row_text(self.number, row, which).decode(errors="replace")

    def take_fingers(self) -> list[Finger]:
        """Returns the fingers that were listed."""
        number = library().whorl_row_number
        fingers = []
        for row in range(checked(library().whorl_rows(self.number))):
            matched = number(self.number, row, 9)
            fingers.append(
                Finger(
                    self._row(row, 6),
                    self._row(row, 1),
                    self._row(row, 7),
                    self._row(row, 8),
                    number(self.number, row, 5),
                    None if matched < 0 else matched,
                )
            )
        return fingers

    def take_items(self) -> list[Item]:
        """Returns the secrets and keys that were listed."""
        rows = range(checked(library().whorl_rows(self.number)))
        return [
            Item(
                *(self._row(row, which) for which in (1, 2, 3, 4)),
                library().whorl_row_number(self.number, row, 5),
            )
            for row in rows
        ]

    # --- Requests

    def can_evaluate(self, policy: Policy = Policy.BIOMETRICS) -> None:
        """Checks whether an evaluation could succeed now; if not, the request fails with the reason."""
        checked(library().whorl_can_evaluate(self.number, policy))

    def evaluate(self, asking: Asking) -> None:
        """Prompts the owner."""
        checked(library().whorl_evaluate(self.number, ctypes.byref(asking.structure())))

    def domain_state(self) -> None:
        """Reads the state of the enrolled fingers; `take_domain_state` then returns its digest."""
        checked(library().whorl_domain_state(self.number))

    def fingers(self) -> None:
        """Lists the enrolled fingers, which `take_fingers` then returns."""
        checked(library().whorl_fingers(self.number))

    def enroll(self, finger: str, asking: Asking, label: str | None = None) -> None:
        """Enrolls a finger, such as "right-index-finger"."""
        words = None if label is None else label.encode()
        checked(library().whorl_enroll(self.number, finger.encode(), words, ctypes.byref(asking.structure())))

    def remove_finger(self, id: str, asking: Asking) -> None:
        """Removes a finger."""
        checked(library().whorl_remove_finger(self.number, id.encode(), ctypes.byref(asking.structure())))

    def items(self) -> None:
        """Lists the secrets and keys, which `take_items` then returns."""
        checked(library().whorl_items(self.number))

    def store_secret(self, name: str, secret: bytes | bytearray, access: str = "biometry-any") -> None:
        """Stores a secret."""
        mutable = secret if isinstance(secret, bytearray) else bytearray(secret)
        room = (ctypes.c_char * len(mutable)).from_buffer(mutable)
        checked(library().whorl_store_secret(self.number, name.encode(), access.encode(), room, len(mutable)))

    def read_secret(self, name: str, asking: Asking) -> None:
        """Reads a secret, which `take_secret` then returns."""
        checked(library().whorl_read_secret(self.number, name.encode(), ctypes.byref(asking.structure())))

    def make_key(self, name: str, access: str = "biometry-any") -> None:
        """Creates a key; `take_public_key` then returns its public half."""
        checked(library().whorl_make_key(self.number, name.encode(), access.encode()))

    def public_key(self, name: str) -> None:
        """Reads the public half of a key, which `take_public_key` then returns."""
        checked(library().whorl_public_key(self.number, name.encode()))

    def sign(self, name: str, digest: bytes, asking: Asking) -> None:
        """Signs a SHA-256 digest; `take_signature` then returns the signature."""
        checked(
            library().whorl_sign(self.number, name.encode(), digest, len(digest), ctypes.byref(asking.structure()))
        )

    def delete_secret(self, name: str, asking: Asking) -> None:
        """Deletes a secret; if it requires its owner, the owner is prompted first."""
        checked(library().whorl_delete_secret(self.number, name.encode(), ctypes.byref(asking.structure())))

    def delete_key(self, name: str, asking: Asking) -> None:
        """Deletes a key; if it requires its owner, the owner is prompted first."""
        checked(library().whorl_delete_key(self.number, name.encode(), ctypes.byref(asking.structure())))

    def register_agent(self, takes_passcode: bool = False) -> None:
        """Shows the prompts of the session's other programs until it is cancelled."""
        checked(library().whorl_register_agent(self.number, 3 if takes_passcode else 1))

    # --- Showing prompts

    def prompt_passcode(self, passcode: bytes | bytearray, prompt: str | None = None) -> None:
        """Submits a passcode."""
        mutable = passcode if isinstance(passcode, bytearray) else bytearray(passcode)
        room = (ctypes.c_char * len(mutable)).from_buffer(mutable)
        checked(library().whorl_prompt_passcode(self.number, _id(prompt), room, len(mutable)))

    def prompt_typing(self, prompt: str | None = None) -> None:
        """Reports that the user is typing."""
        checked(library().whorl_prompt_typing(self.number, _id(prompt)))

    def prompt_close(self, prompt: str | None = None) -> None:
        """Reports that no passcode will be entered."""
        checked(library().whorl_prompt_close(self.number, _id(prompt)))

    def prompt_end(self, action: Action, prompt: str | None = None) -> None:
        """Reports that a button was pressed."""
        checked(library().whorl_prompt_end(self.number, _id(prompt), action))


def _id(prompt: str | None) -> bytes | None:
    return None if prompt is None else prompt.encode()


def version() -> str:
    """Returns the version of libwhorl."""
    return library().whorl_version().decode()


def can_evaluate(application: str, policy: Policy = Policy.BIOMETRICS, path: str | None = None) -> None:
    """Returns if an evaluation could succeed now; otherwise raises the reason why not."""
    with Context(application, path) as context:
        context.can_evaluate(policy)
        context.wait()


def evaluate(application: str, reason: str, path: str | None = None, **options: object) -> str:
    """Prompts the owner, and returns "biometry" or "passcode"; raises an error if authentication failed.

    The options are those of `Asking`. An agent of the session shows the prompt.
    """
    with Context(application, path) as context:
        context.evaluate(Asking(reason, **options))  # type: ignore[arg-type]
        context.wait()
        return context.text(Text.METHOD)


def domain_state(application: str, path: str | None = None) -> bytes:
    """Returns a digest of the enrolled fingers: 32 bytes, which differ after each change."""
    with Context(application, path) as context:
        context.domain_state()
        context.wait()
        return context.take_domain_state()
