# SPDX-License-Identifier: Apache-2.0
"""The sandbox of the service, as enforced by systemd and the kernel."""

import os
import pathlib
import subprocess

from test_b_attacks import wake

SERVICE = "whorld.service"


def show(name):
    return subprocess.run(
        ["systemctl", "show", "-P", name, SERVICE], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_exposure_is_at_most_two():
    text = subprocess.run(
        ["systemd-analyze", "security", "--no-pager", SERVICE], capture_output=True, text=True, check=True
    ).stdout
    last = text.strip().splitlines()[-1]
    exposure = float(last.split(":")[1].split()[0])
    theirs = subprocess.run(
        ["systemd-analyze", "security", "--no-pager", "fprintd.service"], capture_output=True, text=True
    ).stdout.strip().splitlines()
    print(f"        {last}; fprintd: {theirs[-1] if theirs else 'not here'}")
    assert exposure <= 2.0, text


def test_service_has_no_capability_and_may_gain_none():
    status = pathlib.Path(f"/proc/{wake()}/status").read_text()
    for line in ("CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"):
        assert line in status, (line, status)
    assert "Uid:\t0" not in status


def inside(*command):
    """Runs a command in the service's namespaces and as its user, like code that runs in the service."""
    return subprocess.run(
        ["nsenter", "-t", str(wake()), "-m", "-S", str(os.stat("/var/lib/whorl").st_uid), "--", *command],
        capture_output=True,
    )


def test_nothing_but_the_service_itself_may_be_executed_there():
    for program in ("/usr/bin/true", "/bin/sh"):
        outcome = inside(program)
        assert outcome.returncode != 0 and b"Permission denied" in outcome.stderr, (program, outcome)


def test_file_system_is_read_only_but_for_the_state():
    text = pathlib.Path(f"/proc/{wake()}/mountinfo").read_text()
    places = {line.split()[4]: line.split()[5].split(",") for line in text.splitlines()}
    assert "ro" in places["/"], places["/"]
    state = [place for place in places if place.startswith("/var/lib/whorl") or place == "/var/lib/private/whorl"]
    assert state and all("rw" in places[place] for place in state), places


def test_families_of_sockets_are_local_ones():
    assert set(show("RestrictAddressFamilies").split()) == {"AF_UNIX", "AF_NETLINK"}, show(
        "RestrictAddressFamilies"
    )
    assert set(show("IPAddressDeny").split()) == {"::/0", "0.0.0.0/0"}, show("IPAddressDeny")
