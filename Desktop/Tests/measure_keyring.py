# SPDX-License-Identifier: Apache-2.0
"""Prints the times of the keyring's prompter, and its memory. Run `Desktop/test … --measure`."""

import os
import select
import threading
import time

from Xlib import X, display

from desk import SOCKET, Agent, Screen, Service, end, until, whorl
from measure import Relay, said
from prompter import Daemon, Gio, Keyring, connected, loop
from test_keyring import turn_on


class Appearance:
    """Notes when windows become visible."""

    def __init__(self, screen):
        self.display = display.Display(screen.name)
        self.display.screen().root.change_attributes(event_mask=X.SubstructureNotifyMask)
        self.display.sync()
        self.times, self.isOver = [], False
        threading.Thread(target=self.note, daemon=True).start()

    def note(self):
        while not self.isOver:
            if self.display.pending_events() == 0:
                select.select([self.display], [], [], 0.1)
                continue
            if self.display.next_event().type == X.MapNotify:
                self.times.append(time.monotonic())


def measure():
    loop()
    screen, service = Screen(), Service()
    daemon, relay = Daemon(), Relay(service.path)
    try:
        enrolling = whorl("enroll", "right-index-finger")
        service.lay("right", 6, asking=enrolling)
        assert end(enrolling)[0] == 0
        setting = whorl("passcode", "set", "--passcode-fd", "0", secret=b"2468 hunter\n")
        service.lay("right", asking=setting)
        assert end(setting)[0] == 0
        status, answer = turn_on(service, daemon)
        assert status == 0, answer
        os.unlink(SOCKET)
        os.symlink(relay.path, SOCKET)
        agent = Agent(screen, service)
        keyring, seen = Keyring(screen), Appearance(screen)
        time.sleep(5)
        print(f"whorl-keyring, before the first prompt: {memory(keyring)}")

        # The daemon reports that its keyring is open.
        opened = []
        connected().signal_subscribe(
            "org.freedesktop.secrets", None, "CollectionChanged", None, None, Gio.DBusSignalFlags.NONE,
            lambda *_: opened.append(time.monotonic()),
        )

        def opens():
            """Locks the keyring, has a program ask for it, and touches the reader; returns the three times."""
            daemon.lock()
            seen.times, opened[:], relay.matched, relay.released = [], [], None, None
            begun = time.monotonic()
            asking = daemon.look()
            until(lambda: seen.times, "the window")
            screen.window()
            time.sleep(0.3)
            service.lay("right", asking=asking)
            assert asking.wait(30) == 0
            until(lambda: not screen.windows(), "the end of the window")
            return seen.times[0] - begun, relay.released - relay.matched, opened[-1] - relay.released

        times = [opens() for _ in range(10)]
        said("secret-tool starts → the window is visible, agent in memory", [shown for shown, _, _ in times])
        said("the word of a match reaches the agent → the service has released the password", [took for _, took, _ in times])
        said("the password is released → the keyring is open", [took for _, _, took in times])
        agent.close()
        agent = Agent(screen, service, "--idle", "1")
        shown = []
        for _ in range(10):
            agent.rests()
            shown.append(opens()[0])
        said("secret-tool starts → the window is visible, agent at rest", shown)
        time.sleep(5)
        print(f"whorl-keyring, after {len(times) + len(shown)} prompts: {memory(keyring)}")
        agent.rests()
        print(f"whorl-prompt at rest: {agent.memory()}")
        keyring.close()
        agent.close()
        seen.isOver = True
        time.sleep(0.2)
    finally:
        daemon.close()
        relay.close()
        service.close()
        screen.close()


def memory(keyring):
    return Agent.memory(keyring)
