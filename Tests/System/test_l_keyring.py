# SPDX-License-Identifier: Apache-2.0
# Docs/Security.md: S49
"""The desktop's keyring after a login by touch, with GNOME's keyring and its own PAM module."""

import pathlib
import subprocess
import time

import pexpect

from people import Terminal, command, forgive, lay, profiles, sit, start, touching, whorl
from test_j_logins import PASSWORD, PROMPT, ended, sudo

STACK = pathlib.Path("/etc/pam.d/login")
# What gdm's own file has.
LINES = "auth optional pam_gnome_keyring.so\nsession optional pam_gnome_keyring.so auto_start\n"
LOCKED = "busctl --user get-property org.freedesktop.secrets /org/freedesktop/secrets/collection/login org.freedesktop.Secret.Collection Locked"


def end_keyring():
    """Ends the owner's keyring, which the next login starts."""
    while subprocess.run(["pkill", "-u", "owner", "-f", "gnome-keyring-daemon"]).returncode == 0:
        time.sleep(0.05)
    # systemd starts a service five times in ten seconds and no more, and the tests log in faster than people do.
    subprocess.run(command("owner", "XDG_RUNTIME_DIR=/run/user/1000", "systemctl", "--user", "reset-failed", "gnome-keyring-daemon.service"), check=True)


def login(prove, *commands, prompt=PROMPT):
    """Logs in at a terminal outside any session, and returns what the commands print there."""
    end_keyring()
    child = Terminal("env", ["-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "TERM=dumb", "login", "owner"], encoding="utf-8", timeout=120)
    child.expect_exact(prompt)
    prove(child)
    child.expect(r"[$#] ")
    child.sendline("stty -echo; PS1=; unset PROMPT_COMMAND; echo rea''dy")
    child.expect_exact("ready")
    for command in (*commands, "exit"):
        child.sendline(command)
    child.expect(pexpect.EOF)
    child.close()
    return child.before


def typed(child):
    child.send(f"{PASSWORD}\r")


def touched(child):
    lay("right")


def status():
    return whorl("keyring", "status", "--json").stdout.decode().split('"keyring":"')[1].split('"')[0]


def test_typed_password_is_kept_and_a_later_touch_opens_the_keyring():
    profiles("whorl", "whorl-keyring")
    if "gnome_keyring" not in STACK.read_text():
        STACK.write_text(STACK.read_text() + LINES)
    forgive()
    assert status() == "off"
    login(typed)
    assert status() == "off", "a password is kept though nobody turned that on"
    assert "b true" in login(touched, LOCKED), "the keyring is open after a touch, before it was turned on"
    assert touching("right", 1, "keyring", "on")["keyring"] == "waiting"
    assert "b false" in login(typed, LOCKED)
    assert status() == "ready"
    assert "b false" in login(touched, LOCKED), "the keyring is shut after a touch"


def test_touch_for_sudo_hands_no_password_over():
    file = pathlib.Path("/etc/pam.d/sudo")
    before = file.read_text()
    seen = pathlib.Path("/run/seen")
    # pam_exec asks for a password where none was left, and gets none without a terminal.
    file.write_text(before + f"auth optional pam_exec.so expose_authtok /usr/bin/tee {seen}\n")
    try:
        child = sudo()
        child.expect_exact(PROMPT)
        lay("right")
        if child.expect_exact(["password for owner: ", pexpect.EOF]) == 0:
            child.send("none\r")
            child.expect(pexpect.EOF)
        child.close()
        assert PASSWORD.encode() not in seen.read_bytes()
    finally:
        file.write_text(before)


def test_other_fingers_end_it_until_the_password_is_typed_again():
    process = start("enroll", "left-index-finger", "--json")
    lay("right")
    lay("left", 6)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, (out, err)
    try:
        assert status() == "enrollmentChanged"
        assert "b true" in login(touched, LOCKED), "a keyring of the former fingers opens"
        assert "b false" in login(typed, LOCKED)
        assert status() == "ready"
        assert "b false" in login(touched, LOCKED)
    finally:
        touching("right", 1, "remove", "left-index-finger")
    assert status() == "enrollmentChanged"
    login(typed)


def test_changed_password_is_forgotten():
    assert status() == "ready"
    child = pexpect.spawn("runuser", ["-u", "owner", "--", "passwd"], encoding="utf-8", timeout=60, preexec_fn=lambda: sit("owner"))
    for prompt, answer in (("urrent password: ", PASSWORD), ("ew password: ", "another one 4 you"), ("ew password: ", "another one 4 you")):
        child.expect_exact(prompt)
        child.send(answer + "\r")
    assert ended(child)[0] == 0
    try:
        assert status() == "waiting"
    finally:
        subprocess.run(["chpasswd"], input=f"owner:{PASSWORD}\n", text=True, check=True)


def test_turned_off_it_keeps_nothing():
    login(typed)
    assert status() == "ready"
    touching("right", 1, "keyring", "off")
    assert status() == "off"
    assert "b true" in login(touched, LOCKED)
    profiles()
