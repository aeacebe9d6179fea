# SPDX-License-Identifier: Apache-2.0
# Docs/Security.md: S56
"""A keyring of GNOME's with its own password, which a touch, the passcode and logins release."""

import json
import pathlib
import re
import subprocess
import time

import pexpect

from people import Terminal, clear_lockout, command, lay, lock, profiles, sit, start, touching
from run import nightly
from test_j_logins import PASSWORD, PROMPT, ended, sudo
from test_j_lockers import TOUCH
from test_l_keyring import LINES, LOCKED, STACK, end_keyring, login, status, touched, typed

# The login does not wait for the keyring. A question on the bus before the keyring is there would start a second one, so
# this waits for its name, which does not start one.
ON_THE_BUS = "for i in $(seq 150); do busctl --user status org.freedesktop.secrets >/dev/null 2>&1 && break; sleep 0.2; done"
OPENED = f"{ON_THE_BUS}; for i in $(seq 100); do {LOCKED} | grep -q false && break; sleep 0.1; done; {LOCKED}"
SHEET = re.compile(r"((?:[0-9A-HJKMNP-TV-Z]{4}-){7}[0-9A-HJKMNP-TV-Z]{4})")
password = None


def is_locked():
    """Whether the owner's keyring is locked; starts the keyring if none is running."""
    words = f"systemctl --user start gnome-keyring-daemon.service; {ON_THE_BUS}; {LOCKED}"
    shell = command("owner", "XDG_RUNTIME_DIR=/run/user/1000", "sh", "-c", words)
    return subprocess.run(shell, capture_output=True, text=True, check=True).stdout == "b true\n"


def wait(condition, seconds=30):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.1)


def on_a_terminal(*words):
    program, *arguments = command("owner", "TERM=dumb", "whorl", "keyring", *words)
    return pexpect.spawn(program, arguments, encoding="utf-8", timeout=120, preexec_fn=lambda: sit("owner"))


def turn_on(child, confirms=True):
    """Answers what turning it on asks, and returns the password on the sheet."""
    child.expect_exact("Login password: ")
    child.send(f"{PASSWORD}\r")
    child.expect(TOUCH)
    lay("right")
    child.expect(SHEET)
    shown = child.match[1]
    for _ in range(1 if confirms else 3):
        child.expect_exact("to confirm: ")
        child.send((shown[-9:].lower() if confirms else "0000-0000") + "\r")
    return shown


def with_keyrings_module():
    """Lets logins open the keyring, with GNOME's PAM module and with ours."""
    profiles("whorl", "whorl-keyring")
    if "gnome_keyring" not in STACK.read_text():
        STACK.write_text(STACK.read_text() + LINES)
    clear_lockout()


def test_wrong_login_password_gives_the_keyring_no_password_of_its_own():
    with_keyrings_module()
    assert status() == "off"
    # There may be no keyring yet; the first login makes one.
    login(typed)
    seen = login(typed, LOCKED)
    assert "b false" in seen, seen
    process = start("keyring", "on", "--on-demand", "--sheet", "--login-password-fd", "0", "--json", secret=b"not this\n")
    out, err = process.communicate(timeout=60)
    assert process.returncode != 0 and json.loads(out)["error"]["code"] == "keyringPasswordWrong", (out, err)
    assert status() == "off"


@nightly("the unit tests cover what the service does")
def test_sheet_that_is_not_confirmed_changes_nothing():
    child = on_a_terminal("on", "--on-demand", "--sheet")
    turn_on(child, confirms=False)
    code, text = ended(child)
    assert code != 0 and "was not confirmed" in text, text
    assert status() == "off"
    end_keyring()
    assert "b false" in login(typed, LOCKED), "the keyring has its login password"


def test_keyring_gets_a_password_of_its_own_and_is_opened_by_a_touch_at_any_time():
    global password
    child = on_a_terminal("on", "--on-demand", "--sheet")
    password = turn_on(child)
    code, text = ended(child)
    assert code == 0, text
    assert status() == "ownPassword"
    end_keyring()
    assert is_locked()
    assert touching("right", 1, "keyring", "unlock")["unlocked"] is True
    assert not is_locked()


def test_login_with_a_password_or_a_touch_opens_it_too():
    assert "b false" in login(typed, OPENED), "after a password"
    assert "b false" in login(touched, OPENED), "after a touch"


def test_locker_that_runs_as_root_opens_it_with_its_touch():
    pathlib.Path("/etc/pam.d/gdm-password").write_text("@include common-auth\n")
    end_keyring()
    # It runs while the screen is locked.
    assert is_locked()
    lock(True)
    try:
        child = Terminal("pamtester", ["gdm-password", "owner", "authenticate", "setcred(PAM_REINITIALIZE_CRED)"], encoding="utf-8", timeout=120)
        # GDM's programs have no terminal of the user's.
        child.expect(TOUCH)
        lay("right")
        code, text = ended(child)
        assert code == 0, text
    finally:
        lock(False)
    wait(lambda: not is_locked())
    said = subprocess.run(["journalctl", "-o", "cat", "-u", "whorld", "-n", "20"], capture_output=True, text=True, check=True).stdout
    assert "unlock the screen and the keyring of user 1000" in said, said


@nightly("a login more")
def test_login_ends_without_a_wait_for_a_keyring_that_does_not_come():
    subprocess.run(["systemctl", "--global", "mask", "--quiet", "gnome-keyring-daemon.socket", "gnome-keyring-daemon.service"], check=True)
    subprocess.run(command("owner", "XDG_RUNTIME_DIR=/run/user/1000", "systemctl", "--user", "stop", "gnome-keyring-daemon.socket", "gnome-keyring-daemon.service"), check=True)
    try:
        assert "here" in login(typed, "echo he''re")
    finally:
        # One that the login has started without systemd removes the socket when it ends.
        end_keyring()
        subprocess.run(["systemctl", "--global", "unmask", "--quiet", "gnome-keyring-daemon.socket", "gnome-keyring-daemon.service"], check=True)
        subprocess.run(command("owner", "XDG_RUNTIME_DIR=/run/user/1000", "systemctl", "--user", "daemon-reload"), check=True)
        subprocess.run(command("owner", "XDG_RUNTIME_DIR=/run/user/1000", "systemctl", "--user", "restart", "gnome-keyring-daemon.socket"), check=True)


def test_password_typed_for_sudo_opens_no_keyring():
    end_keyring()
    child = sudo()
    child.expect_exact(PROMPT)
    child.send(f"{PASSWORD}\r")
    assert ended(child)[0] == 0
    assert is_locked()


@nightly("three logins")
def test_changed_login_password_still_opens_it_and_one_that_root_sets_does_not():
    child = pexpect.spawn("runuser", ["-u", "owner", "--", "passwd"], encoding="utf-8", timeout=60, preexec_fn=lambda: sit("owner"))
    for prompt, answer in (("urrent password: ", PASSWORD), ("ew password: ", "another one 4 you"), ("ew password: ", "another one 4 you")):
        child.expect_exact(prompt)
        child.send(answer + "\r")
    assert ended(child)[0] == 0
    try:
        assert status() == "ownPassword"
        assert "b false" in login(lambda child: child.send("another one 4 you\r"), OPENED)
    finally:
        subprocess.run(["chpasswd"], input=f"owner:{PASSWORD}\n", text=True, check=True)
    assert status() == "ownPasswordWithoutLogin"
    assert "b true" in login(typed, "sleep 2", LOCKED)
    child = on_a_terminal("on", "--on-demand", "--sheet")
    assert turn_on(child) == password, "another password"
    assert ended(child)[0] == 0
    assert status() == "ownPassword"
    assert "b false" in login(typed, OPENED)


# Another program of the user's takes the place of the keyring's socket, and says yes to each password.
IMPOSTOR = """
import os, socket, sys
path = "/run/user/1000/keyring/control"
os.rename(path, path + ".real")
with socket.socket(socket.AF_UNIX) as listener:
    listener.bind(path)
    listener.listen()
    print("ready", flush=True)
    while True:
        with listener.accept()[0] as connection:
            print(len(connection.recv(4096)), flush=True)
            connection.sendall(bytes([0, 0, 0, 8, 0, 0, 0, 0]))
"""


def test_another_programs_socket_gets_no_password_and_nothing_is_changed():
    impostor = subprocess.Popen(command("owner", "/usr/bin/python3", "-c", IMPOSTOR), stdout=subprocess.PIPE, text=True)
    try:
        assert impostor.stdout.readline() == "ready\n"
        for words in (["unlock"], ["on", "--on-demand", "--login-password-fd", "0"], ["off", "--login-password-fd", "0"]):
            process = start("keyring", *words, "--json", secret=f"{PASSWORD}\n".encode())
            # Where the service asks before the socket is found out.
            lay("right", asking=process)
            out, err = process.communicate(timeout=120)
            said = json.loads(out.decode().splitlines()[-1])
            assert process.returncode != 0 and said["error"]["code"] == "noKeyring", (words, out, err)
            assert status() == "ownPassword", words
    finally:
        impostor.terminate()
        got = impostor.communicate(timeout=10)[0]
        control = pathlib.Path("/run/user/1000/keyring/control")
        control.unlink()
        pathlib.Path(f"{control}.real").rename(control)
    assert all(int(line) == 0 for line in got.split()), got


def test_turned_off_it_has_the_login_password_again():
    process = start("keyring", "off", "--login-password-fd", "0", "--json", secret=f"{PASSWORD}\n".encode())
    lay("right")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, (out, err)
    assert status() == "off"
    assert "b false" in login(typed, LOCKED), "by GNOME's own module"
    assert "b true" in login(touched, LOCKED)
    profiles()


@nightly("turns it on and off once more")
def test_recovery_sheet_opens_a_keyring_without_the_chip():
    child = on_a_terminal("on", "--on-demand", "--sheet")
    shown = turn_on(child)
    assert ended(child)[0] == 0
    assert shown != password, "the former one"
    end_keyring()
    assert is_locked()
    child = on_a_terminal("off", "--from-sheet")
    for prompt, answer in (("Login password: ", PASSWORD), ("Repeat the login password: ", PASSWORD), ("recovery sheet: ", shown)):
        child.expect_exact(prompt)
        child.send(f"{answer}\r")
    code, text = ended(child)
    assert code == 0, text
    assert status() == "off"
    assert "b false" in login(typed, LOCKED)
