# SPDX-License-Identifier: Apache-2.0
"""The keyring on demand: unmodified programs, gnome-keyring, whorl-keyring, the real service and whorl-prompt."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

import access
from desk import WHORL, Agent, Screen, Service, end, until, whorl
from prompter import LOGIN, PASSWORD, PROMPTER, SECRETS, Asker, Daemon, GLib, Keyring, Logind, call, dialogs, loop, owner

PASSCODE = "2468 hunter"
# In seconds; long enough for a slow machine to notice it.
PAUSE = 6


def shows(text):
    until(lambda: any(text in name for name in access.names()), text)


def turn_on(service, daemon, password=PASSWORD):
    """Has the service make the keyring's own password, and sets it in the keyring."""
    turning = subprocess.Popen(
        [WHORL, "keyring", "on", "--on-demand", "--login-password-fd", "0", "--json"], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**daemon.environment, "WHORL_SERVICE": "system"},
    )
    turning.stdin.write(password.encode() + b"\n")
    turning.stdin.close()
    turning.stdin = None
    service.lay("right", asking=turning)
    return end(turning)


class Desk(unittest.TestCase):
    """A screen, the service with a finger and a passcode, and the session's agent."""

    @classmethod
    def setUpClass(cls):
        loop()
        cls.service = Service()
        cls.addClassCleanup(cls.service.close)
        cls.screen = Screen()
        cls.addClassCleanup(cls.screen.close)
        enrolling = whorl("enroll", "right-index-finger")
        cls.service.lay("right", 6, asking=enrolling)
        assert end(enrolling)[0] == 0
        setting = whorl("passcode", "set", "--passcode-fd", "0", secret=PASSCODE.encode() + b"\n")
        cls.service.lay("right", asking=setting)
        assert end(setting)[0] == 0
        cls.agent = Agent(cls.screen, cls.service)
        cls.addClassCleanup(cls.agent.close)
        cls.daemon = Daemon()
        cls.addClassCleanup(cls.daemon.close)
        status, said = turn_on(cls.service, cls.daemon)
        assert status == 0, said

    def setUp(self):
        self.dialogs = dialogs(self.screen)
        # The last message of an earlier prompt stays for a moment.
        self.gone()

    def start(self, *words, **variables):
        keyring = Keyring(self.screen, "--pause", str(PAUSE), *words, **variables)
        self.addCleanup(keyring.close)
        self.assertIn("Showing", keyring.said())
        return keyring

    def ended(self, program, secret=b"one"):
        """Waits for a program, and sees that it got the secret."""
        self.assertEqual(program.communicate(timeout=30), (secret, b""))
        self.assertEqual(program.returncode, 0)

    def open(self):
        """Opens the keyring for a program."""
        asking = self.daemon.look()
        self.screen.window()
        self.service.lay("right", asking=asking)
        self.ended(asking)
        self.gone()

    def gone(self):
        until(lambda: not self.screen.windows() and not self.dialogs.windows(), "the end of the windows")

    def asker(self):
        asker = Asker()
        self.addCleanup(asker.close)
        return asker


class OnDemand(Desk):
    def setUp(self):
        super().setUp()
        self.daemon.lock()
        self.keyring = self.start()

    def test_program_that_needs_the_keyring_gets_its_secret_after_one_touch(self):
        asking = self.daemon.look()
        self.screen.window()
        shows("Unlocks your keyring")
        self.service.lay("right", asking=asking)
        self.ended(asking)
        self.assertFalse(self.daemon.is_locked())
        self.gone()
        # While it is open, nothing is asked.
        self.ended(self.daemon.look())

    def test_python_keyring_gets_its_secret_after_one_touch(self):
        words = "import keyring; print(keyring.get_password('mail', 'me'), end='')"
        self.open()
        self.daemon.store("mail", "two", "service", "mail", "username", "me")
        self.daemon.lock()
        environment = {**self.daemon.environment, "PYTHON_KEYRING_BACKEND": "keyring.backends.SecretService.Keyring"}
        asking = subprocess.Popen(
            ["/usr/bin/python3", "-W", "ignore", "-c", words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd="/"
        )
        self.screen.window()
        self.service.lay("right", asking=asking)
        self.ended(asking, b"two")

    def test_one_touch_serves_all_programs_that_wait(self):
        asking = [self.daemon.look() for _ in range(5)]
        self.screen.window()
        time.sleep(1)
        self.assertEqual(len(self.screen.windows()), 1)
        self.service.lay("right", asking=asking[0])
        for program in asking:
            self.ended(program)
        self.gone()

    def test_wrong_finger_three_times_leads_to_the_passcode(self):
        asking = self.daemon.look()
        self.screen.window()
        self.service.lay("left", 3, asking=asking)
        shows("Passcode")
        until(lambda: "Passcode" in [part.name for part in access.parts() if part.role == "panel"], "the field")
        self.screen.type(PASSCODE)
        self.screen.press("Return")
        self.ended(asking)
        # The passcode gives the tries back.
        self.gone()

    def test_dismissal_ends_the_prompts_for_a_while(self):
        asking = [self.daemon.look() for _ in range(2)]
        self.screen.window()
        time.sleep(0.5)
        self.screen.press("Escape")
        dismissed = time.monotonic()
        for program in asking:
            self.assertEqual(program.communicate(timeout=10)[0], b"")
            self.assertNotEqual(program.returncode, 0)
        while time.monotonic() < dismissed + PAUSE - 2:
            again = self.daemon.look()
            self.assertEqual(again.communicate(timeout=5)[0], b"")
            self.assertEqual(self.screen.windows() + self.dialogs.windows(), [])
            time.sleep(0.5)
        time.sleep(max(0, dismissed + PAUSE + 0.5 - time.monotonic()))
        asking = self.daemon.look()
        self.screen.window()
        self.service.lay("right", asking=asking)
        self.ended(asking)

    def test_user_can_ask_for_prompts_after_a_dismissal(self):
        asking = self.daemon.look()
        self.screen.window()
        self.screen.press("Escape")
        asking.communicate(timeout=10)
        self.keyring.process.send_signal(1)
        time.sleep(0.2)
        asking = self.daemon.look()
        self.screen.window()
        self.service.lay("right", asking=asking)
        self.ended(asking)

    def test_program_that_leaves_takes_its_prompt_along(self):
        asking = self.daemon.look()
        self.screen.window()
        asking.kill()
        asking.wait()
        self.daemon.stop()
        self.gone()
        self.daemon.start()

    def test_password_that_is_wrong_leads_to_the_field(self):
        self.daemon.stop()
        other = Daemon()
        try:
            other.lock()
            asking = other.look()
            self.screen.window()
            self.service.lay("right", asking=asking)
            self.dialogs.window()
            shows("The keyring does not report which program is asking.")
            self.dialogs.type("not it")
            self.dialogs.press("Return")
            time.sleep(1)
            self.dialogs.type(PASSWORD)
            self.dialogs.press("Return")
            self.ended(asking)
            self.gone()
        finally:
            other.close()
            self.daemon.start()

    def test_passwords_are_wiped_after_their_use(self):
        own = rb"(?:[A-Z0-9]{4}-){7}[A-Z0-9]{4}"
        self.open()
        time.sleep(3)
        self.assertEqual(self.keyring.remembers(own), [])
        # Typed ones, too.
        asker = self.asker()
        asker.begin()
        asker.perform(message="type it")
        self.dialogs.type("a typed password")
        self.dialogs.press("Return")
        until(lambda: len(asker.answers()) == 2, "the answer")
        self.assertIn("secret=", asker.answers()[1][2])
        time.sleep(1)
        self.assertEqual(self.keyring.remembers(rb"a typed passw"), [])
        self.assertNotEqual(self.keyring.remembers(rb"type it"), [])

    def test_killed_prompter_leaves_nobody_waiting(self):
        asking = self.daemon.look()
        self.screen.window()
        self.keyring.process.kill()
        begun = time.monotonic()
        asking.communicate(timeout=10)
        self.assertLess(time.monotonic() - begun, 5)
        self.gone()
        self.start()
        asking = self.daemon.look()
        self.screen.window()
        self.service.lay("right", asking=asking)
        self.ended(asking)

    def test_prompter_that_is_ended_dismisses_its_prompts(self):
        asking = self.daemon.look()
        self.screen.window()
        self.keyring.process.terminate()
        asking.communicate(timeout=10)
        self.assertEqual(self.keyring.process.wait(10), 0)
        self.gone()
        self.assertIsNone(owner(PROMPTER))

    def test_new_keyring_gets_a_password_that_is_typed_twice(self):
        label = GLib.Variant("a{sv}", {"org.freedesktop.Secret.Collection.Label": GLib.Variant("s", "work")})
        service = ("org.freedesktop.secrets", SECRETS, "org.freedesktop.Secret.Service")
        _, prompt = call(*service, "CreateCollection", GLib.Variant.new_tuple(label, GLib.Variant("s", "")))
        call("org.freedesktop.secrets", prompt, "org.freedesktop.Secret.Prompt", "Prompt", GLib.Variant("(s)", ("",)))
        self.dialogs.window()
        self.assertEqual(self.screen.windows(), [])
        self.dialogs.type("one way")
        self.dialogs.press("Return")
        self.dialogs.type("another")
        self.dialogs.press("Return")
        shows("The passwords do not match.")
        for key in ("Return", "Return"):
            self.dialogs.type("work's own")
            self.dialogs.press(key)
        collection = f"{SECRETS}/collection/work"
        until(lambda: collection in call("org.freedesktop.secrets", SECRETS, "org.freedesktop.DBus.Properties", "Get",
                                         GLib.Variant("(ss)", ("org.freedesktop.Secret.Service", "Collections")))[0], "the keyring")
        self.gone()
        # Another keyring has another password, which is typed.
        self.open()
        self.daemon.lock(collection)
        self.daemon.unlock(collection)
        self.dialogs.window()
        self.assertEqual(self.screen.windows(), [])
        self.dialogs.type("work's own")
        self.dialogs.press("Return")
        until(lambda: not self.daemon.is_locked(collection), "the other keyring")
        self.daemon.delete(collection)

    def test_other_locked_keyring_takes_no_touch_while_the_login_keyring_is_locked(self):
        self.open()
        # The last one's name is a word of the sentence about the login keyring.
        others = [self.daemon.create(label, "its own") for label in ("work", "A & <b> \"c\"", "keyring")]
        for path in (*others, LOGIN):
            self.daemon.lock(path)
        for path in others:
            self.daemon.unlock(path)
            self.dialogs.window()
            shows("“")
            self.assertEqual(self.screen.windows(), [])
            self.dialogs.type("its own")
            self.dialogs.press("Return")
            until(lambda: not self.daemon.is_locked(path), path)
            self.gone()
            self.daemon.lock(path)
        # A touch opens the login keyring, whichever others are locked.
        self.open()
        for path in others:
            self.daemon.delete(path)


class Strangers(Desk):
    """Programs that are not the keyring's daemon, and call the prompter."""

    def setUp(self):
        super().setUp()
        self.daemon.lock()
        self.keyring = self.start()

    def test_stranger_gets_no_touch_and_no_password_of_the_service(self):
        asker = self.asker()
        self.assertIsNone(asker.begin())
        self.assertIsNone(asker.perform(message="Unlock Login Keyring", description="The login keyring did not get unlocked"))
        self.dialogs.window()
        shows("Requested by: python3")
        self.assertEqual(self.screen.windows(), [])
        self.dialogs.press("Escape")
        until(lambda: len(asker.answers()) == 2, "the answer")
        reply, _, exchange = asker.answers()[1]
        self.assertEqual(reply, "no")
        self.assertNotIn("secret", exchange)

    def test_stranger_with_the_name_of_the_daemon_gets_no_password(self):
        self.daemon.stop()
        try:
            asker = self.asker()
            for name in ("org.freedesktop.secrets", "org.gnome.keyring"):
                self.assertEqual(asker.take(name), 1)
            self.assertIsNone(asker.begin())
            self.assertIsNone(asker.perform(message="Unlock Login Keyring"))
            self.dialogs.window()
            self.assertEqual(self.screen.windows(), [])
            asker.close()
            self.gone()
        finally:
            self.daemon.start()

    def test_daemon_from_another_folder_gets_no_password(self):
        self.daemon.stop()
        folder = pathlib.Path(tempfile.mkdtemp(prefix="daemon."))
        self.addCleanup(shutil.rmtree, folder)
        folder.chmod(0o755)
        copy = shutil.copy2(shutil.which("gnome-keyring-daemon"), folder)
        # It belongs to root, as the folder does.
        self.assertEqual((os.stat(copy).st_uid, os.stat(copy).st_mode & 0o022), (0, 0))
        self.daemon.start(program=copy)
        try:
            asking = self.daemon.look()
            self.dialogs.window()
            shows("Requested by: gnome-keyring-d")
            self.assertEqual(self.screen.windows(), [])
            self.dialogs.press("Escape")
            asking.communicate(timeout=10)
        finally:
            self.daemon.stop()
            self.daemon.start()

    def test_password_does_not_follow_the_daemons_name(self):
        """The daemon leaves while a touch is waited for, and a stranger gets its names."""
        asker = self.asker()
        names = ("org.freedesktop.secrets", "org.gnome.keyring")
        # In the queue.
        self.assertEqual([asker.take(name) for name in names], [2, 2])
        try:
            asking = self.daemon.look()
            self.screen.window()
            self.daemon.process.kill()
            self.daemon.process.wait()
            until(lambda: [owner(name) for name in names] == [asker.name] * 2, "the names' new owner")
            self.gone()
            # It asks at the place where the daemon did, while the touch may still be on its way.
            self.assertIsNone(asker.begin())
            self.assertIsNone(asker.perform(message="Unlock Login Keyring"))
            self.dialogs.window()
            self.assertEqual(self.screen.windows(), [])
            self.dialogs.press("Escape")
            until(lambda: len(asker.answers()) == 2, "the answer")
            self.assertNotIn("secret", asker.answers()[1][2])
            asking.kill()
            asking.communicate()
        finally:
            asker.close()
            self.daemon.start()

    def test_stranger_cannot_use_the_prompts_of_others(self):
        first, second = self.asker(), self.asker()
        first.begin("/mine")
        for method, more in (("PerformPrompt", ("password", {}, Asker.KEY)), ("StopPrompting", ())):
            second.ask(method, "/mine", *more)
        self.assertIsNone(first.perform("/mine", message="still here"))
        shows("still here")
        first.ask("StopPrompting", "/mine")
        self.gone()

    def test_stranger_that_leaves_takes_its_window_along(self):
        asker = self.asker()
        asker.begin()
        asker.perform(message="for a moment")
        self.dialogs.window()
        asker.close()
        self.gone()

    def test_flood_fills_no_more_than_its_share(self):
        askers = [self.asker() for _ in range(4)]
        refused = [asker.begin(f"/p{number}") for asker in askers for number in range(50)]
        self.assertEqual(refused.count(None), 16)
        self.assertEqual(set(refused), {None, "org.freedesktop.DBus.Error.LimitsExceeded"})
        for asker in askers:
            for number in range(50):
                asker.perform(f"/p{number}", message=f"{number}")
        self.dialogs.window()
        self.assertEqual(len(self.dialogs.windows()), 1)
        asking = self.daemon.look()
        self.screen.window()
        self.service.lay("right", asking=asking)
        self.ended(asking)
        for asker in askers:
            asker.close()
        self.gone()
        self.assertIsNone(self.asker().begin())

    def test_text_of_a_stranger_is_plain_and_bounded(self):
        asker = self.asker()
        asker.begin()
        self.assertEqual(asker.perform(message="x" * 5000), "org.freedesktop.DBus.Error.InvalidArgs")
        hostile = "<b>pay</b> \u202egnp.exe\u202c\n" + "é" * 700
        self.assertIsNone(asker.perform(title=hostile, message=hostile, description=hostile, warning=hostile, choice_label=hostile,
                                        continue_label=hostile, cancel_label=hostile, choice_chosen=True))
        self.dialogs.window()
        names = until(lambda: [name for name in access.names() if "pay" in name], "the texts")
        self.assertTrue(all("<b>pay</b>" in name and "\u202e" not in name and len(name) <= 610 for name in names), names)
        width, height = self.dialogs.size()
        self.assertTrue(width <= 480 and height <= 1300, (width, height))

    def test_calls_without_sense_are_refused(self):
        asker, keys = self.asker(), ["", "x", "[sx-aes-1]\n", "[sx-aes-1]\npublic=\n", "[sx-aes-1]\npublic=" + "é" * 200, Asker.KEY * 20,
                                     "[sx-aes-1]\npublic=" + "A" * 4 + "\n", "[other]\npublic=" + "Q" * 256]
        invalid = "org.freedesktop.DBus.Error.InvalidArgs"
        self.assertEqual(asker.ask("BeginPrompting", "/" + "a" * 300), invalid)
        self.assertEqual(asker.perform(), "org.freedesktop.DBus.Error.Failed")
        asker.begin()
        self.assertEqual(asker.ask("BeginPrompting", "/prompt"), "org.freedesktop.DBus.Error.Failed")
        for key in keys:
            self.assertEqual(asker.perform(exchange=key), invalid, key)
        # The numbers 0 and 1, and one above the prime: no program crashes, whatever comes of it.
        for number, key in enumerate(("A" * 256, "A" * 254 + "AB", "/" * 256)):
            asker.begin(f"/weak{number}")
            asker.perform(f"/weak{number}", exchange=f"[sx-aes-1]\npublic={key}\n")
            asker.ask("StopPrompting", f"/weak{number}")
        self.gone()
        self.assertEqual(asker.perform(kind="other"), invalid)
        self.assertEqual(asker.ask("PerformPrompt", "/prompt", "password", {f"p{n}": GLib.Variant("s", "") for n in range(40)}, Asker.KEY), invalid)
        self.assertEqual(asker.ask("StopPrompting", "/never"), None)
        strange = {"message": GLib.Variant("au", [1]), "password-new": GLib.Variant("v", GLib.Variant("v", GLib.Variant("v", GLib.Variant("b", True))))}
        self.assertIsNone(asker.ask("PerformPrompt", "/prompt", "password", strange, Asker.KEY))
        self.dialogs.window()
        self.assertEqual(asker.perform(), "org.freedesktop.DBus.Error.Failed")

    def test_large_calls_are_refused_and_their_memory_is_given_back(self):
        asker, text = self.asker(), GLib.Variant("s", "x")
        invalid = "org.freedesktop.DBus.Error.InvalidArgs"
        asker.begin()
        # The unknown properties, too, are part of the 64 KiB.
        for size, expected in ((60_000, None), (70_000, invalid)):
            asker.begin(f"/p{size}")
            self.assertEqual(asker.ask("PerformPrompt", f"/p{size}", "password", {"other": GLib.Variant("s", "x" * size)}, Asker.KEY), expected)
            asker.ask("StopPrompting", f"/p{size}")
        for properties in ({f"p{number}": text for number in range(200_000)}, {"other": GLib.Variant("av", [text] * 500_000)}):
            self.assertEqual(asker.ask("PerformPrompt", "/prompt", "password", properties, Asker.KEY), invalid)
        self.assertIsNone(asker.perform(message="still here"))
        shows("still here")
        self.dialogs.press("Escape")
        until(lambda: len(asker.answers()) == 2, "the answer")
        asker.ask("StopPrompting", "/prompt")
        # A prompt that has not begun.
        self.assertEqual(asker.ask("PerformPrompt", "/prompt", "password", properties, Asker.KEY), "org.freedesktop.DBus.Error.Failed")
        until(lambda: self.keyring.resident() < 40 << 10, "the end of the memory's use")

    def test_confirmation_is_answered_by_its_buttons(self):
        asker = self.asker()
        for number, (key, expected) in enumerate((("Escape", "no"), ("Return", "no"), ("Tab", "yes"))):
            path = f"/c{number}"
            asker.begin(path)
            asker.perform(path, "confirm", message="Delete it?", continue_label="_Delete", cancel_label="_Keep", choice_label="All", choice_chosen=True)
            shows("Delete it?")
            self.dialogs.press(key)
            if key == "Tab":
                self.dialogs.press("space")
            until(lambda: len(asker.answers(path)) == 2, "the answer")
            reply, properties, _ = asker.answers(path)[1]
            self.assertEqual(reply, expected)
            self.assertEqual(properties, {"choice-chosen": True} if expected == "yes" else {})
            asker.ask("StopPrompting", path)
            self.gone()


class Names(Desk):
    def test_prompter_that_allows_it_is_replaced_and_gets_its_name_back(self):
        shell = self.asker()
        self.assertEqual(shell.take(PROMPTER, 1), 1)
        keyring = self.start()
        self.assertNotIn(owner(PROMPTER), (None, shell.name))
        keyring.process.terminate()
        self.assertEqual(keyring.process.wait(10), 0)
        self.assertEqual(owner(PROMPTER), shell.name)

    def test_prompter_that_does_not_allow_it_stays(self):
        shell = self.asker()
        shell.take(PROMPTER)
        keyring = Keyring(self.screen)
        self.assertEqual(keyring.process.wait(10), 3)
        self.assertIn("cannot be replaced", keyring.said())
        self.assertEqual(owner(PROMPTER), shell.name)

    def test_nobody_replaces_the_prompter(self):
        self.start()
        self.assertEqual(self.asker().take(PROMPTER, 2 | 4), 3)

    def test_its_memory_belongs_to_it_alone(self):
        keyring = self.start()
        self.assertEqual(os.stat(f"/proc/{keyring.process.pid}/mem").st_uid, 0)
        self.assertIn("Max core file size        0                    0", open(f"/proc/{keyring.process.pid}/limits").read())
        self.assertNotIn("gtk", open(f"/proc/{keyring.process.pid}/maps").read())


class ScreenAndSleep(Desk):
    def setUp(self):
        super().setUp()
        self.logind = Logind()
        self.addCleanup(self.logind.close)
        self.daemon.lock()

    def test_programs_wait_while_the_screen_is_locked(self):
        self.logind.lock(True)
        self.start(**self.logind.variables())
        asker = self.asker()
        asking = self.daemon.look()
        asker.begin()
        asker.perform(message="for later")
        time.sleep(2)
        self.assertEqual(self.screen.windows() + self.dialogs.windows(), [])
        self.assertIsNone(asking.poll())
        self.logind.lock(False)
        self.dialogs.window()
        self.screen.window()
        self.logind.lock(True)
        self.gone()
        self.assertIsNone(asking.poll())
        self.logind.lock(False)
        self.screen.window()
        self.service.lay("right", asking=asking)
        self.ended(asking)
        self.dialogs.press("Escape")
        until(lambda: len(asker.answers()) == 2, "the answer")

    def test_sleep_waits_until_the_keyring_is_locked(self):
        self.start(**self.logind.variables())
        self.open()
        until(lambda: self.logind.delay is not None, "the delay")
        self.assertTrue(self.logind.isDelayed())
        self.logind.sleep(True)
        until(lambda: not self.logind.isDelayed(), "the sleep")
        self.assertTrue(self.daemon.is_locked())
        self.logind.delay = None
        self.logind.sleep(False)
        until(lambda: self.logind.delay is not None, "the next delay")
        self.open()

    def test_keyring_stays_open_in_sleep_and_behind_the_screen_where_that_is_chosen(self):
        self.start("--keep-open-in-sleep", **self.logind.variables())
        self.open()
        self.logind.sleep(True)
        self.logind.lock(True)
        time.sleep(1)
        self.assertFalse(self.daemon.is_locked())

    def test_screen_locks_the_keyring_where_that_is_chosen(self):
        self.start("--lock-with-screen", **self.logind.variables())
        self.open()
        self.logind.lock(True)
        until(self.daemon.is_locked, "the lock")


class WithoutPassword(unittest.TestCase):
    """The service has no password for the keyring, or is not there."""

    def test_field_appears(self):
        loop()
        service, screen = Service(), Screen()
        self.addCleanup(service.close)
        self.addCleanup(screen.close)
        daemon = Daemon()
        self.addCleanup(daemon.close)
        keyring = Keyring(screen)
        self.addCleanup(keyring.close)
        other = dialogs(screen)
        for _ in range(2):
            daemon.lock()
            asking = daemon.look()
            other.window()
            other.type(PASSWORD)
            other.press("Return")
            self.assertEqual(asking.communicate(timeout=30)[0], b"one")
            until(lambda: not other.windows(), "the end of the window")


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
