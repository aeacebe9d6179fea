# SPDX-License-Identifier: Apache-2.0
"""The agent at rest: while no prompt is shown, a program without GTK waits for the next one."""

import os
import shutil
import time
import unittest

import access
from access import parts
from desk import PROMPT, Agent, Screen, Service, WaylandScreen, end, until, whorl


class Resting(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service()
        cls.addClassCleanup(cls.service.close)
        cls.screen = Screen()
        cls.addClassCleanup(cls.screen.close)
        enrolling = whorl("enroll", "right-index-finger")
        cls.service.lay("right", 6, asking=enrolling)
        assert end(enrolling)[0] == 0

    def start(self, idle=1):
        agent = Agent(self.screen, self.service, "--idle", str(idle))
        self.addCleanup(agent.close)
        return agent

    def ask(self, *words):
        asking = whorl("evaluate", "--reason", "unlock the vault", *words)
        self.addCleanup(lambda: asking.poll() is None and asking.kill())
        return asking

    def touched(self, asking):
        """Waits for the window, touches the reader, and sees the success and the window's end."""
        self.screen.window()
        self.service.lay("right", asking=asking)
        status, said = end(asking)
        self.assertEqual((status, said["result"]["finger"]), (0, "right-index-finger"))
        until(lambda: not self.screen.windows(), "the window's end")

    def test_program_without_gtk_waits_and_the_next_prompt_is_shown(self):
        agent = self.start()
        for _ in range(3):
            agent.rests()
            self.assertLess(agent.resident(), 4096)
            self.touched(self.ask())
        agent.rests()
        # It was registered once: the process and its registration have stayed.
        self.assertEqual(agent.said().count("Showing this session's prompts"), 1)
        self.assertIsNone(agent.process.poll())

    def test_no_prompt_is_lost_between_the_two_programs(self):
        agent = self.start()
        for number in range(12):
            # Around the moment at which the window's program leaves.
            time.sleep(0.9 + 0.03 * number)
            self.touched(self.ask())
        self.assertEqual(agent.said().count("Showing this session's prompts"), 1)

    def test_touch_before_the_window_is_there_counts(self):
        self.start().rests()
        asking = self.ask()
        self.service.lay("right", asking=asking)
        self.assertEqual(end(asking)[0], 0)
        until(lambda: not self.screen.windows(), "the window's end")

    def test_prompt_that_is_cancelled_by_its_program_leaves_no_window(self):
        agent = self.start()
        agent.rests()
        asking = self.ask()
        until(lambda: not agent.isResting(), "the window's program")
        asking.kill()
        until(lambda: not self.screen.windows(), "the window's end")
        agent.rests()

    def test_service_that_ends_meanwhile_is_asked_again(self):
        agent = self.start()
        agent.rests()
        self.service.restart("virtual_device-0")
        agent.registered(times=2)
        agent.rests()
        self.touched(self.ask())

    def test_waiting_program_ends_with_its_screen(self):
        for screen in (Screen(), WaylandScreen(self.service.folder)):
            agent = Agent(screen, self.service, "--idle", "1")
            self.addCleanup(agent.close)
            agent.rests()
            screen.close()
            self.assertEqual(agent.process.wait(30), 0)
            # Its place is free: the program that asks shows the prompt itself.
            asking = self.ask()
            self.service.lay("right", asking=asking)
            self.assertEqual(end(asking)[0], 0)

    def test_program_that_is_being_replaced_is_run_when_it_is_there(self):
        folder = self.service.folder / "programs"
        folder.mkdir()
        for name in (PROMPT, f"{PROMPT}-wait"):
            shutil.copy2(name, folder)
        program = folder / os.path.basename(PROMPT)
        agent = Agent(self.screen, self.service, "--idle", "1", program=str(program))
        self.addCleanup(agent.close)
        agent.rests()
        program.rename(folder / "away")
        asking = self.ask()
        time.sleep(1)
        (folder / "away").rename(program)
        self.touched(asking)

    def test_refused_program_stays_refused(self):
        agent = self.start()
        for _ in range(2):
            asking = self.ask()
            self.screen.window()
            if ("push button", "Not This Program") in [(part.role, part.name) for part in parts()]:
                access.press("Not This Program")
            else:
                self.screen.press("Escape")
            self.assertEqual(end(asking)[0], 11)
        time.sleep(3)
        self.assertFalse(agent.isResting())
        self.assertEqual(end(self.ask())[0], 11)
        self.assertEqual(self.screen.windows(), [])

    def test_waiting_program_ends_when_it_is_told_to(self):
        agent = self.start()
        agent.rests()
        agent.process.terminate()
        agent.process.wait(10)

    def test_waiting_program_holds_nothing_but_its_registration_and_the_screen(self):
        agent = self.start()
        agent.rests()
        folder = f"/proc/{agent.process.pid}/fd"
        held = {number: os.readlink(f"{folder}/{number}") for number in os.listdir(folder)}
        more = {number: target for number, target in held.items() if int(number) > 2}
        self.assertEqual([target.split(":")[0] for target in more.values()], ["socket", "socket"], held)


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
