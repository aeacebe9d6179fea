# SPDX-License-Identifier: Apache-2.0
"""The prompt's window on each kind of screen: X11 and Wayland, light and dark, in other languages, and large."""

import os
import pathlib
import shutil
import time
import unittest

import access
from access import texts
from desk import Agent, KeyboardScreen, Screen, Service, WaylandScreen, end, until, whorl
from picture import Picture, luminance

PICTURES = os.environ.get("WHORL_PICTURES")
# The least contrast of text that WCAG 2.1 asks for (AA).
CONTRAST = 4.5
KINDS = {
    # libadwaita's look, which is installed here.
    "light": {},
    "adwaita-dark": {"ADW_DEBUG_COLOR_SCHEME": "prefer-dark"},
    "adwaita-contrast": {"ADW_DEBUG_HIGH_CONTRAST": "1"},
    "adwaita-contrast-dark": {"ADW_DEBUG_COLOR_SCHEME": "prefer-dark", "ADW_DEBUG_HIGH_CONTRAST": "1"},
    # GTK's own themes.
    "default": {"GTK_THEME": "Adwaita"},
    "dark": {"GTK_THEME": "Adwaita:dark"},
    "contrast": {"GTK_THEME": "HighContrast"},
    "contrast-dark": {"GTK_THEME": "HighContrast:dark"},
    "german": {"LC_ALL": "de_DE.UTF-8"},
    "right-to-left": {"LC_ALL": "ar_EG.UTF-8"},
    "200-percent": {"GDK_SCALE": "2"},
    "300-percent": {"GDK_SCALE": "3"},
}
# The beginning of "Not recognized." in the languages.
HINTS = {"german": "Nicht erkannt", "right-to-left": "لم يُتعرَّف"}


class Screens:
    """What is the same on both kinds of screen."""

    @classmethod
    def setUpClass(cls):
        cls.service = Service()
        cls.addClassCleanup(cls.service.close)
        cls.screen = cls.makeScreen()
        cls.addClassCleanup(cls.screen.close)
        enrolling = whorl("enroll", "right-index-finger")
        cls.service.lay("right", 6, asking=enrolling)
        assert end(enrolling)[0] == 0
        cls.folder = pathlib.Path(PICTURES or cls.service.folder / "pictures")
        cls.folder.mkdir(exist_ok=True, parents=True)
        # Locales of these names with the data of C.UTF-8, which every machine has: in C.UTF-8 itself glibc 2.41 and later translate
        # nothing.
        cls.locales = cls.service.folder / "locales"
        for kind in KINDS.values():
            if name := kind.get("LC_ALL"):
                shutil.copytree("/usr/lib/locale/C.utf8", cls.locales / name.replace("UTF-8", "utf8"), dirs_exist_ok=True)

    @classmethod
    def variables(cls, kind):
        """The environment of the prompt on a kind of screen."""
        chosen = KINDS[kind]
        return {**chosen, "LOCPATH": str(cls.locales)} if "LC_ALL" in chosen else chosen

    def agent(self, **variables):
        agent = Agent(self.screen, self.service, **variables)
        self.addCleanup(agent.close)
        return agent

    def ask(self, *words):
        asking = whorl("evaluate", "--reason", "unlock the vault", *words)
        self.addCleanup(lambda: asking.poll() is None and asking.kill())
        until(lambda: any(part.role == "image" for part in texts()), "the window")
        return asking

    def looks_right(self, kind, factor):
        """Sees that nothing is cut off or overlaps, that each text and the drawing can be seen, and keeps a picture."""
        shown = until(texts, "the texts")
        frame = next(part for part in access.parts() if part.role == "dialog")
        for part in shown:
            self.assertTrue(frame.contains(part) and part.width > 0 and part.height > 0, (kind, part, frame))
            for other in shown:
                self.assertTrue(part is other or not part.overlaps(other), (kind, part, other))
        time.sleep(0.5)
        path = self.folder / f"{self.prefix}{kind}.png"
        self.screen.picture(path)
        picture = Picture(path)
        self.assertGreaterEqual(picture.width, frame.width * factor, kind)
        # The frame has a bar of its own, with the title, on Wayland alone.
        self.assertLessEqual(frame.width, 320, kind)
        ground = picture.ground(0, 0, frame.width * factor, frame.height * factor)
        self.assertEqual(luminance(ground) < 0.2, "dark" in kind, kind)
        for part in shown:
            if not part.name.strip():
                continue
            box = [factor * value for value in (part.x, part.y, part.width, part.height)]
            contrast = picture.contrast(*box)
            self.assertGreaterEqual(contrast, CONTRAST, (kind, part))

    def test_each_kind_of_desktop_shows_all_of_it_readably(self):
        for kind in self.kinds:
            with self.subTest(kind):
                self.looks_right_throughout(kind)

    def looks_right_throughout(self, kind):
        factor = {"200-percent": 2, "300-percent": 3}.get(kind, 1)
        agent = Agent(self.screen, self.service, **self.variables(kind))
        try:
            asking = self.ask()
            self.looks_right(kind, factor)
            self.service.lay("left", asking=asking)
            hint = HINTS.get(kind, "Not recognized")
            until(lambda: any(hint in part.name for part in texts()), f"the hint of {kind}")
            self.looks_right(f"{kind}-hint", factor)
            # A match gives the tries back.
            self.service.lay("right", asking=asking)
            self.assertEqual(end(asking)[0], 0)
        finally:
            agent.close()


class X11(Screens, unittest.TestCase):
    prefix, kinds = "", list(KINDS)

    @classmethod
    def makeScreen(cls):
        return Screen()


class Wayland(Screens, unittest.TestCase):
    # The size of what is shown is the compositor's here.
    prefix, kinds = "wayland-", [kind for kind in KINDS if "percent" not in kind]

    @classmethod
    def makeScreen(cls):
        return WaylandScreen(cls.service.folder)

    def gone(self):
        until(lambda: not self.screen.windows(), "the window's end")

    def test_touch_in_a_session_of_wayland_ends_the_prompt(self):
        self.agent()
        asking = self.ask()
        self.service.lay("left", asking=asking)
        until(lambda: any("Not recognized" in name for name in access.names()), "the hint")
        self.service.lay("right", asking=asking)
        status, said = end(asking)
        self.assertEqual((status, said["result"]["finger"]), (0, "right-index-finger"))
        self.gone()

    def test_buttons_are_pressed_by_a_screen_reader(self):
        self.agent()
        for button, status in (("Cancel", 11), ("Use Password…", 12)):
            asking = self.ask()
            access.press(button)
            self.assertEqual(end(asking)[0], status, button)
            self.gone()

    def test_agent_ends_with_the_compositor_and_that_is_no_success(self):
        folder = self.service.folder / "another"
        folder.mkdir()
        screen = WaylandScreen(folder)
        agent = Agent(screen, self.service)
        asking = self.ask()
        screen.close()
        self.assertNotEqual(end(asking)[0], 0)
        self.assertNotEqual(agent.process.wait(30), 0)
        agent.log.close()

    def test_screen_reader_is_told_what_happens(self):
        self.agent()
        asking = self.ask()
        listener = access.Listener()
        self.service.lay("left", asking=asking)
        until(lambda: any("Not recognized" in name for name in access.names()), "the hint")
        time.sleep(1)
        heard = listener.heard()
        self.assertTrue(any("Not recognized" in event[2] for event in heard), heard)
        access.press("Cancel")
        end(asking)


class WaylandKeyboard(unittest.TestCase):
    """The window by the keyboard alone, in a session of Wayland."""

    @classmethod
    def setUpClass(cls):
        cls.service = Service()
        cls.addClassCleanup(cls.service.close)
        cls.screen = KeyboardScreen(cls.service.folder)
        cls.addClassCleanup(cls.screen.close)
        enrolling = whorl("enroll", "right-index-finger")
        cls.service.lay("right", 6, asking=enrolling)
        assert end(enrolling)[0] == 0

    def setUp(self):
        self.agent = Agent(self.screen, self.service)
        self.addCleanup(self.agent.close)

    def ask(self, *words):
        asking = whorl("evaluate", "--reason", "unlock the vault", *words)
        self.addCleanup(lambda: asking.poll() is None and asking.kill())
        return asking

    def test_escape_cancels_and_space_presses_the_button_with_the_focus(self):
        for keys, status in ((["Escape"], 11), (["space"], 11), (["Tab", "Tab", "space"], 12)):
            asking = self.ask()
            self.screen.press(*keys)
            self.assertEqual(end(asking)[0], status, keys)
            until(lambda: not self.screen.windows(), "the window's end")

    def test_passcode_is_typed_into_the_window(self):
        setting = whorl("passcode", "set", "--passcode-fd", "0", secret=b"2468 hunter\n")
        self.service.lay("right", asking=setting)
        self.assertEqual(end(setting)[0], 0)
        asking = self.ask("--policy", "device-owner")
        self.screen.press("Tab", "Tab", "space")
        until(lambda: "Passcode" in [part.name for part in access.parts() if part.role == "panel"], "the field")
        for typed in ("wrong one", "2468 hunter"):
            self.screen.type(typed)
            self.screen.press("Return")
            if typed == "wrong one":
                until(lambda: any("Wrong passcode" in name for name in access.names()), "the verdict")
        self.assertEqual(end(asking)[0], 0)


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
