# SPDX-License-Identifier: Apache-2.0
"""Prompts of confined programs, with the name and icon that their packages have installed."""

import json
import os
import pathlib
import select
import socket
import subprocess
import threading
import unittest

from access import parts
from desk import SOCKET, Agent, Screen, Service, end, until, whorl
from service import Folder

PACKAGE = "org.example.Vault"
# As the service reports it.
ID = f"flatpak.{PACKAGE}"
FLATPAK = pathlib.Path("/var/lib/flatpak")


def names():
    return [part.name for part in parts()]


class Confining(Folder):
    """Stands between programs and the service, and says to the agent that a package is asking, as the service says it."""

    def __init__(self, target):
        super().__init__()
        self.target, self.package = target, ID
        self.accepting(lambda client: threading.Thread(target=self.serve, args=(client,), daemon=True).start())

    def serve(self, client):
        server = socket.socket(socket.AF_UNIX)
        server.connect(self.target)
        others, isAgent, rest = {client: server, server: client}, False, b""
        while True:
            for end in select.select(list(others), [], [])[0]:
                got, descriptors, _, _ = socket.recv_fds(end, 1 << 16, 8)
                if not got:
                    client.close()
                    server.close()
                    return
                isAgent = isAgent or b"io.whorl.Agent.Register" in got
                if isAgent and end is server:
                    *messages, rest = (rest + got).split(b"\0")
                    got = b"".join(self.changed(message) + b"\0" for message in messages)
                if got:
                    socket.send_fds(others[end], [got], descriptors)
                for descriptor in descriptors:
                    os.close(descriptor)

    def changed(self, message):
        said = json.loads(message)
        prompt = (said.get("parameters") or {}).get("prompt")
        if prompt and self.package:
            prompt["prompt"]["asker"] = {"user": 0, "confinedAs": self.package}
            prompt["prompt"]["title"] = f"Confined program {self.package}"
        return json.dumps(said).encode()


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # The tests have their own mount namespace (see Desktop/test).
        FLATPAK.mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "flatpak", str(FLATPAK)], check=True)
        cls.entry = FLATPAK / "exports/share/applications" / f"{PACKAGE}.desktop"
        cls.entry.parent.mkdir(parents=True)
        cls.icon = FLATPAK / "exports/share/icons/hicolor/64x64/apps" / f"{PACKAGE}.png"
        cls.icon.parent.mkdir(parents=True)
        subprocess.run(["convert", "-size", "64x64", "xc:#12ab34", str(cls.icon)], check=True)
        cls.screen, cls.service = Screen(), Service()
        enrolling = whorl("enroll", "right-index-finger")
        cls.service.lay("right", 6, asking=enrolling)
        assert end(enrolling)[0] == 0
        cls.relay = Confining(cls.service.path)
        os.unlink(SOCKET)
        os.symlink(cls.relay.path, SOCKET)

    @classmethod
    def tearDownClass(cls):
        cls.relay.close()
        cls.service.close()
        cls.screen.close()
        subprocess.run(["umount", "--lazy", str(FLATPAK)], check=True)

    def setUp(self):
        self.agent = Agent(self.screen, self.service)
        self.addCleanup(self.agent.close)
        self.entry.unlink(missing_ok=True)
        self.relay.package = ID

    def ask(self):
        process = whorl("evaluate", "--reason", "open the vault")
        self.addCleanup(lambda: process.poll() is None and process.kill())
        self.screen.window()
        return process

    def green(self):
        """The number of pixels in the icon's color."""
        width, height = self.screen.size()
        rows = self.screen.pixels(0, 0, width, height)
        return sum(1 for row in rows for color in row if color == (0x12, 0xAB, 0x34))

    def finish(self, process):
        self.service.lay("right", asking=process)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, (out, err))
        until(lambda: not self.screen.windows(), "the window's end")

    def test_package_is_shown_by_name_and_icon_and_by_its_id(self):
        self.entry.write_text(f"[Desktop Entry]\nType=Application\nName=Vault of the Example\nName[de]=Beispieltresor\nIcon={PACKAGE}\n")
        process = self.ask()
        until(lambda: "Vault of the Example" in names(), "the name")
        self.assertTrue(any(PACKAGE in name for name in names()), names())
        until(lambda: self.green() > 2000, "the icon")
        self.finish(process)

    def test_package_without_a_desktop_file_is_shown_by_its_id_alone(self):
        process = self.ask()
        until(lambda: any(PACKAGE in name for name in names()), "the id")
        self.assertEqual(self.green(), 0)
        self.finish(process)

    def test_damaged_desktop_files_name_nothing(self):
        for text in ("", "[Desktop Entry]\nName=\n", "[Desktop Entry]\nName=\u202e\u200b\n", "x" * 300_000, f"[Desktop Entry]\nIcon={PACKAGE}\n"):
            with self.subTest(text[:40]):
                self.entry.write_text(text)
                process = self.ask()
                until(lambda: any(PACKAGE in name for name in names()), "the id")
                self.assertEqual(self.green(), 0)
                self.finish(process)

    def test_icon_that_is_none_or_too_large_is_not_shown_and_stalls_nothing(self):
        self.entry.write_text("[Desktop Entry]\nName=Vault of the Example\n")
        small = self.icon.read_bytes()

        def pipe():
            self.icon.unlink()
            os.mkfifo(self.icon)

        def huge():
            subprocess.run(["convert", "-size", "4000x4000", "xc:#12ab34", str(self.icon)], check=True)

        for make in (pipe, huge, lambda: self.icon.write_bytes(small[:30]), lambda: self.icon.write_bytes(small + b"x" * 300_000), lambda: self.icon.write_bytes(b"<svg/>")):
            make()
            try:
                process = self.ask()
                until(lambda: "Vault of the Example" in names(), "the name")
                self.assertEqual(self.green(), 0)
                self.finish(process)
            finally:
                self.icon.unlink()
                self.icon.write_bytes(small)

    def test_program_that_is_no_package_has_no_name_but_its_own(self):
        self.entry.write_text(f"[Desktop Entry]\nName=Vault of the Example\nIcon={PACKAGE}\n")
        for package in (None, PACKAGE, "snap.vault.app", f"flatpak.../{PACKAGE}", "../org.example.Vault", f"{PACKAGE}/../{PACKAGE}", f"{PACKAGE}.desktop", "x" * 300):
            with self.subTest(package):
                self.relay.package = package
                process = self.ask()
                until(lambda: "open the vault" in names(), "the reason")
                self.assertNotIn("Vault of the Example", names())
                self.assertEqual(self.green(), 0)
                self.finish(process)
