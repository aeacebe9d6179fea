# SPDX-License-Identifier: Apache-2.0
"""Helpers for test_y_*.py: users with fingers, accounts, and a service with another configuration."""

import contextlib
import json
import pathlib
import subprocess

from people import lay, start, whorl
from run import allow

CONFIG = pathlib.Path("/etc/whorl/whorld.conf")


def shell(text, check=False):
    """Runs a line of bash as root."""
    return subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=check)


def last(process, timeout=240):
    """Returns the status of a command with --json, its last line, and its standard error."""
    out, err = process.communicate(timeout=timeout)
    lines = out.decode().splitlines()
    return process.returncode, json.loads(lines[-1]) if lines else None, err


def touched(finger, *arguments, user="owner", times=1):
    """Runs a command, touches the reader, and returns what `last` returns."""
    process = start(*arguments, "--json", user=user)
    lay(finger, times, asking=process)
    return last(process)


def fingers(user="owner"):
    """Returns the enrolled fingers of a user."""
    return json.loads(whorl("fingers", "--json", user=user).stdout.decode().splitlines()[-1])["result"]["fingers"]


def enrolled(finger="right", user="owner"):
    """Enrolls a finger for a user without fingers; the owner's previous state is removed first."""
    if user == "owner":
        shell(
            "systemctl stop whorld.service; rm -rf /var/lib/whorl/1000;"
            " systemctl reset-failed whorld.service whorld.socket; systemctl start whorld.socket"
        )
    if not fingers(user):
        status, line, err = touched(finger, "enroll", "right-index-finger", user=user, times=6)
        assert status == 0, (status, line, err)


@contextlib.contextmanager
def everyone():
    """Lets users who are not at the machine be prompted, and enroll without an administrator's password."""
    before = CONFIG.read_text() if CONFIG.exists() else ""
    CONFIG.write_text("[Sessions]\nTouch=any\n")
    allow("true")
    shell("systemctl restart whorld.service", check=True)
    try:
        yield
    finally:
        CONFIG.write_text(before)
        allow("subject.user == 'owner'")
        shell("systemctl restart whorld.service", check=True)
