# SPDX-License-Identifier: Apache-2.0
"""Programs that people use, as Debian has them, each of which needs an item of the locked keyring: one touch is enough.

secret-tool and Python's keyring are in test_keyring.py.
"""

import http.server
import pathlib
import shlex
import subprocess
import tempfile
import threading
import time
import unittest

from desk import until
from test_keyring import Desk

LIBSECRET = "/usr/share/doc/git/contrib/credential/libsecret/git-credential-libsecret.c"
# Presses the button beside the name of a keyring, with a lock on it, in the list at seahorse's side.
PRESS_LOCK = """
import gi
gi.require_version("Atspi", "2.0")
from gi.repository import Atspi

def parts(part):
    yield part
    for index in range(part.get_child_count()):
        yield from parts(part.get_child_at_index(index))

desktop = Atspi.get_desktop(0)
for index in range(desktop.get_child_count()):
    for row in parts(desktop.get_child_at_index(index)):
        inside = list(parts(row)) if row.get_role_name() == "list item" else []
        if any(part.get_name() == "Login" for part in inside):
            [button] = [part for part in inside if part.get_role_name() == "push button"]
            print(button.get_action_iface().do_action(0))
            raise SystemExit
"""


class Site:
    """A website that gives each browser a cookie, and collects those that come back."""

    def __init__(self):
        site, self.cookies = self, []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                if self.path == "/page":
                    site.cookies.append(self.headers.get("Cookie"))
                self.send_response(200)
                self.send_header("Set-Cookie", "known=yes; Max-Age=100000")
                self.send_header("Content-Length", "5")
                self.end_headers()
                self.wfile.write(b"hello")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/page"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Watch:
    """Counts calls on the session bus."""

    def __init__(self, rule):
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(["dbus-monitor", "--session", f"type='method_call',{rule}"], stdout=self.log)
        # The bus has taken the rule when it says that the monitor has lost its name.
        until(lambda: "member=NameLost" in self.read(), "the watch")

    def read(self):
        self.log.seek(0)
        return self.log.read()

    def count(self):
        return self.read().count("method call ")

    def close(self):
        self.process.kill()
        self.process.wait()
        self.log.close()


class Clients(Desk):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = tempfile.TemporaryDirectory(prefix="clients.")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.helper = str(pathlib.Path(cls.folder.name) / "git-credential-libsecret")
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libsecret-1"], capture_output=True, text=True, check=True).stdout
        subprocess.run(["cc", "-o", cls.helper, LIBSECRET, *shlex.split(flags)], check=True)

    def setUp(self):
        super().setUp()
        self.keyring = self.start()

    def run_program(self, *words, text=b""):
        """Starts a program in the daemon's session."""
        environment = {**self.daemon.environment, "DISPLAY": self.screen.name, "GDK_BACKEND": "x11", "GIT_TERMINAL_PROMPT": "0"}
        process = subprocess.Popen(words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        process.stdin.write(text)
        process.stdin.close()
        process.stdin = None
        return process

    def touch_opens(self, program):
        """Sees that the program waits until a finger was laid on the reader, once."""
        self.screen.window()
        self.assertIsNone(program.poll())
        self.service.lay("right", asking=program)

    def git(self, verb, text):
        return self.run_program("git", "-c", f"credential.helper={self.helper}", "credential", verb, text=text)

    def store_for_git(self):
        storing = self.git("approve", b"protocol=https\nhost=example.org\nusername=ada\npassword=engine\n\n")
        self.assertEqual((storing.communicate(timeout=60), storing.returncode), ((b"", b""), 0))

    def fill(self):
        return self.git("fill", b"protocol=https\nhost=example.org\n\n")

    def filled(self, filling):
        self.assertIn(b"username=ada\npassword=engine\n", filling.communicate(timeout=60)[0])
        self.assertEqual(filling.returncode, 0)

    def test_git_gets_its_password_after_one_touch(self):
        self.store_for_git()
        self.daemon.lock()
        filling = self.fill()
        self.touch_opens(filling)
        self.filled(filling)
        self.gone()

    def browse(self, site):
        """Opens the site's page in Chromium, whose cookies are encrypted with a key in the keyring."""
        return self.run_program(
            "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--password-store=gnome-libsecret",
            f"--user-data-dir={self.folder.name}/{site.server.server_port}", "--dump-dom", site.address,
        )

    def browsed(self, browser):
        out, err = browser.communicate(timeout=120)
        self.assertIn(b"hello", out, err)

    def test_chromium_decrypts_its_cookies_after_one_touch(self):
        site = Site()
        self.addCleanup(site.close)
        self.browsed(self.browse(site))
        with self.daemon.tool("search", "--all", "application", "chromium") as searching:
            self.assertIn(b"Chromium Safe Storage", searching.stdout.read())
        self.daemon.lock()
        browser = self.browse(site)
        self.touch_opens(browser)
        self.browsed(browser)
        self.assertEqual(site.cookies, [None, "known=yes"])
        self.gone()

    def test_chromium_git_and_secret_tool_share_one_touch(self):
        site = Site()
        self.addCleanup(site.close)
        self.store_for_git()
        self.browsed(self.browse(site))
        self.daemon.lock()
        watch = Watch("interface='org.freedesktop.Secret.Prompt',member='Prompt'")
        self.addCleanup(watch.close)
        filling, browser, looking = self.fill(), self.browse(site), self.daemon.look()
        # Chromium reads its key a moment after its start.
        until(lambda: watch.count() == 3, "the question of the third program", 60)
        self.assertEqual(len(self.screen.windows()), 1)
        self.touch_opens(filling)
        self.filled(filling)
        self.browsed(browser)
        self.ended(looking)
        self.assertEqual(site.cookies, [None, "known=yes"])
        self.gone()

    def seahorse(self):
        """Starts seahorse, and presses its button for the login keyring."""
        pressing = ["/usr/bin/python3", "-W", "ignore", "-c", PRESS_LOCK]
        # On a busy machine, its list has sometimes stayed without keyrings.
        for _ in range(4):
            seahorse = self.run_program("seahorse")
            for _ in range(20):
                if subprocess.run(pressing, capture_output=True, text=True, timeout=60).stdout == "True\n":
                    return seahorse
                time.sleep(0.5)
            seahorse.kill()
            seahorse.communicate()
        self.fail("seahorse shows no keyring")

    def test_seahorse_opens_the_keyring_with_one_touch(self):
        self.daemon.lock()
        self.touch_opens(self.seahorse())
        until(lambda: not self.daemon.is_locked(), "the open keyring")
        self.gone()


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
