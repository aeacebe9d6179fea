# SPDX-License-Identifier: Apache-2.0
"""What people do at the kiosk that set_up.py has made, for the tests beside this file."""

import os
import pathlib
import pwd
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

from people import lay
from screen import Kiosk
from whorl_client import Client

TOUCH = "Swipe your finger across the reader."
UNABLE = "Touch is not available"
LEAVE = pathlib.Path("/run/leave")
kiosk = Kiosk(HERE.parent / "out")


def arrived(user):
    place = pathlib.Path(f"/tmp/arrived.{user}")
    return place.read_text().split() if place.exists() else None


def asks(*texts):
    kiosk.sees("page=ask", *texts)


def begins(typed):
    """Types a name or a number, and waits until a touch is asked for.

    On an emulated processor the service's first word can take longer than a login waits for it; then it is typed again.
    """
    deadline = time.monotonic() + 300
    while True:
        kiosk.forget()
        kiosk.types(f"{typed}\n")
        if TOUCH in kiosk.sees_one(("page=wait", TOUCH), ("page=ask", UNABLE)):
            return
        assert time.monotonic() < deadline, f"no touch was asked for: {typed}"
        wakes()


def arrives(user):
    deadline = time.monotonic() + 60
    while not arrived(user):
        assert time.monotonic() < deadline, (user, kiosk.pages()[-3:])
        time.sleep(0.1)
    time.sleep(0.2)
    assert arrived(user) == [user, "tty7", "user"], arrived(user)


def asks_again():
    """Waits for the screen of a greeter that was just started."""
    asks()
    kiosk.sees("keys=taken")


def leaves(user):
    kiosk.forget()
    LEAVE.touch()
    asks_again()
    assert not arrived(user)
    LEAVE.unlink()


def no_one_is_in():
    assert not list(pathlib.Path("/tmp").glob("arrived.*"))


def wakes():
    """Starts the service and has it ask for a touch: on an emulated processor the first time takes longer than a login waits."""
    subprocess.run(["systemctl", "start", "whorld.service"], check=True)
    asked = {"user": pwd.getpwnam("owner").pw_uid, "service": "greetd", "terminal": "/dev/tty7", "timeoutMilliseconds": 60000}
    with Client() as client:
        client.send("io.whorl.Login.Verify", asked, more=True)
        assert "message" in client.receive()["parameters"]


def restart(reader=True):
    """Starts the service again, with its reader or with none."""
    place = pathlib.Path("/etc/systemd/system/whorld.service.d/none.conf")
    if reader:
        place.unlink(missing_ok=True)
    else:
        place.write_text("[Service]\nUnsetEnvironment=FP_VIRTUAL_DEVICE\n")
    subprocess.run(["systemctl", "daemon-reload"], check=True)
    subprocess.run(["systemctl", "restart", "whorld.service"], check=True)
    if reader:
        wakes()


def lets_in(name, finger, user=None):
    """Opens a person's session by a touch, and ends it."""
    begins(name)
    lay(finger)
    arrives(user or name)
    leaves(user or name)


def begins_again():
    """Starts greetd again, which reads its files then."""
    kiosk.forget()
    subprocess.run(["systemctl", "restart", "greetd.service"], check=True)
