# SPDX-License-Identifier: Apache-2.0
# Docs/Security.md: S55
"""Lockers on a screen of sway's that no one sees, with keys from wtype: a touch after Enter, a password, and what unlocks nothing.

SYSTEM_PACKAGES="sway swaylock wtype" scripts/test-system installs what these tests need, as `make nightly` does. With
GUEST_RELEASE=trixie (Debian 13) and gtklock among the packages, they also test gtklock.
"""

import json
import pathlib
import shlex
import subprocess
import time

from people import clear_lockout, command, forgive, lay, lock, profiles, reader_waits, sit
from run import only_where
from test_j_lockers import records
from test_j_logins import PASSWORD
from test_j_polkit import over_ssh

RUN = "/run/user/1000"
DISPLAY = "wayland-1"
MARK = pathlib.Path(f"{RUN}/screen-is-locked")
# The lockers, and how each is started so that a child of it goes on, and makes the file MARK when the screen is locked.
LOCKERS = {
    name: command
    for name, command in {
        "swaylock": ("sh", "-c", f"swaylock -f -u && touch {MARK}"), "gtklock": ("gtklock", "-d", "-L", f"touch {MARK}", "-U", f"rm {MARK}"),
    }.items()
    if pathlib.Path(f"/usr/bin/{name}").exists()
}
# No device is needed, and gtklock needs 650x353 pixels. A small picture is drawn quickly without a graphics card.
SWAY = {"XDG_RUNTIME_DIR": RUN, "WLR_BACKENDS": "headless", "WLR_LIBINPUT_NO_DEVICES": "1", "WLR_RENDERER": "pixman"}
CONFIG = f"""\
output HEADLESS-1 resolution 800x600
exec touch {RUN}/sway-is-ready
"""
with_sway = only_where("/usr/bin/wtype", "only with SYSTEM_PACKAGES=\"sway swaylock wtype\", as in make nightly")
sway = None


def each_locker(test):
    """Runs a test with each locker that is installed."""

    def run():
        assert LOCKERS
        for name in LOCKERS:
            print(f"        {name}", flush=True)
            test(name)

    return with_sway(run)


def graphical(*words, **more):
    """A program of owner's in the session at the seat, on sway's screen."""
    settings = [f"XDG_RUNTIME_DIR={RUN}", f"WAYLAND_DISPLAY={DISPLAY}", *(f"{key}={value}" for key, value in more.items())]
    return subprocess.Popen(command("owner", "env", *settings, *words), preexec_fn=lambda: sit("owner"))


def wait(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.1)


def is_locked():
    return subprocess.run(["pgrep", "-x", "|".join(LOCKERS)], capture_output=True).returncode == 0


def press(*keys):
    """Presses keys. The keyboard is a new one each time, and gets the focus a moment after it was connected.

    The last key does nothing: GTK 3 finds no binding of the last key of a keyboard, such as Return's in gtklock.
    """
    assert graphical("wtype", "-s", "3000", *keys, "-k", "F13", "-s", "1000").wait(30) == 0


class Locked:
    """A locker, which ends when the screen is unlocked. The session says that it is locked, as swayidle would have it do."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        lock(True)
        MARK.unlink(missing_ok=True)
        graphical(*LOCKERS[self.name]).wait(60)
        wait(MARK.exists)
        return self

    def press_enter(self):
        press("-k", "Return")

    def password(self, text=PASSWORD):
        press(text, "-k", "Return")

    def touch_unlocks(self):
        """Presses Enter and touches the reader, again if the service took longer than PAM waits, on a busy machine."""
        for tries in range(4):
            self.press_enter()
            try:
                wait(reader_waits, 20)
                lay("right")
                return self.unlocks(20)
            except AssertionError:
                if tries == 3:
                    raise

    def unlocks(self, seconds=60):
        wait(lambda: not is_locked(), seconds)
        # gtklock says that it has not only ended; the screen stays locked after a crash.
        if self.name == "gtklock":
            wait(lambda: not MARK.exists(), 10)

    def refuses(self, action, records=None):
        """Sees that the screen stays locked after something that adds to the records of its failure, if there are any."""
        before = len(records()) if records else 0
        action()
        if records:
            wait(lambda: len(records()) > before)
        # Keys are ignored until PAM has answered, which it delays after a failure.
        time.sleep(10)
        assert is_locked()

    def __exit__(self, *failure):
        lock(False)
        if is_locked():
            # Ends swaylock as after a password; another locker takes over from a gtklock that has ended.
            subprocess.run(["pkill", "-USR1", "-x", self.name], check=True)
            wait(lambda: not is_locked())


def refusals():
    """The passwords that PAM has refused, one line for each."""
    subprocess.run(["journalctl", "--sync"], check=True)
    words = ["journalctl", "-o", "cat", "-t", "unix_chkpwd", "-g", "password check failed for user .owner"]
    return subprocess.run(words, capture_output=True, text=True).stdout.splitlines()


def outcomes():
    """What the service answered to lockers that run as their user, one word for each."""
    subprocess.run(["journalctl", "--sync"], check=True)
    words = ["journalctl", "-o", "json", "--output-fields=WHORL_OUTCOME", "WHORL_METHOD=io.whorl.Login.UnlockScreen"]
    lines = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    return [json.loads(line)["WHORL_OUTCOME"] for line in lines]


@with_sway
def test_sway_shows_a_screen():
    global sway
    profiles("whorl")
    clear_lockout()
    pathlib.Path("/home/owner/sway.conf").write_text(CONFIG)
    sway = graphical("sway", "-c", "/home/owner/sway.conf", **SWAY)
    wait(lambda: pathlib.Path(f"{RUN}/sway-is-ready").exists())


@each_locker
def test_locker_under_sway_is_unlocked_by_a_touch(name):
    with Locked(name) as screen:
        screen.touch_unlocks()
    assert outcomes()[-1] == "done" and name in records().splitlines()[-1], records()


@each_locker
def test_locker_under_sway_is_unlocked_by_a_typed_password_without_a_word_to_the_service(name):
    before = records()
    with Locked(name) as screen:
        screen.password()
        screen.unlocks()
    assert records() == before


@each_locker
def test_locker_under_sway_stays_locked_after_a_wrong_finger_and_a_wrong_password(name):
    with Locked(name) as screen:
        before = len(outcomes())

        def touch_wrongly():
            screen.press_enter()
            lay("left", 3)

        screen.refuses(touch_wrongly, outcomes)
        assert "done" not in outcomes()[before:]
        screen.refuses(lambda: screen.password("not-it"), refusals)
        screen.password()
        screen.unlocks()
    forgive()


@each_locker
def test_locker_under_sway_stays_locked_when_the_service_is_killed_while_it_waits(name):
    with Locked(name) as screen:

        def kill():
            screen.press_enter()
            wait(reader_waits)
            subprocess.run(["systemctl", "kill", "--signal", "SIGKILL", "whorld.service"], check=True)

        screen.refuses(kill)
        screen.password()
        screen.unlocks()
    with Locked(name) as screen:
        screen.touch_unlocks()
    forgive()


@each_locker
def test_locker_under_sway_started_over_ssh_takes_no_touch(name):
    before = len(outcomes())
    with over_ssh() as shell:
        MARK.unlink(missing_ok=True)
        shell.sendline(f"XDG_RUNTIME_DIR={RUN} WAYLAND_DISPLAY={DISPLAY} {shlex.join(LOCKERS[name])}")
        wait(MARK.exists)
        Locked(name).refuses(lambda: press("-k", "Return"))
        press(PASSWORD, "-k", "Return")
        Locked(name).unlocks()
    assert "done" not in outcomes()[before:]


@with_sway
def test_sway_leaves_nothing_behind():
    sway.terminate()
    sway.wait(30)
    profiles()
