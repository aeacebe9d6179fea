# SPDX-License-Identifier: Apache-2.0
"""Logins at which something goes wrong, and hosts that must not ask: sshd, sleep, a reader that goes, a lock, a time limit."""

import os
import pathlib
import socket
import subprocess
import threading
import time

import pexpect

from people import forgive, lay, profiles, sit, start, whorl
from run import nightly
from test_b_attacks import wake
from test_e_sleep import sleep
from test_j_logins import PASSWORD, PROMPT, descriptors, ended, hosts, journal, sudo

PASSCODE = b"a passcode"
SUDO = pathlib.Path("/etc/pam.d/sudo")


def said_to_reader(text):
    """Says something to the virtual reader, once it waits for a finger."""
    deadline = time.monotonic() + 60
    while True:
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as reader:
                reader.connect("/run/reader/socket")
                reader.sendall(text.encode())
            return
        except OSError:
            assert time.monotonic() < deadline, "the reader is not asked"
            time.sleep(0.1)


def password_follows(child):
    """The host's own prompt comes, and the password lets in."""
    child.expect_exact("password for owner: ")
    child.send(f"{PASSWORD}\r")
    assert ended(child)[0] == 0


def test_profile_is_enabled_again():
    profiles("whorl")
    forgive()


class Ending:
    """Tells a finger that waits for the reader when nobody asks for one any more."""

    def __init__(self):
        self.has_ended = False

    def poll(self):
        return 0 if self.has_ended else None


def test_finger_and_password_at_the_same_time_let_in_once():
    for _ in range(5):
        ending, child = Ending(), sudo()
        child.expect_exact(PROMPT)
        touch = threading.Thread(target=lay, args=("right", 1, ending), daemon=True)
        touch.start()
        child.send(f"{PASSWORD}\r")
        status, text = ended(child)
        # A touch that is faster than the keys ends sudo before they are typed: the terminal shows them then.
        text = text.replace(f"{PASSWORD}\r\n", "")
        assert status == 0 and text.endswith("\r\n0\r\n") and text.count("0") == 1, (status, text)
        ending.has_ended = True
        touch.join(60)
        assert not touch.is_alive()


def test_touch_that_does_not_come_leaves_the_password():
    before = SUDO.read_text()
    line = "auth [success=done conv_err=die default=ignore] pam_whorl.so timeout=2\n"
    SUDO.write_text(before.replace("@include common-auth", f"{line}auth required pam_unix.so try_first_pass"))
    try:
        child = sudo()
        child.expect_exact(PROMPT)
        password_follows(child)
    finally:
        SUDO.write_text(before)
    assert journal().splitlines()[-1].endswith(": timedOut"), journal().splitlines()[-1]


def test_locked_fingers_are_told_and_leave_the_password():
    process = start("passcode", "set", "--passcode-fd", "0", secret=PASSCODE + b"\n")
    lay("right", asking=process)
    assert process.wait(120) == 0, process.communicate()
    try:
        child = sudo()
        child.expect_exact(PROMPT)
        lay("left", 3)
        password_follows(child)
        child = sudo()
        child.expect_exact(PROMPT)
        lay("left", 2)
        child.expect("Too many|locked")
        password_follows(child)
        child = sudo()
        # The service may take longer to refuse than the prompt waits to be shown; no finger is taken.
        child.expect_exact("password for owner: ")
        child.close(force=True)
        assert journal().splitlines()[-1].endswith(": biometryLockout"), journal().splitlines()[-1]
    finally:
        whorl("passcode", "verify", "--passcode-fd", "0", secret=PASSCODE)
        whorl("passcode", "remove", "--passcode-fd", "0", secret=PASSCODE)
    forgive()


@nightly("sleep is by day in test_e_sleep.py")
def test_sleep_in_the_prompt_leaves_the_password_and_the_next_touch_counts():
    wake()
    child = sudo()
    child.expect_exact(PROMPT)
    time.sleep(2)
    sleep()
    password_follows(child)
    child = sudo()
    child.expect_exact(PROMPT)
    lay("right")
    assert ended(child) == (0, "\r\n0\r\n")


def test_reader_that_goes_in_the_prompt_leaves_the_password():
    child = sudo()
    child.expect_exact(PROMPT)
    said_to_reader("UNPLUG")
    password_follows(child)
    # libfprint finds a virtual reader again in a new process alone.
    subprocess.run(["systemctl", "stop", "whorld.service"], check=True)
    forgive()


def test_reader_that_fails_in_the_prompt_leaves_the_password():
    child = sudo()
    child.expect_exact(PROMPT)
    said_to_reader("ERROR 0")
    password_follows(child)
    forgive()


def test_first_login_after_the_service_has_left_takes_a_touch():
    subprocess.run(["systemctl", "stop", "whorld.service"], check=True)
    child = sudo()
    child.expect_exact(PROMPT)
    lay("right")
    assert ended(child) == (0, "\r\n0\r\n")


def test_pkexec_takes_a_touch_at_the_seat_by_polkits_own_helper():
    """With polkit's agent for terminals, as polkit's pages show it."""
    words = ["-u", "owner", "--", "env", "-i", "PATH=/usr/bin:/bin", "TERM=dumb", "PS1=$ ", "sh", "-i"]
    shell = pexpect.spawn("runuser", words, encoding="utf-8", timeout=60, preexec_fn=lambda: sit("owner"))
    shell.expect_exact("$ ")
    shell.sendline("pkttyagent --process $$ & sleep 3; pkexec --disable-internal-agent id -u; echo ended-$?")
    shell.expect("finger across the reader|finger on the reader")
    lay("right")
    shell.expect(r"ended-(\d+)")
    assert shell.match.group(1) == "0" and shell.before.rstrip().endswith("0"), shell.before
    shell.sendline("kill %1; exit")
    shell.close(force=True)


def test_sshd_asks_for_the_password_and_for_no_touch():
    subprocess.run(["ssh-keygen", "-A"], check=True, capture_output=True)
    pathlib.Path("/run/sshd").mkdir(exist_ok=True)
    options = ["-o", "UsePAM=yes", "-o", "KbdInteractiveAuthentication=yes", "-o", "PasswordAuthentication=no", "-p", "2222"]
    server = subprocess.Popen(["/usr/sbin/sshd", "-D", "-e", *options], stderr=subprocess.PIPE)
    try:
        before = journal()
        words = ["-p", "2222", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "owner@127.0.0.1", "id -un"]
        deadline = time.monotonic() + 30
        while True:
            child = pexpect.spawn("ssh", words, encoding="utf-8", timeout=60)
            found = child.expect_exact(["assword: ", PROMPT, "Connection refused", pexpect.EOF])
            if found < 2:
                break
            assert time.monotonic() < deadline, child.before
            time.sleep(0.5)
        assert found == 0 and "finger" not in child.before, child.before
        child.send(f"{PASSWORD}\r")
        status, text = ended(child)
        assert status == 0 and "owner" in text, (status, text)
        new = journal()[len(before):]
        assert ": done" not in new, new
    finally:
        server.terminate()
        server.wait(30)


@nightly("many logins")
def test_many_sudos_in_a_row_leave_no_process_and_no_descriptor():
    """Touches and passwords in turns; the night has more of them."""
    count, before = int(os.environ.get("WHORL_SUDOS", "20")), None
    for number in range(count):
        child = sudo()
        child.expect_exact(PROMPT)
        if number % 2:
            lay("right")
        else:
            child.send(f"{PASSWORD}\r")
        assert ended(child)[0] == 0
        if number == 3:
            time.sleep(2)
            before = descriptors()
    time.sleep(3)
    assert descriptors() <= before + 1 and hosts() == [], (before, descriptors(), hosts())


def test_profile_is_taken_out_again():
    profiles()
