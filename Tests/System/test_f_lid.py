# SPDX-License-Identifier: Apache-2.0
"""The lid over a built-in reader: a switch created through /dev/uinput, which logind treats as the machine's."""

import fcntl
import json
import os
import pathlib
import struct
import subprocess
import time

from people import shown, start, touching, whorl
from run import configure, nightly

EV_SW, EV_SYN, SW_LID = 5, 0, 0


class LidSwitch:
    """A lid that a test closes and opens."""

    def __init__(self):
        self.file = os.open("/dev/uinput", os.O_WRONLY | os.O_NONBLOCK)
        fcntl.ioctl(self.file, 0x40045564, EV_SW)  # UI_SET_EVBIT
        fcntl.ioctl(self.file, 0x4004556D, SW_LID)  # UI_SET_SWBIT
        setup = struct.pack("<HHHH80sI", 0x19, 1, 1, 1, b"A lid", 0)
        fcntl.ioctl(self.file, 0x405C5503, setup)  # UI_DEV_SETUP
        fcntl.ioctl(self.file, 0x5501)  # UI_DEV_CREATE

    def set(self, is_shut):
        for kind, code, value in ((EV_SW, SW_LID, int(is_shut)), (EV_SYN, 0, 0)):
            os.write(self.file, struct.pack("<qqHHi", 0, 0, kind, code, value))
        deadline = time.monotonic() + 30
        while lid_is_shut() != is_shut:
            assert time.monotonic() < deadline, "logind does not see the lid"
            time.sleep(0.2)

    def close(self):
        os.close(self.file)


def lid_is_shut():
    text = subprocess.run(
        ["busctl", "get-property", "org.freedesktop.login1", "/org/freedesktop/login1",
         "org.freedesktop.login1.Manager", "LidClosed"],
        capture_output=True, text=True, check=True,
    ).stdout
    return text.strip() == "b true"


def asked():
    """Returns the error when a program requests a finger, and how long that takes."""
    began = time.monotonic()
    process = start("evaluate", "--reason", "a test", "--json")
    out, _ = process.communicate(timeout=60)
    error = json.loads(out.decode().splitlines()[-1])["error"]
    return process.returncode, error, time.monotonic() - began


@nightly("restarts the login manager; unit tests cover what the lid ends")
def test_shut_lid_over_the_built_in_reader_is_told_at_once_and_ends_with_it():
    reader = json.loads(whorl("devices", "--json").stdout.decode().splitlines()[-1])["result"]["devices"][0]["id"]
    # A test that closes the lid must not put the machine to sleep.
    ignore = pathlib.Path("/etc/systemd/logind.conf.d/lid.conf")
    ignore.parent.mkdir(parents=True, exist_ok=True)
    ignore.write_text("[Login]\nHandleLidSwitch=ignore\nHandleLidSwitchDocked=ignore\n"
                      "HandleLidSwitchExternalPower=ignore\n")
    subprocess.run(["systemctl", "restart", "systemd-logind"], check=True)
    configure(idle=600, more=f"--built-in-reader {reader}")
    subprocess.run(["systemctl", "restart", "whorld.service"], check=True)
    lid = LidSwitch()
    try:
        time.sleep(2)
        lid.set(True)
        status, error, seconds = asked()
        assert status == 15 and error["code"] == "lidShut", (status, error)
        assert seconds < 15, seconds
        outcome = whorl("can-evaluate", "--json", check=False)
        assert outcome.returncode == 15 and b'"code":"lidShut"' in outcome.stdout, outcome
        lid.set(False)
        # The lid is closed while the prompt waits.
        waiting = start("evaluate", "--reason", "a test", "--json")
        shown(waiting)
        lid.set(True)
        error = json.loads(waiting.communicate(timeout=60)[0].decode().splitlines()[-1])["error"]
        assert waiting.returncode == 15, (waiting.returncode, error)
        assert error["code"] == "lidShut", error
        lid.set(False)
        matched = touching("right", 1, "evaluate", "--reason", "a test")
        assert matched["finger"] == "right-index-finger", matched
    finally:
        lid.close()
        configure(idle=600)
        subprocess.run(["systemctl", "restart", "whorld.service"], check=True)
