# SPDX-License-Identifier: Apache-2.0
# Docs/Security.md: S1
"""A service that an administrator has disabled does not start, and each call says so."""

import json
import os
import pathlib
import socket
import subprocess

from people import command, sit, whorl

SOCKET = pathlib.Path("/run/whorl/io.whorl")


def is_active(unit):
    return subprocess.run(["systemctl", "--quiet", "is-active", unit]).returncode == 0


def says_that_it_is_switched_off():
    for arguments in ("fingers",), ("evaluate", "--reason", "a test"), ("secret", "list"), ("can-evaluate",):
        outcome = whorl(*arguments, "--json", check=False)
        error = json.loads(outcome.stdout.splitlines()[-1])["error"]
        assert outcome.returncode == 74 and "disabled by the administrator" in error["message"], (arguments, outcome)
        assert "systemctl enable --now whorld.socket" in error["recovery"] and "WHORL_SERVICE=private" in error["recovery"], error
    assert not is_active("whorld.socket") and not is_active("whorld.service")


def test_switched_off_service_stays_off_and_each_call_says_so():
    subprocess.run(["systemctl", "disable", "--now", "--quiet", "whorld.socket"], check=True)
    try:
        assert not SOCKET.exists(), "systemd left the socket's file"
        says_that_it_is_switched_off()
        # A leftover file, as after a crash.
        SOCKET.parent.mkdir(exist_ok=True)
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(str(SOCKET))
        SOCKET.chmod(0o666)
        says_that_it_is_switched_off()
        os.unlink(SOCKET)
        # A program that calls fprintd's name makes the bus start the service, if it is enabled.
        listed = subprocess.run(command("owner", "fprintd-list", "owner"), capture_output=True, text=True, preexec_fn=lambda: sit("owner"))
        assert listed.returncode != 0, listed
        says_that_it_is_switched_off()
        # Another place has to be chosen. It has nothing of the service's.
        chosen = subprocess.run(command("owner", "WHORL_SERVICE=private", "WHORL_STATE_DIR=/tmp/own", "whorl", "fingers", "--json"), capture_output=True)
        assert chosen.returncode == 0 and json.loads(chosen.stdout.splitlines()[-1])["result"]["fingers"] == [], chosen
    finally:
        subprocess.run(["systemctl", "enable", "--now", "--quiet", "whorld.socket"], check=True)
    assert whorl("fingers").returncode == 0
    listed = subprocess.run(command("owner", "fprintd-list", "owner"), capture_output=True, text=True, preexec_fn=lambda: sit("owner"))
    assert "whorld" in subprocess.run(["busctl", "status", "net.reactivated.Fprint"], capture_output=True, text=True).stdout, listed
