# SPDX-License-Identifier: Apache-2.0
"""A screen with the real service behind it: Xvfb or cage, whorld with a virtual reader and a simulated TPM, and whorl-prompt.

Requires root and a separate mount namespace with an empty /run/whorl (see Desktop/test).
"""

import json
import os
import pathlib
import socket
import subprocess
import sys
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY / "Library/Tests"), str(REPOSITORY / "Tests/System")]

import access
import service
import whorl_client

WHORL, PROMPT = os.environ["WHORL"], os.environ["WHORL_PROMPT"]
SETTINGS = str(pathlib.Path(PROMPT).with_name("whorl-settings"))
SOCKET = "/run/whorl/io.whorl"
NOBODY = 65534


def until(condition, what, seconds=30):
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < deadline, f"{what} did not come"
        time.sleep(0.02)


class Screen:
    """A screen of X11, in memory, with a keyboard."""

    def __init__(self, program="whorl-prompt"):
        self.program = program
        read, write = os.pipe()
        # Without -noreset it starts over when its last client has left, and refuses one that comes in that moment.
        self.server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", "1024x1400x24", "-nolisten", "tcp", "-noreset"],
            pass_fds=[write], stderr=subprocess.DEVNULL,
        )
        os.close(write)
        # The server ends where its whole line is not taken.
        with open(read) as line:
            self.name = ":" + line.readline().strip()

    def variables(self):
        """Returns the variables of a program that shows windows here."""
        return {"DISPLAY": self.name, "GDK_BACKEND": "x11"}

    def tool(self, *words):
        environment = {**os.environ, **self.variables()}
        return subprocess.run(["xdotool", *words], capture_output=True, text=True, env=environment)

    def windows(self):
        """Returns the program's windows that are shown."""
        return self.tool("search", "--onlyvisible", "--class", self.program).stdout.split()

    def window(self):
        return until(self.windows, "a window")[-1]

    def size(self):
        words = self.tool("getwindowgeometry", "--shell", self.window()).stdout.split()
        values = dict(word.split("=") for word in words)
        return int(values["WIDTH"]), int(values["HEIGHT"])

    def press(self, *keys):
        self.tool("windowfocus", "--sync", self.window())
        self.tool("key", *keys)

    def type(self, text):
        self.tool("windowfocus", "--sync", self.window())
        self.tool("type", "--delay", "20", text)

    def picture(self, path):
        environment = {**os.environ, **self.variables()}
        subprocess.run(["import", "-window", self.window(), str(path)], check=True, env=environment)

    def pixels(self, x, y, width, height):
        """Returns a part of the window as rows of colors; in less than a frame."""
        from Xlib import X, display

        connection = display.Display(self.name)
        try:
            window = connection.create_resource_object("window", int(self.window()))
            data = window.get_image(x, y, width, height, X.ZPixmap, 0xFFFFFFFF).data
        finally:
            connection.close()
        colors = [tuple(data[index + 2 : None if index == 0 else index - 1 : -1]) for index in range(0, len(data), 4)]
        return [colors[row * width : (row + 1) * width] for row in range(height)]

    def close(self):
        self.server.kill()
        self.server.wait()


class WaylandScreen:
    """A screen of Wayland, in memory: cage, which shows the newest window on all of it. It has no keyboard."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder) / "wayland"
        self.folder.mkdir(mode=0o700)
        # cage does not start as root.
        os.chown(self.folder, NOBODY, NOBODY)
        self.folder.parent.chmod(0o755)
        # What the compositor runs says where the others find the screen.
        tell = self.folder / "tell"
        tell.write_text(f"#!/bin/sh\necho $WAYLAND_DISPLAY >{self.folder}/telling\nmv {self.folder}/telling {self.folder}/name\nexec sleep infinity\n")
        tell.chmod(0o755)
        self.server = subprocess.Popen(
            ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *self.compositor(str(tell))],
            env={
                **os.environ, "XDG_RUNTIME_DIR": str(self.folder), "WLR_BACKENDS": "headless", "WLR_RENDERER": "pixman",
                "WLR_LIBINPUT_NO_DEVICES": "1",
            },
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        until((self.folder / "name").exists, "the screen of Wayland")
        self.name = (self.folder / "name").read_text().strip()

    def compositor(self, tell):
        """Returns the command that starts the compositor, and `tell` in it."""
        return ["cage", "--", tell]

    def variables(self):
        return {
            "XDG_RUNTIME_DIR": str(self.folder), "WAYLAND_DISPLAY": self.name, "GDK_BACKEND": "wayland", "DISPLAY": "",
        }

    def windows(self):
        return [part for part in access.parts() if part.role == "dialog"]

    def window(self):
        return until(self.windows, "a window")[-1]

    def picture(self, path):
        subprocess.run(["grim", str(path)], check=True, env={**os.environ, **self.variables()})

    def close(self):
        self.server.kill()
        self.server.wait()


class KeyboardScreen(WaylandScreen):
    """A screen of Wayland, in memory, with a keyboard: sway, which takes one of a program's (wtype)."""

    def __init__(self, folder):
        super().__init__(folder)
        # Windows get the keys of a seat that has a keyboard when they are shown.
        self.keyboard = subprocess.Popen(["wtype", "-s", "3600000"], env={**os.environ, **self.variables()})

    def close(self):
        self.keyboard.kill()
        self.keyboard.wait()
        super().close()

    def compositor(self, tell):
        configuration = self.folder / "sway"
        configuration.write_text(f"xwayland disable\nexec {tell}\n")
        return ["sway", "--config", str(configuration)]

    def keys(self, *words):
        self.window()
        # The window has the keys a moment after it is shown.
        time.sleep(0.5)
        subprocess.run(["wtype", *words], check=True, env={**os.environ, **self.variables()})

    def press(self, *keys):
        self.keys(*(word for key in keys for word in ("-k", key)))

    def type(self, text):
        self.keys("-d", "20", text)


class Service(service.Service):
    """whorld with a virtual reader, or another one, and a simulated TPM, at the path of the system's service."""

    def __init__(self, reader="virtual_device-0"):
        super().__init__(reader=reader)
        os.symlink(self.path, SOCKET)

    def variables(self):
        return {"FP_VIRTUAL_DEVICE": str(self.folder / "reader")}

    def lay(self, finger, times=1, asking=None):
        """Lays a finger on the reader, each time that it waits for one."""
        for _ in range(times):
            deadline = time.monotonic() + 30
            while True:
                try:
                    with socket.socket(socket.AF_UNIX) as reader:
                        reader.connect(str(self.folder / "reader"))
                        reader.sendall(f"SCAN {finger}".encode())
                    break
                except OSError:
                    if asking and asking.poll() is not None:
                        return
                    assert time.monotonic() < deadline, "the reader did not wait for a finger"
                    time.sleep(0.05)
            time.sleep(0.2)

    def close(self):
        os.unlink(SOCKET)
        super().close()


def whorl(*words, secret=None):
    """Starts whorl, which asks the service; nothing of it is shown on a terminal."""
    process = subprocess.Popen(
        [WHORL, *words, "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={"PATH": os.environ["PATH"], "HOME": "/root", "WHORL_SERVICE": "system"},
    )
    if secret is not None:
        process.stdin.write(secret)
    process.stdin.close()
    process.stdin = None
    return process


def end(process, seconds=60):
    """Returns the status of a command, and what it says last."""
    out, err = process.communicate(timeout=seconds)
    lines = out.decode().splitlines()
    return process.returncode, json.loads(lines[-1]) if lines else err.decode()


class Settings:
    """whorl-settings, with its window."""

    def __init__(self, screen, program=SETTINGS, **variables):
        self.process = subprocess.Popen([program], env={**os.environ, **screen.variables(), **variables})
        until(lambda: "Fingerprints" in access.names() or variables and access.names(), "the settings")

    def close(self):
        self.process.kill()
        self.process.wait(30)


class Agent:
    """whorl-prompt; it does not rest unless it is told to."""

    def __init__(self, screen, service, *words, program=PROMPT, **variables):
        self.log = open(service.folder / "agent.log", "w+")
        self.process = subprocess.Popen(
            [program, *(words or ("--idle", "0"))], stderr=self.log,
            env={**os.environ, **screen.variables(), **variables},
        )
        self.registered()

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def registered(self, times=1):
        until(lambda: self.said().count("Showing this session's prompts") >= times or self.process.poll() is not None, "the registration")
        assert self.process.poll() is None, self.said()

    def isResting(self):
        """Tells whether the program without GTK runs in the process."""
        return os.readlink(f"/proc/{self.process.pid}/exe").endswith("/whorl-prompt-wait")

    def rests(self):
        until(self.isResting, "the rest")

    def resident(self):
        """Returns the resident memory in KiB."""
        lines = open(f"/proc/{self.process.pid}/status").read().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))

    def memory(self):
        """Returns the resident memory, and the part of it that is this program's alone, in KiB."""
        sums = {}
        for line in open(f"/proc/{self.process.pid}/smaps_rollup"):
            words = line.split()
            if words[0].endswith(":"):
                sums[words[0][:-1]] = int(words[1])
        return f"{sums['Rss']} KiB resident, {sums['Private_Clean'] + sums['Private_Dirty']} of them its own, {sums['Anonymous']} written"

    def close(self):
        self.process.terminate()
        self.process.wait(30)
        self.log.close()
