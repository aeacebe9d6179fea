# SPDX-License-Identifier: Apache-2.0
"""A login manager with its greeter on the machine's console, greetd with agreety; and doas."""

import fcntl
import pathlib
import re
import subprocess
import termios
import time

import pexpect

from people import forgive, lay, profiles, sit
from test_b_attacks import wake
from test_j_logins import PASSWORD, PROMPT, ended, journal

SCREEN, KEYS = pathlib.Path("/dev/vcs7"), "/dev/tty7"
# What the greeter starts for the person: it tells whose session it is, and stays until it is told to end.
SESSION = pathlib.Path("/usr/local/bin/the-session")
ARRIVED = pathlib.Path("/tmp/arrived")
TOUCH = "Swipe your finger across the reader."


def screen():
    return SCREEN.read_bytes().decode("latin-1")


def waits_for(condition, what):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not come: {screen().split()}"
        time.sleep(0.1)


def says(text):
    waits_for(lambda: text in screen(), text)


def types(text):
    """Types at the console, as a keyboard does."""
    with open(KEYS, "wb", buffering=0) as keys:
        for key in text.encode():
            fcntl.ioctl(keys, termios.TIOCSTI, bytes([key]))


def greet():
    """Starts the greeter anew, and says who wants to log in."""
    subprocess.run(["systemctl", "stop", "greetd.service"], check=True)
    subprocess.run(["pkill", "-f", str(SESSION)])
    ARRIVED.unlink(missing_ok=True)
    pathlib.Path(KEYS).write_text("\x1b[2J\x1b[H")
    subprocess.run(["systemctl", "start", "greetd.service"], check=True)
    says("login:")
    types("owner\r")


def go_back():
    """Ends the greeter; the owner's session at the seat is the one in front again."""
    subprocess.run(["systemctl", "stop", "greetd.service"], check=True)
    subprocess.run(["pkill", "-f", str(SESSION)])
    subprocess.run(["loginctl", "activate", "1"], check=True)
    time.sleep(1)


def arrives():
    waits_for(lambda: ARRIVED.exists() and ARRIVED.read_text().endswith("\n"), "the session")
    user, kind = ARRIVED.read_text().split()
    assert user == "owner" and kind == "tty7", ARRIVED.read_text()


def test_greeter_is_installed_and_asks_the_module():
    SESSION.write_text("#!/bin/sh\necho \"$(id -un) tty$XDG_VTNR\" >/tmp/arrived\nexec sleep 600\n")
    SESSION.chmod(0o755)
    configuration = pathlib.Path("/etc/greetd/config.toml")
    # Debian 13 starts the person's own shell, and /bin/sh where none is known.
    text = re.sub(r"\$\{SHELL:-/bin/sh\}|/bin/sh", str(SESSION), configuration.read_text())
    assert str(SESSION) in text, text
    configuration.write_text(text)
    subprocess.run(["useradd", "--system", "--home-dir", "/", "_greetd"], check=True)
    subprocess.run(["systemctl", "daemon-reload"], check=True)
    profiles("whorl")
    forgive()
    assert "pam_whorl" in pathlib.Path("/etc/pam.d/common-auth").read_text()


def test_right_finger_at_the_greeter_opens_the_session_of_its_owner():
    greet()
    says(TOUCH)
    lay("right")
    arrives()
    assert "(unverified name; greetd, process " in journal().splitlines()[-1], journal().splitlines()[-1]


def test_stranger_at_the_greeter_is_told_and_left_with_the_password():
    greet()
    says(TOUCH)
    lay("left")
    says("Not recognized")
    lay("left", 2)
    says("assword:")
    assert not ARRIVED.exists()
    types(f"{PASSWORD}\r")
    arrives()
    go_back()
    forgive()


def test_greeter_without_the_service_asks_for_the_password():
    subprocess.run(["systemctl", "stop", "whorld.socket", "whorld.service"], check=True)
    try:
        greet()
        says("assword:")
        assert TOUCH not in screen()
        types(f"{PASSWORD}\r")
        arrives()
    finally:
        subprocess.run(["systemctl", "start", "whorld.socket"], check=True)
        # The next greeter waits three seconds for its first sentence, in which a slow machine may not start the service.
        wake()


def test_service_that_is_killed_while_the_greeter_waits_leaves_the_password():
    greet()
    says(TOUCH)
    subprocess.run(["systemctl", "kill", "--signal", "SIGKILL", "whorld.service"], check=True)
    says("assword:")
    types(f"{PASSWORD}\r")
    arrives()


def doas():
    words = ["-u", "owner", "--", "env", "-i", "PATH=/usr/bin:/bin", "doas", "id", "-u"]
    return pexpect.spawn("runuser", words, encoding="utf-8", timeout=60, preexec_fn=lambda: sit("owner"))


def test_doas_takes_a_finger_or_the_password():
    go_back()
    rules = pathlib.Path("/etc/doas.conf")
    rules.write_text("permit owner as root\n")
    rules.chmod(0o400)
    for prove in (lambda child: lay("right"), lambda child: child.send(f"{PASSWORD}\r")):
        child = doas()
        child.expect_exact(PROMPT)
        prove(child)
        status, text = ended(child)
        assert status == 0 and text.endswith("0\r\n"), (status, text)
    child = doas()
    child.expect_exact(PROMPT)
    lay("left", 3)
    # The module's own question, which is there first, ends in other words.
    child.expect("password: ")
    child.send("wrong\r")
    status, text = ended(child)
    assert status == 1 and not text.endswith("0\r\n"), (status, text)
    forgive()
    profiles()
