# SPDX-License-Identifier: Apache-2.0
# Docs/Security.md: S3
"""The sandbox of the installed service takes away only what the service does not need: boots and clocks."""

import pathlib
import re
import sqlite3
import subprocess
import time

from cases import enrolled, last, shell, touched
from people import command, sit, start
from run import nightly
from test_b_attacks import wake

BOOT_ID = "/proc/sys/kernel/random/boot_id"
REUSE = ["evaluate", "--reason", "second", "--allow-reuse", "120", "--no-interaction"]


def rows(query):
    """Returns rows of the owner's database, which the service may have open."""
    with sqlite3.connect("file:/var/lib/whorl/1000/whorl.sqlite?mode=ro", uri=True) as database:
        return database.execute(query).fetchall()


def later(days):
    """Sets the machine's wall clock ahead or back."""
    time.clock_settime(time.CLOCK_REALTIME, time.time() + days * 86_400)


def test_y_installed_service_knows_the_boot_although_its_proc_shows_processes_only():
    assert not pathlib.Path(f"/proc/{wake()}/root{BOOT_ID}").exists()
    given = pathlib.Path("/run/credentials/whorld.service/whorl.boot-id").read_text()
    assert given == pathlib.Path(BOOT_ID).read_text()
    assert "boot ID" not in shell("journalctl -b -u whorld.service -o cat").stdout


@nightly("a match that is used again is by day in test_o_purposes.py")
def test_y_match_of_a_moment_ago_is_reused_by_the_installed_service():
    enrolled()
    assert touched("right", "evaluate", "--reason", "first")[0] == 0
    status, said, err = last(start(*REUSE, "--json"))
    assert status == 0, (status, said, err)
    later(+1)
    try:
        status, said, err = last(start(*REUSE, "--json"))
        assert status == 0, ("the wall clock ended the window", status, said, err)
    finally:
        later(-1)
    # An app written for Apple's systems uses the context's property.
    outcome = subprocess.run(
        command("owner", "/usr/local/bin/IdiomProbe", "reuse", "120"),
        capture_output=True, text=True, timeout=240, preexec_fn=lambda: sit("owner"),
    )
    assert outcome.stdout == "true\n", outcome
    # The period is not longer than requested, measured with the clock that cannot be set.
    time.sleep(3)
    later(-1)
    try:
        status, said, _ = last(start(*REUSE[:4], "2", "--no-interaction", "--json"))
        assert status != 0, said
    finally:
        later(+1)


@nightly("a clock that steps is by day in test_g_two_sessions.py")
def test_y_locked_fingers_stay_locked_whatever_the_wall_clock_says():
    enrolled()
    for _ in range(2):
        touched("other", "evaluate", "--reason", "a stranger's", times=3)
    for days in (+1, -2):
        later(days)
        try:
            shell("systemctl restart whorld.service", check=True)
            status, said, err = touched("right", "evaluate", "--reason", "a test")
            assert status != 0 and said["error"]["code"] == "biometryLockout", (days, status, said, err)
        finally:
            later(-days)
    assert rows("select boot_id from attempts where failures > 0") == [(pathlib.Path(BOOT_ID).read_text().strip(),)]


def test_y_sandboxed_service_has_locked_memory_and_names_the_programs_that_ask():
    enrolled()
    locked = re.search(r"VmLck:\s+(\d+)", pathlib.Path(f"/proc/{wake()}/status").read_text())
    assert locked and int(locked[1]) > 0, locked
    assert touched("right", "evaluate", "--reason", "the caller's name")[0] == 0
    shell("journalctl --sync")
    line = shell("journalctl -o cat WHORL_UID=1000 | grep -F \"the caller's name\" | tail -n 1").stdout
    assert line.startswith("owner: ") and "(unverified name; whorl, process " in line, line
