# SPDX-License-Identifier: Apache-2.0
"""Prints the times of the prompt on a screen of X11, and the memory of the agent. Run `Desktop/test … --measure`."""

import array
import os
import select
import socket
import statistics
import threading
import time

from Xlib import display
from Xlib.ext import damage

import service
from access import parts
from desk import SOCKET, Agent, Screen, Service, end, until, whorl


class Relay(service.Folder):
    """Stands between the service and its clients, and notes when the word of a match goes to the agent."""

    def __init__(self, target):
        super().__init__()
        self.target, self.matched, self.released = target, None, None
        self.accepting(lambda client: threading.Thread(target=self.serve, args=(client,), daemon=True).start())

    def serve(self, client):
        server = socket.socket(socket.AF_UNIX)
        server.connect(self.target)
        others = {client: server, server: client}
        isAgent = False
        while True:
            for end in select.select(list(others), [], [])[0]:
                bytes, descriptors, _, _ = socket.recv_fds(end, 1 << 16, 8)
                if not bytes:
                    client.close()
                    server.close()
                    return
                isAgent = isAgent or b"io.whorl.Agent.Register" in bytes
                if isAgent and end is server and b"matched" in bytes:
                    self.matched = time.monotonic()
                # A secret comes with a descriptor.
                if not isAgent and end is server and descriptors:
                    self.released = time.monotonic()
                rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
                others[end].sendmsg([bytes], rights)
                for descriptor in descriptors:
                    os.close(descriptor)


class Changes:
    """Notes when the picture of a window changes."""

    def __init__(self, screen, window):
        self.display = display.Display(screen.name)
        self.display.damage_query_version()
        self.damage = self.display.create_resource_object("window", int(window)).damage_create(damage.DamageReportRawRectangles)
        self.display.sync()
        self.times, self.isOver = [], False
        self.thread = threading.Thread(target=self.note, daemon=True)
        self.thread.start()

    def note(self):
        while not self.isOver:
            if select.select([self.display], [], [], 0.1)[0] or self.display.pending_events():
                for _ in range(self.display.pending_events()):
                    self.display.next_event()
                    self.times.append(time.monotonic())

    def close(self):
        self.isOver = True
        self.thread.join()
        self.display.close()


def said(name, values):
    print(f"{name}: median {statistics.median(values) * 1000:.0f} ms, at most {max(values) * 1000:.0f} ms, of {len(values)}")


def appears(screen):
    """Asks for a touch, waits for the window, cancels, and returns how long it took to be visible."""
    begun = time.monotonic()
    asking = whorl("evaluate", "--reason", "unlock the vault")
    until(screen.windows, "a window")
    took = time.monotonic() - begun
    screen.press("Escape")
    end(asking)
    until(lambda: not screen.windows(), "the window's end")
    return took


def measure():
    screen, service = Screen(), Service()
    relay = Relay(service.path)
    os.unlink(SOCKET)
    os.symlink(relay.path, SOCKET)
    try:
        enrolling = whorl("enroll", "right-index-finger")
        service.lay("right", 6, asking=enrolling)
        assert end(enrolling)[0] == 0
        begun = time.monotonic()
        agent = Agent(screen, service)
        print(f"started and registered: {(time.monotonic() - begun) * 1000:.0f} ms")
        print(f"memory before the first prompt: {agent.memory()}")
        print(f"whorl starts → the window is visible, first prompt: {appears(screen) * 1000:.0f} ms")
        said("the same, agent in memory", [appears(screen) for _ in range(10)])
        matches = []
        for _ in range(20):
            asking = whorl("evaluate", "--reason", "unlock the vault")
            window = screen.window()
            until(lambda: any("reader" in part.name for part in parts()), "the instruction")
            # What a prompt shows at first is on the screen.
            time.sleep(0.3)
            changes, relay.matched = Changes(screen, window), None
            service.lay("right", asking=asking)
            assert end(asking)[0] == 0
            until(lambda: relay.matched, "the word of the match")
            time.sleep(0.1)
            changes.close()
            matches.append(next(moment for moment in changes.times if moment > relay.matched) - relay.matched)
            until(lambda: not screen.windows(), "the window's end")
        said("the word of a match reaches the agent → the window's picture changes", matches)
        print(f"memory after the last: {agent.memory()}")
        agent.close()
        agent = Agent(screen, service, "--idle", "1")
        agent.rests()
        print(f"memory at rest: {agent.memory()}")
        times = []
        for _ in range(10):
            agent.rests()
            times.append(appears(screen))
        said("whorl starts → the window is visible, agent at rest", times)
        agent.close()
    finally:
        relay.close()
        service.close()
        screen.close()
