# SPDX-License-Identifier: Apache-2.0
# Docs/Security.md: S55
"""Screen lockers that run PAM as their user, as swaylock, i3lock and KDE do: touches and passwords in a locked session."""

import pathlib
import subprocess
import time

import pexpect

from people import forgive, lay, lock, profiles, sit
from test_j_logins import PASSWORD, PROMPT, ended, sudo
from test_j_polkit import over_ssh

# What Debian's packages of swaylock and i3lock contain, and a part of KDE's locker.
FILES = {
    "swaylock": "auth include login\n",
    "i3lock": "auth include login\n",
    "kde": "@include common-auth\n",
    "kde-fingerprint": "auth required pam_whorl.so\n",
}
TOUCH = "finger across the reader|finger on the reader"


def without_the_module():
    """Returns what the lockers' stack is without the module: the same lines, also those that cost time on some systems."""
    own = pathlib.Path("/etc/pam.d/common-auth").read_text().splitlines(keepends=True)
    common = "".join(line for line in own if "pam_whorl" not in line)
    return pathlib.Path("/etc/pam.d/login").read_text().replace("@include common-auth\n", common)


def locker(service="swaylock", person="owner", user="owner", place=sit):
    """Authenticates a person as a program of a user does that calls PAM after the Enter key."""
    words = ["-u", user, "--", "env", "-i", "PATH=/usr/bin:/bin", "pamtester", service, person, "authenticate"]
    return pexpect.spawn("runuser", words, encoding="utf-8", timeout=60, preexec_fn=lambda: place(user))


def unlocks(child):
    status, text = ended(child)
    assert status == 0 and "successfully authenticated" in text, (status, text)


def asks_for_the_password(child):
    """Waits for the next module's prompt, before which nothing was said about a touch."""
    assert child.expect([TOUCH, "Password: "]) == 1, child.before


def records():
    subprocess.run(["journalctl", "--sync"], check=True)
    words = ["journalctl", "-o", "cat", "WHORL_METHOD=io.whorl.Login.UnlockScreen"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def test_locker_of_a_user_takes_a_touch_or_a_password_in_a_locked_session():
    profiles("whorl")
    for service, text in FILES.items():
        pathlib.Path(f"/etc/pam.d/{service}").write_text(text)
    lock(True)
    try:
        for service in ("swaylock", "i3lock"):
            child = locker(service)
            child.expect_exact(PROMPT)
            child.send("\r")
            child.expect(TOUCH)
            lay("right")
            unlocks(child)
            assert f"{service}" in records().splitlines()[-1] and "screen lock, as user" in records(), records()
            child = locker(service)
            child.expect_exact(PROMPT)
            child.send(f"{PASSWORD}\r")
            unlocks(child)
    finally:
        lock(False)


def test_typed_password_in_a_locker_takes_no_longer_than_without_the_module():
    def seconds(service):
        child = locker(service)
        child.expect("assword.*: ")
        began = time.monotonic()
        child.send(f"{PASSWORD}\r")
        unlocks(child)
        return time.monotonic() - began

    plain = without_the_module()
    assert "pam_unix" in plain and "pam_whorl" not in plain, plain
    pathlib.Path("/etc/pam.d/plain").write_text(plain)
    before = records()
    times = {service: [] for service in ("swaylock", "plain")}
    for _ in range(5):
        for service, each in times.items():
            each.append(seconds(service))
    with_module, alone = (min(each) for each in times.values())
    # An emulated and busy machine takes several times as long for everything.
    assert with_module - alone < max(0.2, 0.3 * alone), times
    # The service is not asked at all.
    assert records() == before


def test_wrong_finger_leaves_a_locker_the_password():
    child = locker()
    child.expect_exact(PROMPT)
    child.send("\r")
    child.expect(TOUCH)
    lay("left", 3)
    child.expect_exact("Password: ")
    child.send(f"{PASSWORD}\r")
    unlocks(child)
    forgive()


def test_service_that_is_killed_while_a_locker_waits_leaves_the_password():
    child = locker()
    child.expect_exact(PROMPT)
    child.send("\r")
    child.expect(TOUCH)
    subprocess.run(["systemctl", "kill", "--signal", "SIGKILL", "whorld.service"], check=True)
    child.expect_exact("Password: ")
    child.send(f"{PASSWORD}\r")
    unlocks(child)
    forgive()


def test_locker_elsewhere_or_for_another_person_gets_no_touch():
    # Outside the session at the seat.
    child = locker(place=lambda user: None)
    child.expect_exact(PROMPT)
    child.send("\r")
    asks_for_the_password(child)
    child.close(force=True)
    # By ssh.
    with over_ssh() as shell:
        shell.sendline("stty -echo; pamtester swaylock owner authenticate")
        shell.expect_exact(PROMPT)
        shell.send("\r")
        asks_for_the_password(shell)
        shell.send(f"{PASSWORD}\r")
        shell.expect("successfully authenticated")
    # For root: the module asks nothing.
    child = locker(person="root")
    assert child.expect_exact([PROMPT, "Password: "]) == 1
    child.close(force=True)


def test_kdes_parts_wait_for_the_touch_and_the_password_at_the_same_time():
    lock(True)
    try:
        touch, password = locker("kde-fingerprint"), locker("kde")
        touch.expect(TOUCH)
        password.expect_exact("Password: ")
        password.send(f"{PASSWORD}\r")
        unlocks(password)
        lay("right")
        unlocks(touch)
    finally:
        lock(False)


def test_login_ends_a_locker_that_waits_and_gets_the_touch():
    child = locker()
    child.expect_exact(PROMPT)
    child.send("\r")
    child.expect(TOUCH)
    root = sudo()
    root.expect_exact(PROMPT)
    child.expect_exact("Password: ")
    lay("right")
    assert ended(root) == (0, "\r\n0\r\n")
    child.close(force=True)


def test_lockers_leave_nothing_behind():
    profiles()
    for service in FILES:
        pathlib.Path(f"/etc/pam.d/{service}").unlink()
