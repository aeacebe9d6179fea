# SPDX-License-Identifier: Apache-2.0
"""The machine goes to sleep and wakes up, using the kernel's test mode for its freezer (pm_test)."""

import pathlib
import subprocess
import time

from people import service_pid, shown, start, touching
from test_b_attacks import failed_tries, wake

SYSTEM_MESSAGE = b"The computer went to sleep."


def inhibitors():
    """The service's inhibitors that delay sleep."""
    text = subprocess.run(
        ["systemd-inhibit", "--list", "--no-legend", "--no-pager"], capture_output=True, text=True, check=True
    ).stdout
    return [line for line in text.splitlines() if line.startswith("whorld ")]


def sleep():
    """Puts the machine to sleep for a few seconds; returns when it is awake."""
    pathlib.Path("/sys/power/pm_test").write_text("freezer")
    cursor = subprocess.run(["journalctl", "-n", "0", "--show-cursor"], capture_output=True, text=True).stdout.split()[-1]
    subprocess.run(["systemctl", "suspend"], check=True)
    deadline = time.monotonic() + 120
    while True:
        text = subprocess.run(
            ["journalctl", f"--after-cursor={cursor}", "-o", "cat"], capture_output=True, text=True
        ).stdout
        # “… sleep state.” in systemd 252, “… sleep operation 'suspend'.” in 257.
        if "System returned from sleep " in text:
            return text
        assert time.monotonic() < deadline, text
        time.sleep(0.5)


def test_service_delays_sleep_while_it_runs():
    wake()
    found = inhibitors()
    assert len(found) == 1 and " sleep " in found[0] and found[0].rstrip().endswith("delay"), found


def test_sleep_ends_a_prompt_and_says_so_and_the_next_touch_counts():
    pid = wake()
    before = failed_tries()
    process = start("evaluate", "--reason", "a test", "--json")
    shown(process)
    began = time.monotonic()
    text = sleep()
    out, err = process.communicate(timeout=60)
    assert process.returncode not in (0, None) and SYSTEM_MESSAGE in out + err, (process.returncode, out, err)
    assert b"systemCancel" in out + err, (out, err)
    assert "Delay lock is active" not in text and "timeout" not in text.lower(), text
    print(f"        slept and woke in {time.monotonic() - began:.1f} s")
    assert service_pid() == pid
    deadline = time.monotonic() + 20
    while not inhibitors():
        assert time.monotonic() < deadline, "no new delay after the sleep"
        time.sleep(0.5)
    assert failed_tries() == before
    matched = touching("right", 1, "evaluate", "--reason", "a test")
    assert matched["finger"] == "right-index-finger", matched


def test_finger_on_the_reader_while_the_machine_falls_asleep_opens_nothing():
    process = start("evaluate", "--reason", "a test", "--json")
    shown(process)
    sleep()
    out, err = process.communicate(timeout=60)
    assert process.returncode != 0, (out, err)
    # When a touch wakes the machine, there is no prompt yet. The next prompt needs another touch.
    process = start("evaluate", "--reason", "a test", "--json", "--timeout", "4")
    out, err = process.communicate(timeout=60)
    assert process.returncode != 0 and b"timedOut" in out + err, (process.returncode, out, err)
