# SPDX-License-Identifier: Apache-2.0
"""A greetd that says what a test wants, and a kiosk's screen before it (Xvfb)."""

import json
import os
import pathlib
import socket
import struct
import subprocess
import tempfile
import time

GREETER = os.environ["KIOSK_GREETER"]


class Display:
    def __init__(self):
        read, write = os.pipe()
        self.server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x720x24", "-nolisten", "tcp"],
            pass_fds=[write], stderr=subprocess.DEVNULL,
        )
        os.close(write)
        with open(read) as line:
            self.name = ":" + line.readline().strip()

    def close(self):
        self.server.kill()
        self.server.wait()


class Greetd:
    """The socket, with the greeter as its client."""

    def __init__(self, display, files={}):
        self.display = display
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kiosk-"))
        for name, text in {"kiosk.conf": "Command=our-app\n", **files}.items():
            if text is not None:
                (self.folder / name).write_text(text)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.folder / "greetd.sock"))
        self.listener.listen()
        self.log = self.folder / "log"
        self.greeter = subprocess.Popen(
            [GREETER, "--configuration", str(self.folder)],
            env={
                "PATH": os.environ["PATH"], "HOME": str(self.folder), "DISPLAY": display.name, "GDK_BACKEND": "x11",
                "XDG_RUNTIME_DIR": str(self.folder), "GREETD_SOCK": str(self.folder / "greetd.sock"), "LANG": "C.UTF-8",
            },
            stderr=open(self.log, "wb"),
        )
        self.listener.settimeout(60)
        self.client, _ = self.listener.accept()
        self.client.settimeout(30)
        self.seen = 0

    def tool(self, *words):
        subprocess.run(["xdotool", *words], check=True, capture_output=True, env={**os.environ, "DISPLAY": self.display.name})

    def focus(self):
        deadline = time.monotonic() + 30
        while True:
            found = subprocess.run(
                ["xdotool", "search", "--onlyvisible", "--name", "^Kiosk$"],
                capture_output=True, text=True, env={**os.environ, "DISPLAY": self.display.name},
            ).stdout.split()
            if found:
                return self.tool("windowfocus", "--sync", found[-1])
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.05)

    def types(self, text, *keys):
        self.focus()
        if text:
            self.tool("type", "--delay", "15", text)
        self.tool("key", *(keys or ["Return"]))

    def asked(self):
        """Returns the next request."""
        head = self.take(4)
        return json.loads(self.take(struct.unpack("=I", head)[0]))

    def take(self, count):
        data = b""
        while len(data) < count:
            part = self.client.recv(count - len(data))
            assert part, self.log.read_text()
            data += part
        return data

    def says(self, kind, slowly=False, **fields):
        text = json.dumps({"type": kind, **fields}).encode()
        self.sends(struct.pack("=I", len(text)) + text, slowly)

    def sends(self, data, slowly=False):
        for place in range(0, len(data), 1 if slowly else len(data)):
            self.client.sendall(data[place:place + 1] if slowly else data)

    def sentence(self, kind, text, **options):
        self.says("auth_message", auth_message_type=kind, auth_message=text, **options)

    def sees(self, *texts, seconds=30):
        """Waits for a page that says so, after the one that was seen last."""
        deadline = time.monotonic() + seconds
        while True:
            pages = [line for line in self.log.read_text().splitlines() if " page=" in line]
            for place in range(self.seen, len(pages)):
                if all(text in pages[place] for text in texts):
                    self.seen = place + 1
                    return
            assert time.monotonic() < deadline, (texts, self.log.read_text())
            time.sleep(0.02)

    def ended(self):
        return self.greeter.wait(30)

    def close(self):
        if self.greeter.poll() is None:
            self.greeter.kill()
            self.greeter.wait()
        self.client.close()
        self.listener.close()
        subprocess.run(["rm", "-rf", str(self.folder)], check=True)
