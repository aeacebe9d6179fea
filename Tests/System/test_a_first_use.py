# SPDX-License-Identifier: Apache-2.0
"""A user's first hour with the installed service."""

import time

import pexpect

from people import act, command, forgive, lay, sit, start, touching, whorl
from run import allow
from whorl_client import CONSENT, PRESENTER, Refused, call


def first_finger():
    """Requests the enrollment of a finger, and returns the error and the preceding updates."""
    updates = []
    try:
        call(
            "io.whorl.Fingers.Enroll",
            {
                "call": {
                    "finger": {"finger": "right-thumb"},
                    "request": {"application": "test", "timeoutMilliseconds": 60_000},
                },
                "presenter": PRESENTER,
            },
            update=updates.append,
        )
    except Refused as error:
        return error.parameters, updates
    return None, updates


def first_passcode():
    try:
        call("io.whorl.Passcode.Set", {"passcode": 0, "request": CONSENT}, secrets=[b"2468 hunter"])
    except Refused as error:
        return str(error.parameters)
    return None


def test_first_finger_and_passcode_are_refused_where_the_systems_rules_do_not_allow_them():
    for answer in ("NO", "AUTH_SELF"):
        allow("true", answer)
        try:
            error, updates = act("owner", first_finger)
            assert error["code"] == "notPermitted" and "io.whorl.enroll" in error["message"] and updates == [], error
            refused = act("owner", first_passcode)
            assert refused and "io.whorl.set-passcode" in refused, refused
        finally:
            allow("subject.user == 'owner'")


def test_first_passcode_takes_the_users_password_at_the_seat_and_not_a_wrong_one():
    """The default of the installed policy (auth_self), asked by polkit's agent on whorl's terminal."""
    allow("false")
    try:
        for password, isGood in (("wrong", False), ("owner", True)):
            program, *words = command("owner", "TERM=dumb", "whorl", "passcode", "set")
            child = pexpect.spawn(program, words, encoding="utf-8", timeout=120, preexec_fn=lambda: sit("owner"))
            for question in ("asscode", "Repeat"):
                child.expect(question)
                time.sleep(1)
                child.sendline("2468 hunter")
            child.expect("Password:")
            child.sendline(password)
            child.expect(pexpect.EOF)
            child.close()
            assert (child.exitstatus == 0) == isGood, (password, child.exitstatus, child.before)
            is_set = act("owner", call, "io.whorl.Passcode.IsSet")["value"]
            assert is_set == isGood, (password, is_set)
        whorl("passcode", "remove", "--passcode-fd", "0", secret=b"2468 hunter")
    finally:
        allow("subject.user == 'owner'")


def test_finger_is_enrolled_and_recognized():
    enrolled = touching("right", 6, "enroll", "right-index-finger")
    assert enrolled["readerKind"] == "virtual", enrolled
    matched = touching("right", 1, "evaluate", "--reason", "a test")
    assert matched["finger"] == "right-index-finger", matched


def test_secret_opens_by_a_touch_alone():
    whorl("secret", "add", "wifi", "--access", "biometry-any", secret=b"geheim")
    process = start("secret", "get", "wifi")
    lay("right")
    out, err = process.communicate(timeout=240)
    assert out == b"geheim", (out, err)


def test_another_finger_opens_nothing():
    process = start("secret", "get", "wifi", "--json")
    lay("left", 3)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 10 and b"geheim" not in out, (out, err)
    forgive()
