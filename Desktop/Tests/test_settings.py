# SPDX-License-Identifier: Apache-2.0
"""The settings window, on a real screen with the real service."""

import os
import pathlib
import shutil
import tempfile
import unittest

import access
from access import names, press
from desk import Agent, Screen, Service, Settings, WaylandScreen, end, until, whorl
from picture import Picture, luminance
from test_screens import CONTRAST, KINDS

PASSCODE = "2468 hunter"
# The roles of the parts that are read.
READ = ("label", "heading", "status bar", "image")


def shows(text):
    until(lambda: any(text in name for name in names()), text)


def hides(text):
    until(lambda: not any(text in name for name in names()), f"the end of {text}")


class Window(unittest.TestCase):
    """A window that is opened for each test, for an owner with one finger."""

    def setUp(self):
        self.screen, self.service = self.make_screen(), Service()
        self.addCleanup(self.screen.close)
        self.addCleanup(self.service.close)
        self.enroll("right-index-finger", "right")
        self.settings = Settings(self.screen)
        self.addCleanup(self.settings.close)
        shows("Right index finger")

    def make_screen(self):
        return Screen("whorl-settings")

    def enroll(self, name, finger, touch=None):
        enrolling = whorl("enroll", name)
        if touch:
            self.service.lay(touch, asking=enrolling)
        self.service.lay(finger, 6, asking=enrolling)
        self.assertEqual(end(enrolling)[0], 0)

    def set_passcode(self):
        setting = whorl("passcode", "set", "--passcode-fd", "0", secret=PASSCODE.encode() + b"\n")
        self.service.lay("right", asking=setting)
        self.assertEqual(end(setting)[0], 0)

    def fingers(self):
        return {finger["finger"] for finger in end(whorl("fingers"))[1]["result"]["fingers"]}


class Fingers(Window):
    def test_finger_is_added_with_a_name_after_a_touch(self):
        press("Add a Finger…")
        shows("Which finger do you want to add?")
        # The first field; Cancel has the focus.
        self.screen.press(*["shift+Tab"] * 11)
        self.screen.type("Spare")
        press("Left thumb")
        shows("Changes the enrolled fingers.")
        self.service.lay("right")
        shows("Enroll the left thumb")
        self.service.lay("left", 6)
        shows("A few test touches")
        self.service.lay("left", 3)
        shows("3 of 3 test touches recognized.")
        self.screen.press("Escape")
        shows("Spare")
        self.assertEqual(self.fingers(), {"right-index-finger", "left-thumb"})

    def test_added_finger_remains_if_its_test_touches_are_skipped(self):
        press("Add a Finger…")
        shows("Which finger do you want to add?")
        press("Left thumb")
        shows("Changes the enrolled fingers.")
        self.service.lay("right")
        shows("Enroll the left thumb")
        self.service.lay("left", 6)
        shows("A few test touches")
        press("Cancel")
        shows("Delete…: Left thumb")
        self.assertEqual(self.fingers(), {"right-index-finger", "left-thumb"})

    def test_canceled_consent_adds_nothing(self):
        press("Add a Finger…")
        shows("Which finger do you want to add?")
        press("Left thumb")
        shows("Changes the enrolled fingers.")
        press("Cancel")
        hides("Changes the enrolled fingers.")
        self.assertEqual(self.fingers(), {"right-index-finger"})

    def test_finger_is_deleted_only_after_confirmation_and_a_touch(self):
        self.enroll("left-thumb", "left", touch="right")
        made = whorl("secret", "add", "vault", "--access", "biometry-current-set", secret=b"x")
        self.assertEqual(end(made)[0], 0)
        press("Passcode")
        press("Fingers")
        shows("Delete…: Left thumb")
        press("Delete…: Left thumb")
        shows("These items stop working, or then require the passcode: vault.")
        press("Cancel")
        hides("vault")
        self.assertEqual(self.fingers(), {"right-index-finger", "left-thumb"})
        press("Delete…: Left thumb")
        shows("vault")
        press("Delete")
        shows("Changes the enrolled fingers.")
        press("Cancel")
        hides("Changes the enrolled fingers.")
        self.assertEqual(self.fingers(), {"right-index-finger", "left-thumb"})
        press("Delete…: Left thumb")
        shows("vault")
        press("Delete")
        shows("Changes the enrolled fingers.")
        self.service.lay("right")
        shows("Finger deleted.")
        hides("Left thumb")
        self.assertEqual(self.fingers(), {"right-index-finger"})

    def test_finger_is_renamed_without_a_touch_and_gets_its_own_name_again(self):
        press("Rename…: Right index finger")
        shows("Rename “Right index finger”")
        self.screen.type("the good hand")
        self.screen.press("Return")
        shows("Finger renamed.")
        shows("Rename…: the good hand")
        fingers = end(whorl("fingers"))[1]["result"]["fingers"]
        self.assertEqual([finger.get("label") for finger in fingers], ["the good hand"])
        press("Rename…: the good hand")
        shows("Rename “the good hand”")
        self.screen.press("ctrl+a", "BackSpace")
        press("Rename")
        shows("Rename…: Right index finger")

    def test_last_finger_comes_with_a_warning(self):
        press("Delete…: Right index finger")
        shows("This is your only finger.")

    def test_touch_names_the_finger(self):
        press("Which Finger Is This?")
        shows("test a finger")
        self.service.lay("right")
        shows("Matched: right index finger.")
        press("Test: Right index finger")
        shows("test a finger")
        self.service.lay("left", 3)
        shows("The finger did not match.")

    def test_test_of_one_finger_says_that_it_was_another(self):
        self.enroll("left-thumb", "left", touch="right")
        press("Passcode")
        # GTK takes no second press of a button while it shows the first one.
        shows("No passcode is set.")
        press("Fingers")
        shows("Test: Left thumb")
        press("Test: Left thumb")
        shows("test a finger")
        self.service.lay("right")
        shows("This is the right index finger, not the left thumb.")


    def test_agent_of_the_session_shows_the_prompts(self):
        agent = Agent(self.screen, self.service)
        self.addCleanup(agent.close)
        press("Which Finger Is This?")
        shows("test a finger")
        found = self.screen.tool("search", "--onlyvisible", "--class", "whorl-prompt").stdout.split()
        self.assertEqual(len(found), 1)
        self.assertEqual(len(self.screen.windows()), 1)
        self.service.lay("right")
        shows("Matched: right index finger.")


class Passcode(Window):
    def test_passcode_is_set_changed_and_removed(self):
        press("Passcode")
        shows("No passcode is set.")
        press("Set Passcode…")
        shows("Set a passcode")
        self.screen.type("123")
        self.screen.press("Return")
        self.screen.type("123")
        self.screen.press("Return")
        shows("Use at least 4 characters.")
        self.screen.type(PASSCODE)
        self.screen.press("Return")
        self.screen.type(PASSCODE + "!")
        self.screen.press("Return")
        shows("The passcodes are different.")
        for _ in range(2):
            self.screen.type(PASSCODE)
            self.screen.press("Return")
        shows("Sets the passcode entered in this program.")
        self.service.lay("right")
        shows("Passcode set.")
        shows("Tries left before the TPM locks")
        press("Change Passcode…")
        shows("Change the passcode")
        for _ in range(2):
            self.screen.type("another one")
            self.screen.press("Return")
        shows("Changes your passcode to the one entered in this program.")
        self.screen.type(PASSCODE)
        self.screen.press("Return")
        shows("Passcode changed.")
        verified = whorl("passcode", "verify", "--passcode-fd", "0", secret=b"another one\n")
        self.assertEqual(end(verified)[0], 0)
        press("Remove Passcode…")
        shows("Remove the passcode?")
        press("Remove")
        shows("Removes your passcode.")
        self.screen.type("wrong one")
        self.screen.press("Return")
        shows("Wrong passcode")
        self.screen.type("another one")
        self.screen.press("Return")
        shows("Passcode removed.")
        shows("No passcode is set.")


class OtherPages(Window):
    def test_history_says_what_happened_in_words(self):
        press("Which Finger Is This?")
        shows("test a finger")
        self.service.lay("left", 3)
        shows("The finger did not match.")
        press("History")
        shows("Not recognized.")
        shows("“io.whorl.settings”")
        shows("Enrolled.")

    def test_checks_say_what_works_in_words(self):
        press("Reader and TPM")
        shows("The service is running.")
        shows("Connected: Virtual device")
        shows("Virtual reader: no real fingerprint is read.")
        shows("The TPM is simulated.")
        shows("Fingers are not locked out.")



    def test_keyring_is_turned_on_and_off_with_a_touch(self):
        press("Use It For")
        shows("A login by touch does not unlock the keyring.")
        shows("sudo whorl pam add sudo")
        press("Turn On: Keyring")
        shows("Unlocks your keyring when you log in by touch.")
        press("Cancel")
        hides("Unlocks your keyring when you log in by touch.")
        self.assertEqual(end(whorl("keyring"))[1]["result"]["keyring"], "off")
        press("Turn On: Keyring")
        shows("Unlocks your keyring when you log in by touch.")
        self.service.lay("right")
        shows("Log in with your password once.")
        press("Turn Off: Keyring")
        shows("Stops unlocking your keyring when you log in by touch.")
        self.service.lay("right")
        shows("A login by touch does not unlock the keyring.")

    def test_lockout_is_ended_with_the_passcode(self):
        self.set_passcode()
        for touches in (3, 2):
            asking = whorl("evaluate", "--reason", "unlock the vault", "--policy", "biometrics")
            self.service.lay("left", touches, asking=asking)
            self.assertNotEqual(end(asking)[0], 0)
        press("Reader and TPM")
        shows("Too many failed attempts; fingerprints are locked out.")
        press("Verify Passcode…")
        shows("end the lockout")
        self.screen.type(PASSCODE)
        self.screen.press("Return")
        shows("Fingers are not locked out.")


class FingersOnWayland(Fingers):
    """The window in a session of Wayland, by a screen reader."""

    def make_screen(self):
        folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder, True)
        return WaylandScreen(folder)

    # These need a keyboard.
    test_finger_is_added_with_a_name_after_a_touch = None
    # An agent is found by its window on X11.
    test_agent_of_the_session_shows_the_prompts = None


class WithoutService(unittest.TestCase):
    def test_each_page_says_that_the_service_does_not_respond(self):
        screen = Screen("whorl-settings")
        self.addCleanup(screen.close)
        self.addCleanup(Settings(screen).close)
        for page in ("Fingers", "Passcode", "Use It For", "History", "Reader and TPM"):
            press(page)
            shows("The service whorld does not respond")


class Keyboard(Window):
    def test_keys_alone_reach_each_page_and_close_dialogs(self):
        # The switcher's buttons come first.
        for text in (
            "No passcode is set.", "A login by touch does not unlock the keyring.", "Enrolled.", "The service is running.",
        ):
            self.screen.press("Tab", "space")
            shows(text)
        self.screen.press("shift+Tab", "shift+Tab", "shift+Tab", "shift+Tab", "space")
        shows("Delete…: Right index finger")

    def test_keys_alone_test_and_delete_a_finger(self):
        self.screen.press("Tab", "Tab", "Tab", "Tab", "Tab", "space")
        shows("test a finger")
        self.screen.press("Escape")
        hides("test a finger")
        self.screen.press("Tab", "Tab", "space")
        shows("This is your only finger.")
        # Cancel has the focus, so that a stray Enter deletes nothing.
        self.screen.press("Return")
        hides("This is your only finger.")
        self.assertEqual(self.fingers(), {"right-index-finger"})
        self.screen.press("space")
        shows("This is your only finger.")
        self.screen.press("Escape")
        hides("This is your only finger.")
        self.screen.press("space")
        shows("This is your only finger.")
        self.screen.press("Tab", "space")
        shows("Changes the enrolled fingers.")
        self.service.lay("right")
        shows("No finger is enrolled.")


class Looks(unittest.TestCase):
    """Each page in each style, language and scale: nothing is cut off or overlaps, and each text can be read."""

    # The titles of the pages' buttons come first.
    PAGES = 5

    @classmethod
    def setUpClass(cls):
        cls.screen, cls.service = Screen("whorl-settings"), Service()
        cls.addClassCleanup(cls.screen.close)
        cls.addClassCleanup(cls.service.close)
        enrolling = whorl("enroll", "right-index-finger", "--label", "The good hand")
        cls.service.lay("right", 6, asking=enrolling)
        assert end(enrolling)[0] == 0
        setting = whorl("passcode", "set", "--passcode-fd", "0", secret=PASSCODE.encode() + b"\n")
        cls.service.lay("right", asking=setting)
        assert end(setting)[0] == 0
        cls.folder = pathlib.Path(os.environ.get("WHORL_PICTURES") or cls.service.folder / "pictures")
        cls.folder.mkdir(exist_ok=True, parents=True)
        # As in test_screens.py, locales of these names with the data of C.UTF-8.
        cls.locales = cls.service.folder / "locales"
        for kind in KINDS.values():
            if name := kind.get("LC_ALL"):
                shutil.copytree("/usr/lib/locale/C.utf8", cls.locales / name.replace("UTF-8", "utf8"), dirs_exist_ok=True)

    def test_each_page_shows_all_of_it_readably(self):
        for kind in KINDS:
            # The window is meant for screens of at least 480 pixels; at 300 % this one has 341.
            if kind == "300-percent":
                continue
            with self.subTest(kind):
                self.looks_right(kind)

    def looks_right(self, kind):
        settings = Settings(self.screen, LOCPATH=str(self.locales), **KINDS[kind])
        try:
            until(lambda: "The good hand" in names(), "the finger")
            buttons = self.buttons()
            for number, page in enumerate(buttons[: self.PAGES]):
                press(page)
                self.page_looks_right(kind, number)
            # The buttons that open a dialog, counted from the end of the page: add, change the passcode, delete.
            for dialog, (page, place) in {"add": (0, -2), "passcode": (1, -2), "delete": (0, -3)}.items():
                press(buttons[page])
                # In this page, not in the one before; only the first one names the finger.
                until(lambda: ("The good hand" in names()) == (page == 0), "the page")
                self.at_rest()
                press(self.buttons()[place])
                self.dialog_looks_right(kind, dialog)
                self.screen.press("Escape")
                until(lambda: not any(part.role == "dialog" for part in access.parts()), "the dialog's end")
        finally:
            settings.close()

    def at_rest(self):
        """Waits until the window stops changing, and returns its parts."""
        steady = []
        until(lambda: steady == access.parts() or steady.clear() or steady.extend(access.parts()), "the window at rest")
        return steady

    def buttons(self):
        return [part.name for part in access.parts() if part.role == "push button"]

    def page_looks_right(self, kind, number):
        until(lambda: len([part for part in access.texts() if part.name.strip()]) > self.PAGES, "the page")
        steady = self.at_rest()
        frame = next(part for part in steady if part.role == "frame")
        path = self.folder / f"settings-{kind}-{number}.png"
        self.screen.picture(path)
        self.readable(kind, frame, [part for part in steady if part.role in READ], path)

    def dialog_looks_right(self, kind, name):
        until(lambda: any(part.role == "dialog" for part in access.parts()), "the dialog")
        steady = self.at_rest()
        start = next(index for index, part in enumerate(steady) if part.role == "dialog")
        path = self.folder / f"settings-{kind}-{name}.png"
        self.screen.picture(path)
        self.readable(kind, steady[start], [part for part in steady[start:] if part.role in READ], path)

    def readable(self, kind, frame, parts, path):
        factor = 2 if kind == "200-percent" else 1
        picture = Picture(path)
        self.assertGreaterEqual(picture.width, frame.width * factor, kind)
        self.assertLessEqual(frame.width, 512, kind)
        self.assertEqual(luminance(picture.ground(0, 0, picture.width, picture.height)) < 0.2, "dark" in kind, kind)
        for part in parts:
            if not part.name.strip():
                continue
            self.assertTrue(frame.x <= part.x and part.x + part.width <= frame.x + frame.width, (kind, part, frame))
            self.assertTrue(part.width > 0 and part.height > 0, (kind, part))
            for other in parts:
                self.assertTrue(part is other or not part.overlaps(other), (kind, part, other))
            box = [factor * value for value in (part.x, part.y, part.width, part.height)]
            # Lines below the window's edge come into view by scrolling.
            if box[1] + box[3] <= picture.height:
                self.assertGreaterEqual(picture.contrast(*box), CONTRAST, (kind, part))


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
