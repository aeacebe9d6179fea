# SPDX-License-Identifier: Apache-2.0
"""The kiosk's screen in a booted system: its keyboard, what it says in the journal, and pictures of it."""

import fcntl
import os
import pathlib
import pwd
import struct
import subprocess
import time

# Codes of the kernel's keys, of an American keyboard.
F2 = "\uf002"
KEYS = {"\n": 28, "\x1b": 1, "-": 12, ".": 52, F2: 60}
LETTERS = "qwertyuiopasdfghjklzxcvbnm"
for first, row in ((2, "1234567890"), (16, LETTERS[:10]), (30, LETTERS[10:19]), (44, LETTERS[19:])):
    KEYS.update({key: first + place for place, key in enumerate(row)})

CTRL, ALT, SYSRQ, DELETE, UP, LEFT, RIGHT = 29, 56, 99, 111, 103, 105, 106
# Power, sleep, suspend, and the second power and restart keys of some keyboards.
POWER_KEYS = (116, 142, 205, 0x164, 0x198)
FUNCTIONS = (*range(59, 69), 87, 88)


class Keyboard:
    """A keyboard of the machine's seat, made by the kernel's uinput."""

    EV_SYN, EV_KEY = 0, 1
    UI_SET_EVBIT, UI_SET_KEYBIT, UI_DEV_CREATE = 0x40045564, 0x40045565, 0x5501

    def __init__(self):
        self.device = os.open("/dev/uinput", os.O_WRONLY)
        fcntl.ioctl(self.device, self.UI_SET_EVBIT, self.EV_KEY)
        for code in (*range(1, 249), *POWER_KEYS):
            fcntl.ioctl(self.device, self.UI_SET_KEYBIT, code)
        name = b"kiosk's keyboard"
        os.write(self.device, struct.pack("80sHHHHI", name, 3, 1, 1, 1, 0) + bytes(4 * 4 * 64))
        fcntl.ioctl(self.device, self.UI_DEV_CREATE)
        subprocess.run(["udevadm", "settle"], check=True)

    def type(self, text):
        for key in text:
            self.press(KEYS[key])

    def press(self, *codes, seconds=0.03):
        """Presses keys one after the other, holds them, and lets them go."""
        for value, keys in ((1, codes), (0, codes[::-1])):
            for code in keys:
                for event in ((self.EV_KEY, code, value), (self.EV_SYN, 0, 0)):
                    os.write(self.device, struct.pack("llHHi", 0, 0, *event))
                time.sleep(0.03)
            time.sleep(seconds)


class Kiosk:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.keyboard = Keyboard()
        self.log = pathlib.Path("/run/kiosk.log")
        self.reader = subprocess.Popen(
            ["journalctl", "--boot", "--identifier", "kiosk", "--follow", "--lines", "all", "--output", "cat"],
            stdout=open(self.log, "wb"),
        )
        self.seen = 0

    def pages(self):
        lines = self.log.read_text(errors="replace").splitlines()
        return [line for line in lines if line.startswith(("kiosk-greeter: page=", "kiosk-greeter: keys="))]

    def sees(self, *texts, seconds=90):
        """Waits for a page that says so, after the one that was seen last."""
        return self.sees_one(texts, seconds=seconds)

    def sees_one(self, *choices, seconds=90):
        """Waits for a page that says one of several things."""
        deadline = time.monotonic() + seconds
        while True:
            pages = self.pages()
            for place in range(self.seen, len(pages)):
                if any(all(text in pages[place] for text in texts) for texts in choices):
                    self.seen = place + 1
                    return pages[place]
            assert time.monotonic() < deadline, (choices, pages[-6:], self.log.read_text(errors="replace")[-1500:])
            time.sleep(0.1)

    def forget(self):
        """Waits only for pages that come from here on."""
        self.seen = len(self.pages())

    def types(self, text):
        self.keyboard.type(text)

    def picture(self, name, user="_greetd"):
        """Takes a picture of the screen, when it has been drawn; it belongs to the greeter's user or a session's."""
        time.sleep(1)
        place = pathlib.Path(f"/run/user/{pwd.getpwnam(user).pw_uid}")
        display = next(path.name for path in place.glob("wayland-*") if not path.name.endswith(".lock"))
        made = subprocess.run(
            ["runuser", "-u", user, "--", "env", f"XDG_RUNTIME_DIR={place}", f"WAYLAND_DISPLAY={display}", "grim", "-"],
            capture_output=True,
            timeout=60,
        )
        assert made.returncode == 0 and made.stdout[:4] == b"\x89PNG", made.stderr
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / f"{name}.png").write_bytes(made.stdout)
