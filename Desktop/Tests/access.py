# SPDX-License-Identifier: Apache-2.0
"""The prompt's window as a screen reader has it (AT-SPI).

usage: access.py            prints each part of the window, from the outside in
       access.py press NAME presses a button or a switch
       access.py read prints the text in each part
       access.py switch NAME prints whether a switch is on, and whether it can be changed
       access.py hear SECONDS prints what a screen reader is told in this time
"""

import dataclasses
import json
import subprocess
import sys
import time

PROGRAMS = ("whorl-prompt", "whorl-settings", "whorl-keyring-dialog")
CONTAINERS = ("application", "dialog", "panel", "push button")


@dataclasses.dataclass(frozen=True)
class Part:
    role: str
    name: str
    # Where it is in the window, in the toolkit's pixels; nothing for the program itself.
    x: int = 0
    y: int = 0
    width: int = 0
    height: int = 0

    def overlaps(self, other):
        return (
            self.x < other.x + other.width and other.x < self.x + self.width
            and self.y < other.y + other.height and other.y < self.y + self.height
        )

    def contains(self, other):
        return (
            self.x <= other.x and other.x + other.width <= self.x + self.width
            and self.y <= other.y and other.y + other.height <= self.y + self.height
        )


def ask(*words):
    """Runs this file; a process of its own sees the window as it is now, and not as it was cached."""
    return subprocess.run(
        ["/usr/bin/python3", "-W", "ignore", __file__, *words], capture_output=True, text=True, timeout=60
    ).stdout.splitlines()


def parts():
    """Returns the parts that are shown."""
    return [Part(*json.loads(line)) for line in ask()]


def names():
    return [part.name for part in parts()]


def texts():
    """Returns the parts that are read: labels and the status, those of buttons too, and the drawing."""
    return [part for part in parts() if part.role not in CONTAINERS]


def read():
    """Returns the texts that any program of the session can read."""
    return [json.loads(line) for line in ask("read")]


def press(name):
    # GTK takes no second press of a button while it shows the first one.
    for _ in range(5):
        if ask("press", name) == ["pressed"]:
            return
        time.sleep(0.3)
    raise AssertionError(f"{name} cannot be pressed: {names()}")


def switch(name):
    """Returns whether a switch is on, and whether it can be changed; None if it is not shown."""
    found = ask("switch", name)
    return tuple(json.loads(found[0])) if found else None


class Listener:
    """Collects what a screen reader is told."""

    def __init__(self):
        self.process = subprocess.Popen(
            ["/usr/bin/python3", "-W", "ignore", __file__, "hear"], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout.readline() == "listens\n"

    def heard(self):
        """Ends, and returns role, kind, text and moment of each event."""
        self.process.terminate()
        return [tuple(json.loads(line)) for line in self.process.stdout]


def found(part):
    """Gives the part and those within it, by Atspi."""
    yield part
    for index in range(part.get_child_count()):
        yield from found(part.get_child_at_index(index))


def main(words):
    import gi

    gi.require_version("Atspi", "2.0")
    from gi.repository import Atspi

    def told(event):
        text = event.any_data if isinstance(event.any_data, str) else event.source.get_name()
        print(json.dumps([event.source.get_role_name(), event.type, text, time.monotonic()]), flush=True)

    if words[:1] == ["hear"]:
        listener = Atspi.EventListener.new(told)
        for kind in ("object:text-changed:insert", "object:state-changed:showing", "object:announcement",
                     "object:property-change:accessible-name"):
            listener.register(kind)
        print("listens", flush=True)
        Atspi.event_main()
    desktop = Atspi.get_desktop(0)
    programs = [desktop.get_child_at_index(index) for index in range(desktop.get_child_count())]
    for program in programs:
        if program.get_name() not in PROGRAMS:
            continue
        for part in found(program):
            if words[:1] == ["switch"]:
                if part.get_role_name() == "check box" and part.get_name() == words[1]:
                    states = part.get_state_set()
                    print(json.dumps([states.contains(Atspi.StateType.CHECKED), states.contains(Atspi.StateType.SENSITIVE)]))
                    return
                continue
            if words[:1] == ["press"]:
                if part.get_role_name() in ("push button", "toggle button", "check box") and part.get_name() == words[1]:
                    Atspi.Action.do_action(part.get_action_iface(), 0)
                    print("pressed")
                    return
                continue
            if words[:1] == ["read"]:
                if text := part.get_text_iface():
                    print(json.dumps(Atspi.Text.get_text(text, 0, Atspi.Text.get_character_count(text))))
                continue
            place = ()
            if part.get_component_iface():
                extents = part.get_extents(Atspi.CoordType.WINDOW)
                place = (extents.x, extents.y, extents.width, extents.height)
            print(json.dumps([part.get_role_name(), part.get_name(), *place]))


if __name__ == "__main__":
    main(sys.argv[1:])
