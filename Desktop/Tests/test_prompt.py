# SPDX-License-Identifier: Apache-2.0
"""The desktop's prompt, on a real screen with the real service."""

import os
import subprocess
import sys
import threading
import time
import unittest
import warnings

import access
from access import parts
from desk import Agent, Screen, Service, end, until, whorl, whorl_client

PASSCODE = "2468 hunter"
warnings.simplefilter("ignore", ResourceWarning)


def kill_what_asks():
    subprocess.run(["pkill", "-f", f"^{os.environ['WHORL']} evaluate"])


def tree():
    """Returns role and name of each part of the window, as a screen reader finds them; hidden ones are not among them."""
    return [(part.role, part.name) for part in parts()]


def shows(text):
    until(lambda: any(text in name for _, name in tree()), text)


def enrolling(test, finger):
    """Starts an enrollment in a window."""
    process = subprocess.Popen(
        [os.environ["WHORL_PROMPT"], "enroll", finger], stderr=subprocess.PIPE, env={**os.environ, **test.screen.variables()}
    )
    test.addCleanup(lambda: process.poll() is None and process.kill())
    return process


class Guidance(unittest.TestCase):
    def test_reader_that_is_pressed_asks_for_one_part_of_the_finger_after_the_other(self):
        # Each with the place of its spot in the drawing.
        parts = {
            "middle of your fingertip": (0.5, 0.54), "tip of your finger": (0.5, 0.25), "left side": (0.25, 0.54),
            "right side": (0.75, 0.54), "lower part": (0.5, 0.79),
        }
        for number, (part, place) in enumerate(parts.items()):
            with self.subTest(part):
                touches = f"touch right-index*{number}," if number else ""
                self.screen, service = Screen(), Service(f"mock:{touches}hang")
                try:
                    process = enrolling(self, "right-index-finger")
                    shows(part)
                    shows(f"Fingerprint, {number * 20} percent")
                    for found, expected in zip(self.spot(), place):
                        self.assertAlmostEqual(found, expected, delta=0.06)
                    process.kill()
                    process.wait()
                finally:
                    service.close()
                    self.screen.close()


    def spot(self):
        """Returns the middle of the light blue spot, as fractions of the drawing."""
        drawing = next(part for part in parts() if part.role == "image")
        rows = self.screen.pixels(drawing.x, drawing.y, drawing.width, drawing.height)
        places = [
            (x, y) for y, row in enumerate(rows) for x, (red, green, blue) in enumerate(row) if blue > 200 and 100 < red < 200
        ]
        self.assertTrue(places)
        return [sum(place[axis] for place in places) / len(places) / drawing.width for axis in (0, 1)]


class Drawing(unittest.TestCase):
    """The drawing of a prompt, which moves after a miss."""

    def frames(self, **variables):
        """Returns the number of different pictures of the drawing within a second of a touch that is not recognized."""
        agent = Agent(self.screen, self.service, **variables)
        asking = whorl("evaluate", "--reason", "unlock the vault")
        try:
            drawing = next(iter(until(lambda: [part for part in parts() if part.role == "image"], "the drawing")))
            box = (drawing.x, drawing.y, drawing.width, drawing.height)
            seen, laying = set(), threading.Thread(target=self.service.lay, args=("left",))
            laying.start()
            deadline = time.monotonic() + 3
            while time.monotonic() < deadline:
                seen.add(str(self.screen.pixels(*box)))
            laying.join()
            shows("Not recognized")
            # A match gives the tries back.
            self.service.lay("right", asking=asking)
            self.assertEqual(end(asking)[0], 0)
            return len(seen)
        finally:
            agent.close()

    def test_drawing_moves_after_a_miss_unless_animations_are_off(self):
        self.screen, self.service = Screen(), Service()
        self.addCleanup(self.screen.close)
        self.addCleanup(self.service.close)
        enrolling = whorl("enroll", "right-index-finger")
        self.service.lay("right", 6, asking=enrolling)
        self.assertEqual(end(enrolling)[0], 0)
        self.assertGreater(self.frames(), 3)
        configuration = self.service.folder / "configuration"
        (configuration / "gtk-4.0").mkdir(parents=True)
        (configuration / "gtk-4.0/settings.ini").write_text("[Settings]\ngtk-enable-animations=0\n")
        self.assertEqual(self.frames(XDG_CONFIG_HOME=str(configuration)), 1)


class Prompts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.screen, cls.service = Screen(), Service()
        enrolling = whorl("enroll", "right-index-finger")
        cls.service.lay("right", 6, asking=enrolling)
        said = end(enrolling)
        if said[0] != 0:
            cls.tearDownClass()
            raise AssertionError(said)

    @classmethod
    def tearDownClass(cls):
        cls.service.close()
        cls.screen.close()

    def setUp(self):
        self.agent = Agent(self.screen, self.service)

    def tearDown(self):
        # Whatever a test has left open ends with its prompts.
        self.agent.close()
        kill_what_asks()

    def ask(self, reason="unlock the vault", *words):
        return whorl("evaluate", "--reason", reason, *words)

    def gone(self):
        until(lambda: not self.screen.windows(), "the window's end")

    def test_touch_ends_the_prompt_and_the_program_has_its_success(self):
        asking = self.ask()
        self.screen.window()
        self.service.lay("right", asking=asking)
        status, said = end(asking)
        self.assertEqual((status, said["result"]["finger"]), (0, "right-index-finger"))
        self.gone()

    def test_other_finger_is_no_success_and_the_window_says_so(self):
        asking = self.ask()
        self.screen.window()
        self.service.lay("left", asking=asking)
        until(lambda: any("Not recognized" in name for _, name in tree()), "the hint")
        self.service.lay("left", 2, asking=asking)
        self.assertEqual(end(asking)[0], 10)
        self.gone()
        good = self.ask()
        self.service.lay("right", asking=good)
        self.assertEqual(end(good)[0], 0)

    def test_escape_cancels(self):
        asking = self.ask()
        self.screen.press("Escape")
        self.assertEqual(end(asking)[0], 11)
        self.gone()

    def test_closing_the_window_and_killing_the_agent_are_no_success(self):
        asking = self.ask()
        self.screen.tool("windowclose", self.screen.window())
        self.assertNotEqual(end(asking)[0], 0)
        self.agent.close()
        self.agent = Agent(self.screen, self.service)
        asking = self.ask()
        self.screen.window()
        self.agent.process.kill()
        self.assertNotEqual(end(asking)[0], 0)

    def test_passcode_is_typed_into_the_window(self):
        setting = whorl("passcode", "set", "--passcode-fd", "0", secret=PASSCODE.encode() + b"\n")
        self.service.lay("right", asking=setting)
        self.assertEqual(end(setting)[0], 0)
        self.gone()
        try:
            asking = self.ask("unlock the vault", "--policy", "device-owner")
            self.screen.window()
            self.open_passcode()
            for typed, good in (("wrong one", False), (PASSCODE, True)):
                self.screen.type(typed)
                time.sleep(0.3)
                said = access.read()
                self.assertTrue("unlock the vault" in said and not any(typed in text for text in said), said)
                self.screen.press("Return")
                if not good:
                    until(lambda: any("Wrong passcode" in name for _, name in tree()), "the verdict")
            self.assertEqual(end(asking)[0], 0)
            self.gone()
        finally:
            removing = whorl("passcode", "remove", "--passcode-fd", "0", secret=PASSCODE.encode() + b"\n")
            self.assertEqual(end(removing)[0], 0)

    def open_passcode(self):
        """Presses the button for the passcode, by the keyboard: two after the one that has the focus."""
        self.screen.press("Tab", "Tab", "space")
        until(lambda: ("panel", "Passcode") in tree(), "the field")

    def test_text_of_a_program_is_plain_bounded_and_shown_in_320_pixels(self):
        reason = "<b>pay</b> \u202egnp.exe\u202c " + "é" * 10_000
        asking = self.ask(reason)
        self.screen.window()
        shown = until(lambda: [name for _, name in tree() if "pay" in name], "the reason")
        self.assertTrue(shown and all("<b>pay</b>" in name and "\u202e" not in name and len(name) <= 210 for name in shown), shown)
        width, height = self.screen.size()
        self.assertTrue(width <= 320 and height <= 900, (width, height))
        self.screen.press("Escape")
        end(asking)

    def test_screen_reader_finds_a_name_for_each_control(self):
        asking = self.ask()
        self.screen.window()
        parts = until(lambda: [part for part in tree() if any(name == "Cancel" for _, name in tree())], "the tree")
        self.assertTrue(all(name for role, name in parts if role in ("push button", "image", "label", "status bar")), parts)
        text = " ".join(name for _, name in parts)
        for word in ("whorl", "unlock the vault", "Cancel", "Fingerprint"):
            self.assertIn(word, text, parts)
        self.screen.press("Escape")
        end(asking)

    def test_prompts_come_one_at_a_time_and_a_program_that_asks_often_can_be_refused(self):
        first, second = self.ask("the first"), None
        self.screen.window()
        second = self.ask("the second")
        time.sleep(1)
        self.assertEqual(len(self.screen.windows()), 1)
        self.screen.press("Escape")
        self.assertEqual(end(first)[0], 11)
        until(lambda: any("the second" in name for _, name in tree()), "the second prompt")
        self.assertTrue(("push button", "Not This Program") in tree(), tree())
        # The button is the one after the button that has the focus.
        self.screen.press("Tab")
        self.screen.press("space")
        self.assertEqual(end(second)[0], 11)
        begun = time.monotonic()
        self.assertEqual(end(self.ask("the third"))[0], 11)
        self.assertLess(time.monotonic() - begun, 10)
        self.assertEqual(self.screen.windows(), [])

    def enrolling(self):
        """Starts an enrollment in a window, and has the owner agree."""
        process = enrolling(self, "left-index-finger")
        until(lambda: any(role == "image" for role, _ in tree()), "the question to the owner")
        self.service.lay("right", asking=process)
        shows("Enroll the left index finger")
        return process

    def fingers(self):
        return [finger["finger"] for finger in end(whorl("fingers"))[1]["result"]["fingers"]]

    def test_window_fills_with_an_enrollment_and_tells_how_well_the_finger_is_recognized(self):
        process = self.enrolling()
        for number in range(5):
            shows(f"Fingerprint, {number * 20} percent")
            self.service.lay("left", asking=process)
        shows("Touch once more to confirm.")
        self.service.lay("left", asking=process)
        shows("test touches show")
        for count in (1, 2):
            self.service.lay("left", asking=process)
            shows(f"{count} of {count} test touches recognized.")
        self.service.lay("left", asking=process)
        shows("Enrolled.")
        shows("3 of 3 test touches recognized.")
        self.assertEqual(process.wait(30), 0)
        self.assertIn("left-index-finger", self.fingers())
        removing = whorl("remove", "left-index-finger")
        self.service.lay("right", asking=removing)
        self.assertEqual(end(removing)[0], 0)

    def test_enrollment_that_is_left_in_the_middle_stores_nothing(self):
        process = self.enrolling()
        self.service.lay("left", 2, asking=process)
        shows("Fingerprint, 40 percent")
        self.screen.press("Escape")
        self.assertEqual(process.wait(30), 1)
        self.assertEqual(self.fingers(), ["right-index-finger"])

    def test_enrollment_that_is_left_among_the_test_touches_is_one(self):
        process = self.enrolling()
        self.service.lay("left", 6, asking=process)
        shows("test touches show")
        self.screen.press("Escape")
        self.assertEqual(process.wait(30), 0)
        self.assertEqual(sorted(self.fingers()), ["left-index-finger", "right-index-finger"])
        removing = whorl("remove", "left-index-finger")
        self.service.lay("right", asking=removing)
        self.assertEqual(end(removing)[0], 0)

    def test_enrollment_that_cannot_begin_says_why_in_its_window(self):
        process = enrolling(self, "right-index-finger")
        shows("Remove it first: `whorl remove right-index-finger`.")
        self.screen.press("Escape")
        self.assertEqual(process.wait(30), 1)

    def test_thousand_prompts_of_one_program_come_one_at_a_time_until_the_person_refuses_it(self):
        ends = []

        def ask_on():
            request = whorl_client.request("again", application="org.example.nuisance")
            asked = {"call": {"request": request}, "presenter": {"isInteractive": True, "takesPasscode": False}}
            for _ in range(1000):
                try:
                    ends.append(whorl_client.call("io.whorl.Owner.Evaluate", asked, update=lambda _: None))
                except whorl_client.Refused as refused:
                    ends.append(refused.parameters["code"])

        asking = threading.Thread(target=ask_on, daemon=True)
        asking.start()
        for number in range(1, 5):
            self.screen.window()
            self.assertEqual(len(self.screen.windows()), 1)
            if number == 4:
                shows("4 prompts of this program in the last minute.")
                access.press("Not This Program")
            else:
                self.screen.press("Escape")
            until(lambda: len(ends) >= number, "the end of the prompt")
        begun = time.monotonic()
        asking.join(120)
        self.assertEqual(ends, ["userCancel"] * 1000)
        self.gone()
        print(f"996 refused in {time.monotonic() - begun:.1f} s", end=" ", flush=True)

    def test_agent_registers_again_after_the_service_was_restarted(self):
        self.service.restart("virtual_device-0")
        self.agent.registered(times=2)
        asking = self.ask()
        self.screen.window()
        self.service.lay("right", asking=asking)
        self.assertEqual(end(asking)[0], 0)

    def test_second_agent_of_a_session_leaves_and_says_why(self):
        with self.assertRaises(AssertionError) as told:
            Agent(self.screen, self.service)
        self.assertIn("already", str(told.exception))
        asking = self.ask()
        self.screen.press("Escape")
        self.assertEqual(end(asking)[0], 11)


if __name__ == "__main__":
    if sys.argv[1:] == ["--measure"]:
        import measure
        import measure_keyring

        measure.measure()
        measure_keyring.measure()
    else:
        from test_asker import Packages
        from test_keyring import Names, OnDemand, ScreenAndSleep, Strangers, WithoutPassword
        from test_keyring_clients import Clients
        from test_keyring_dialog import AnswersOnWayland, AnswersOnX11, DialogLooks
        from test_rest import *
        from test_screens import *
        from test_settings_helper import Commands, Policy, Surroundings
        from test_settings import (
            Apps, Fingers, FingersOnWayland, Keyboard, KeyringOnDemand, Looks, OtherPages, Passcode, SSHAgent, UseItFor, WithoutService,
        )
        from test_ssh import SSHAndAge

        unittest.main(verbosity=2, warnings="ignore")
