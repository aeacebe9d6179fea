# SPDX-License-Identifier: Apache-2.0
"""A person's first hour with the installed service."""

from people import forgive, lay, start, touching, whorl


def test_finger_is_enrolled_and_recognised():
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
