# SPDX-License-Identifier: Apache-2.0
"""GNOME Settings on a display that no one sees: its fingerprint dialog enrolls a finger through the service.

SYSTEM_PACKAGES="gnome-control-center libgdm1 xvfb openbox at-spi2-core gir1.2-atspi-2.0 xdotool scrot adwaita-icon-theme
librsvg2-common fonts-dejavu-core" GUEST_MEMORY=2560 scripts/test-system installs what this test needs. GNOME Settings shows
its row for fingers only with libgdm1's settings, which every GNOME desktop has. WHORL_PICTURE, inside the guest, names a file
for a picture of the dialog when the finger is enrolled, such as /guest/out/enrolled.png with `scripts/guest run --out`.
"""

import os
import pathlib
import subprocess
import time

from people import act, command, lay, sit
from run import only_where
from test_k_fprintd import enrolled, fprintd, right_finger_alone

RUN = "/run/user/1000"
DISPLAY = 7
SETTINGS = {
    "XDG_RUNTIME_DIR": RUN, "DBUS_SESSION_BUS_ADDRESS": f"unix:path={RUN}/bus", "DISPLAY": f":{DISPLAY}", "GDK_BACKEND": "x11",
    "GSK_RENDERER": "cairo", "LIBGL_ALWAYS_SOFTWARE": "1", "XDG_CURRENT_DESKTOP": "GNOME", "LANG": "C.UTF-8",
}
# Debian 13 has the users' page among those of the system.
PAGE = ("system", "users") if pathlib.Path("/usr/share/applications/gnome-system-panel.desktop").exists() else ("user-accounts",)
# GTK 4.8, in Debian 12, tells assistive technologies of the first window alone, not of the dialog.
IS_TOLD = PAGE == ("system", "users")
FINGER, LABEL = "left-thumb", "Left thumb"
LOG = pathlib.Path("/tmp/gnome-settings.log")


def graphical(*words):
    """Starts a program of owner's in the session at the seat, on the display."""
    log = LOG.open("ab")
    settings = [f"{key}={value}" for key, value in SETTINGS.items()]
    return subprocess.Popen(
        command("owner", *settings, *words), stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=lambda: sit("owner")
    )


def widgets(node):
    """Lists a widget and those in it, the last ones first: the dialog and the page come before the list of pages."""
    for index in reversed(range(node.get_child_count())):
        child = node.get_child_at_index(index)
        if child:
            yield from widgets(child)
    yield node


def on_screen(body, *arguments):
    """Runs a function with the desktop of assistive technologies, as owner, until it returns something else than None."""

    def inside():
        os.environ.update(SETTINGS)
        import gi

        gi.require_version("Atspi", "2.0")
        from gi.repository import Atspi, GLib

        deadline = time.monotonic() + 240
        while time.monotonic() < deadline:
            try:
                Atspi.get_desktop(0).clear_cache()
                found = body(Atspi, *arguments)
                if found is not None:
                    return found
            except GLib.Error:
                pass  # A widget went away meanwhile.
            time.sleep(1)
        raise AssertionError(f"{arguments} did not appear")

    return act("owner", inside)


def clickable(node):
    """Returns the first button in a widget."""
    for widget in widgets(node):
        actions = widget.get_action_iface()
        if actions and actions.get_n_actions() == 1 and actions.get_action_name(0) == "click":
            return widget
    return None


def is_shown(Atspi, widget):
    """Returns whether a widget is on the screen, which GTK 4.8, in Debian 12, tells only of windows; of others, by their size."""
    states = widget.get_state_set()
    if not IS_TOLD and states.contains(Atspi.StateType.VISIBLE):
        return widget.get_extents(Atspi.CoordType.WINDOW).width > 0
    return states.contains(Atspi.StateType.SHOWING)


def named(Atspi, name):
    """Returns the widget on the screen with a name."""
    for widget in widgets(Atspi.get_desktop(0)):
        if widget.get_name() == name and is_shown(Atspi, widget):
            return widget
    return None


def press(Atspi, name):
    """Presses a button with a name, or the one above a label with the name."""
    widget = named(Atspi, name)
    for _ in range(2):
        if not widget:
            return None
        button = clickable(widget)
        if button:
            return button.get_action_iface().do_action(0) if button.get_state_set().contains(Atspi.StateType.SENSITIVE) else None
        widget = widget.get_parent()
    return None


def shown(Atspi, name):
    return True if named(Atspi, name) else None


def pointer(*words):
    assert graphical("xdotool", *words).wait(60) == 0


def choose(name, x, y):
    """Presses a button of the dialog by its name, or, where the dialog is not told, by where it is."""
    if IS_TOLD:
        on_screen(press, name)
        return
    time.sleep(10)
    pointer("mousemove", str(x), str(y))
    time.sleep(1)
    pointer("click", "1")


@only_where("/usr/bin/gnome-control-center", "only with the SYSTEM_PACKAGES that the test's file names")
def test_gnome_settings_enrolls_a_finger():
    right_finger_alone()
    sockets = pathlib.Path("/tmp/.X11-unix")
    sockets.mkdir(exist_ok=True)
    sockets.chmod(0o1777)
    # The list of fingers needs a high screen.
    programs = [graphical("Xvfb", f":{DISPLAY}", "-screen", "0", "1000x1100x24")]
    try:
        while not (sockets / f"X{DISPLAY}").exists():
            time.sleep(0.2)
        programs += [graphical("openbox"), graphical("gnome-control-center", *PAGE)]
        on_screen(shown, "Fingerprint Login")
        pointer("key", "alt+f")
        choose("Scan new fingerprint", 578, 541)
        choose(LABEL, 578, 675)
        lay("left", 6)
        while FINGER not in enrolled():
            time.sleep(1)
        if IS_TOLD:
            on_screen(shown, "Complete")
        time.sleep(3)
        if picture := os.environ.get("WHORL_PICTURE"):
            assert graphical("scrot", "-o", "/tmp/picture.png").wait(60) == 0
            pathlib.Path(picture).write_bytes(pathlib.Path("/tmp/picture.png").read_bytes())
        choose("Done", 752, 377)
        if IS_TOLD:
            on_screen(shown, "Scan new fingerprint")
            on_screen(shown, LABEL)
        assert sorted(enrolled()) == [FINGER, "right-index-finger"], enrolled()
    except Exception:
        print(LOG.read_text(), flush=True)
        raise
    finally:
        for program in reversed(programs):
            program.terminate()
            program.wait(60)
    # The dialog claims the reader as long as it is open.
    assert "verify-match" in fprintd("verify", "-f", FINGER, finger="left")
    fprintd("delete", "owner", "-f", FINGER)
    assert enrolled() == ["right-index-finger"], enrolled()
