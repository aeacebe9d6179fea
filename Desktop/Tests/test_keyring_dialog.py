# SPDX-License-Identifier: Apache-2.0
"""The window for a keyring's password, by itself: what it shows, and what it answers."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

import access
from desk import PROMPT, KeyboardScreen, Screen, until
from picture import Picture, luminance
from test_screens import CONTRAST, KINDS

DIALOG = str(pathlib.Path(PROMPT).with_name("whorl-keyring-dialog"))
QUESTION = {
    "kind": "password", "title": "Unlock Keyring", "message": "Authentication required",
    "details": "An application wants access to the keyring “Work”, but it is locked", "warning": "The unlock password was incorrect",
    "asker": "The keyring does not report which program is asking.", "choice": "Automatically unlock this keyring whenever I’m logged in",
    "isChosen": False, "proceedTitle": "", "cancelTitle": "",
}
READ = ("label", "heading", "alert", "status bar", "push button", "check box")


class Dialog:
    """The program with one question."""

    def __init__(self, screen, question=None, variables={}, **changes):
        self.process = subprocess.Popen(
            [DIALOG], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **screen.variables(), **variables}
        )
        line = json.dumps({**QUESTION, **changes}).encode() + b"\n" if question is None else question
        try:
            self.process.stdin.write(line)
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.stdin = None

    def answer(self):
        said = self.process.communicate(timeout=30)[0]
        return self.process.returncode, said

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Dialogs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.screen = cls.make_screen()
        cls.addClassCleanup(cls.screen.close)

    @classmethod
    def make_screen(cls):
        return Screen("whorl-keyring-dialog")

    def show(self, **changes):
        dialog = Dialog(self.screen, **changes)
        self.addCleanup(dialog.close)
        self.screen.window()
        until(lambda: any(part.role == "dialog" for part in access.parts()), "the dialog")
        return dialog


class Answers(Dialogs):
    def test_password_is_answered_with_enter(self):
        dialog = self.show()
        self.screen.type("open sesame")
        self.screen.press("Return")
        self.assertEqual(dialog.answer(), (0, b"ynopen sesame"))

    def test_escape_refuses_and_says_nothing_of_what_was_typed(self):
        dialog = self.show(isChosen=True)
        self.screen.type("open sesame")
        self.screen.press("Escape")
        self.assertEqual(dialog.answer(), (0, b"nn"))

    def test_new_password_is_typed_twice(self):
        dialog = self.show(kind="newPassword")
        for key in ("Return", "Return"):
            self.screen.type("new")
            self.screen.press(key)
        self.assertEqual(dialog.answer(), (0, b"ynnew"))


class AnswersOnX11(Answers):
    def test_checkbox_is_answered(self):
        dialog = self.show(isChosen=True)
        self.screen.press("Return")
        self.assertEqual(dialog.answer(), (0, b"yy"))
        dialog = self.show()
        self.screen.press("Tab", "space")
        access.press("Unlock")
        self.assertEqual(dialog.answer(), (0, b"yy"))

    def test_too_long_password_is_not_cut_off(self):
        dialog = self.show()
        self.screen.tool("windowfocus", "--sync", self.screen.window())
        self.screen.tool("type", "--delay", "1", "x" * 1030)
        self.screen.press("Return")
        until(lambda: "The password is too long." in access.names(), "the complaint")
        self.screen.type("short")
        self.screen.press("Return")
        self.assertEqual(dialog.answer(), (0, b"ynshort"))

    def test_program_ends_when_nobody_reads_the_answer(self):
        dialog = self.show()
        dialog.process.stdout.close()
        self.assertEqual(dialog.process.wait(10), 1)

    def test_line_that_is_no_question_is_refused(self):
        for line in (b"", b"\n", b"{}\n", b"x" * 70_000, b'{"kind":"other"}\n', b"\xff\n"):
            dialog = Dialog(self.screen, line)
            self.addCleanup(dialog.close)
            self.assertEqual(dialog.answer(), (64, b""), line[:20])

    def test_screen_reader_finds_a_name_for_each_control(self):
        self.show(kind="newPassword")
        parts = access.parts()
        self.assertTrue(all(part.name for part in parts if part.role in ("push button", "check box")), parts)
        self.assertEqual({part.name for part in parts if part.role == "panel"} - {""}, {"Password", "Repeat the password"})


    def test_typed_password_is_not_told_to_other_programs_of_the_session(self):
        self.show()
        self.screen.type("keyringpw1")
        time.sleep(0.5)
        said = access.read()
        self.assertTrue(any("Authentication required" in text for text in said), said)
        self.assertFalse(any("keyringpw1" in text for text in said), said)


class AnswersOnWayland(Answers):
    @classmethod
    def make_screen(cls):
        folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, folder, True)
        return KeyboardScreen(folder)


class DialogLooks(Dialogs):
    """In each style, language and scale, nothing is cut off or overlaps, and each text can be read."""

    def test_each_kind_of_desktop_shows_all_of_it_readably(self):
        folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        pictures = pathlib.Path(os.environ.get("WHORL_PICTURES") or folder)
        # As in test_screens.py, locales of these names with the data of C.UTF-8.
        for kind in KINDS.values():
            if name := kind.get("LC_ALL"):
                shutil.copytree("/usr/lib/locale/C.utf8", folder / name.replace("UTF-8", "utf8"), dirs_exist_ok=True)
        for kind, variables in KINDS.items():
            for question in ("password", "newPassword", "confirmation"):
                with self.subTest(kind, question=question):
                    self.looks_right(kind, question, {"LOCPATH": str(folder), **variables}, pictures)

    def looks_right(self, kind, question, variables, pictures):
        dialog = self.show(kind=question, variables=variables)
        try:
            steady = []
            until(lambda: steady == access.parts() or steady.clear() or steady.extend(access.parts()), "the window at rest")
            path = pictures / f"keyring-{question}-{kind}.png"
            self.screen.picture(path)
            factor = {"200-percent": 2, "300-percent": 3}.get(kind, 1)
            picture = Picture(path)
            self.assertLessEqual(picture.width, 420 * factor)
            self.assertEqual(luminance(picture.ground(0, 0, picture.width, picture.height)) < 0.2, "dark" in kind)
            if kind in ("german", "right-to-left"):
                self.assertNotIn("Password", access.names())
            read = [part for part in steady if part.role in READ and part.name.strip()]
            self.assertGreater(len(read), 5)
            for part in read:
                self.assertTrue(part.x >= 0 and part.y >= 0 and part.width > 0 and part.height > 0, part)
                self.assertLessEqual((part.x + part.width) * factor, picture.width, part)
                self.assertLessEqual((part.y + part.height) * factor, picture.height, part)
                for other in read:
                    inside = part.contains(other) or other.contains(part)
                    self.assertTrue(part is other or inside or not part.overlaps(other), (part, other))
                self.assertGreaterEqual(picture.contrast(*(factor * value for value in (part.x, part.y, part.width, part.height))), CONTRAST, part)
        finally:
            dialog.close()
            until(lambda: not self.screen.windows(), "the end of the window")


# The cases on both kinds of screen are those of the classes that inherit them.
del Answers, Dialogs

if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
