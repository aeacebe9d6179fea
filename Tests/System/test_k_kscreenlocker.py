# SPDX-License-Identifier: Apache-2.0
"""KDE's lock screen, which its program shows in a window for tests: a typed password ends it, and a wrong one does not.

Plasma 5 calls PAM only for the password; Plasma 6 also calls kde-fingerprint (test_j_lockers), and was not tried here.

SYSTEM_PACKAGES="libkscreenlocker5 plasma-workspace plasma-framework xvfb xdotool openbox fonts-dejavu-core" scripts/test-system
installs what this test needs, as `make nightly` does.
"""

import glob
import pathlib
import subprocess
import time

from people import clear_lockout, command, lock, profiles, sit
from run import only_where
from test_j_lockers import FILES
from test_j_logins import PASSWORD
from test_j_sway import outcomes, refusals, wait

RUN, DISPLAY = "/run/user/1000", ":8"
GREETER = next(iter(glob.glob("/usr/lib/*/libexec/kscreenlocker_greet")), "/usr/libexec/kscreenlocker_greet")
SESSION = {
    "XDG_RUNTIME_DIR": RUN, "DBUS_SESSION_BUS_ADDRESS": f"unix:path={RUN}/bus", "DISPLAY": DISPLAY, "QT_QPA_PLATFORM": "xcb",
    "QT_QUICK_BACKEND": "software", "LANG": "C.UTF-8",
}
LOG = pathlib.Path("/tmp/kscreenlocker.log")
with_greeter = only_where(GREETER, "only with the SYSTEM_PACKAGES that the test's file names, as in make nightly")


def graphical(*words):
    """Starts a program of owner's in the session at the seat, on the display."""
    log = LOG.open("ab")
    settings = [f"{key}={value}" for key, value in SESSION.items()]
    return subprocess.Popen(
        command("owner", *settings, *words), stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=lambda: sit("owner")
    )


def xdotool(*words):
    return graphical("xdotool", *words).wait(60)


class Greeter:
    """The lock screen, in a session that says that it is locked."""

    def __enter__(self):
        lock(True)
        LOG.write_bytes(b"")
        self.process = graphical(GREETER, "--testing")
        # It says this when its screen is shown.
        wait(lambda: b"Locked at" in LOG.read_bytes(), 180)
        time.sleep(5)
        # It asks for nothing before a key is pressed.
        xdotool("key", "Shift_L")
        return self

    def password(self, text=PASSWORD):
        time.sleep(3)
        xdotool("type", "--delay", "100", text)
        xdotool("key", "Return")

    def ends(self):
        assert self.process.wait(120) == 0, LOG.read_text()

    def refuses(self, password):
        before = len(refusals())
        self.password(password)
        wait(lambda: len(refusals()) > before)
        # PAM's delay, and the window's, after a failure.
        time.sleep(10)
        assert self.process.poll() is None, LOG.read_text()

    def __exit__(self, *failure):
        lock(False)
        if failure[0]:
            print(LOG.read_text(), flush=True)
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)


@with_greeter
def test_kdes_lock_screen_ends_after_a_typed_password_and_not_after_a_wrong_one():
    profiles("whorl")
    clear_lockout()
    stack = pathlib.Path("/etc/pam.d/kde")
    stack.write_text(FILES["kde"])
    LOG.touch()
    LOG.chmod(0o666)
    sockets = pathlib.Path("/tmp/.X11-unix")
    sockets.mkdir(exist_ok=True)
    sockets.chmod(0o1777)
    programs = [graphical("Xvfb", DISPLAY, "-screen", "0", "800x600x24", "-nolisten", "tcp", "-noreset")]
    try:
        wait((sockets / "X8").exists)
        programs.append(graphical("openbox"))
        before = len(outcomes())
        with Greeter() as greeter:
            greeter.password()
            greeter.ends()
        with Greeter() as greeter:
            greeter.refuses("not-it")
            greeter.password()
            greeter.ends()
        # The password was checked without a word to the service.
        assert len(outcomes()) == before
    finally:
        for program in reversed(programs):
            program.terminate()
            program.wait(60)
        stack.unlink()
        profiles()
