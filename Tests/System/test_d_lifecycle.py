# SPDX-License-Identifier: Apache-2.0
"""The service starts when a program connects, and exits when no one uses it."""

import json
import subprocess
import time

from people import act, forgive, lay, service_pid, start, touching, whorl
from run import configure, nightly
from test_b_attacks import read_items, wake


@nightly("waits for the service to leave")
def test_service_leaves_when_nobody_uses_it_and_comes_back():
    configure(idle=2)
    subprocess.run(["systemctl", "restart", "whorld.service"], check=True)
    try:
        before = wake()
        deadline = time.monotonic() + 120
        while service_pid() != 0:
            assert time.monotonic() < deadline, "the service did not leave"
            time.sleep(0.5)
        items, fingers = act("owner", read_items, "owner")
        assert [item["id"]["name"] for item in items] == ["wifi"] and len(fingers) == 1, (items, fingers)
        assert service_pid() not in (0, before)
    finally:
        configure(idle=600)
        subprocess.run(["systemctl", "restart", "whorld.service"], check=True)


def test_service_that_is_updated_keeps_what_it_has():
    subprocess.run(["systemctl", "restart", "whorld.service"], check=True)
    matched = touching("right", 1, "evaluate", "--reason", "a test")
    assert matched["finger"] == "right-index-finger", matched


def test_finger_that_is_added_is_agreed_to_by_a_touch_and_closes_what_the_set_opened():
    whorl("secret", "add", "bound", "--access", "biometry-current-set", secret=b"bound")
    added = touching_two("right", 1, "left", 6, "enroll", "left-thumb")
    assert added["finger"] == "left-thumb", added
    process = start_secret("bound")
    out, err = process.communicate(timeout=240)
    assert process.returncode == 33 and b"bound" not in out, (process.returncode, out, err)
    forgive()


def touching_two(first, count, second, more, *arguments):
    """Runs a command, and touches the reader with one finger and then another."""
    process = start(*arguments, "--json")
    lay(first, count)
    time.sleep(2)
    lay(second, more)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, (process.returncode, out, err)
    return json.loads(out.decode().splitlines()[-1])["result"]


def start_secret(name):
    """Reads a secret, and touches the reader with the right finger."""
    process = start("secret", "get", name)
    lay("right")
    return process
