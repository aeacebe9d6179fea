# SPDX-License-Identifier: Apache-2.0
"""The keyring of a session: gnome-keyring-daemon, programs that ask for its items, and whorl-keyring."""

import copy
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib

from desk import PROMPT, until

PROGRAM = str(pathlib.Path(PROMPT).with_name("whorl-keyring"))
PASSWORD = "the login keyring's own"
SECRETS, LOGIN = "/org/freedesktop/secrets", "/org/freedesktop/secrets/collection/login"
PROMPTER = "org.gnome.keyring.SystemPrompter"
CONNECTIONS = []


def connected():
    """Connects to the session bus, once."""
    if not CONNECTIONS:
        CONNECTIONS.append(Gio.bus_get_sync(Gio.BusType.SESSION, None))
    return CONNECTIONS[0]


def connection():
    """Returns another connection to the session bus: another program, as far as the bus knows."""
    flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
    return Gio.DBusConnection.new_for_address_sync(os.environ["DBUS_SESSION_BUS_ADDRESS"], flags, None, None)


def call(name, path, interface, method, arguments=None, on=None, milliseconds=10_000):
    reply = (on or connected()).call_sync(
        name, path, interface, method, arguments, None, Gio.DBusCallFlags.NO_AUTO_START, milliseconds, None
    )
    return reply.unpack()


def owner(name):
    """Returns the unique name of a name's owner, or None."""
    try:
        return call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetNameOwner", GLib.Variant("(s)", (name,)))[0]
    except GLib.Error:
        return None


def dialogs(screen):
    """Returns the screen for the windows of the keyring's dialog."""
    other = copy.copy(screen)
    other.program = "whorl-keyring-dialog"
    return other


def loop():
    """Runs GLib's loop in the background, for objects that are called."""
    threading.Thread(target=GLib.MainLoop().run, daemon=True).start()


class Asker:
    """A program that asks the prompter, as gcr does."""

    CALLBACK = """<node><interface name="org.gnome.keyring.internal.Prompter.Callback">
        <method name="PromptReady"><arg type="s" direction="in"/><arg type="a{sv}" direction="in"/><arg type="s" direction="in"/></method>
        <method name="PromptDone"/></interface></node>"""
    # A public key of the right length.
    KEY = "[sx-aes-1]\npublic=" + "Q" * 256 + "\n"

    def __init__(self):
        self.bus = connection()
        self.heard = []
        self.interface = Gio.DBusNodeInfo.new_for_xml(self.CALLBACK).interfaces[0]

    def hear(self, _connection, _sender, path, _interface, method, parameters, invocation):
        self.heard.append((path, method, parameters.unpack()))
        invocation.return_value(None)

    def ask(self, method, *arguments):
        """Calls the prompter; returns the name of the error, if there is one."""
        types = {"BeginPrompting": "(o)", "StopPrompting": "(o)", "PerformPrompt": "(osa{sv}s)"}
        try:
            call(PROMPTER, "/org/gnome/keyring/Prompter", "org.gnome.keyring.internal.Prompter", method,
                 GLib.Variant(types[method], arguments), on=self.bus)
        except GLib.Error as error:
            return Gio.DBusError.get_remote_error(error)

    def begin(self, path="/prompt"):
        """Begins a prompt; returns the name of the error, if there is one."""
        try:
            self.bus.register_object(path, self.interface, self.hear, None, None)
        except GLib.Error:
            pass
        refused = self.ask("BeginPrompting", path)
        if not refused:
            until(lambda: self.answers(path), "the word that the prompt may ask")
        return refused

    def perform(self, path="/prompt", kind="password", exchange=KEY, **texts):
        properties = {name.replace("_", "-"): GLib.Variant("b" if isinstance(text, bool) else "s", text) for name, text in texts.items()}
        return self.ask("PerformPrompt", path, kind, properties, exchange)

    def answers(self, path="/prompt"):
        """Returns what the prompter said: the reply, the properties, and the exchange."""
        return [said for place, method, said in self.heard if place == path and method == "PromptReady"]

    def take(self, name, flags=0):
        """Requests a name; returns the bus's code."""
        return call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName",
                    GLib.Variant("(su)", (name, flags)), on=self.bus)[0]

    @property
    def name(self):
        return self.bus.get_unique_name()

    def close(self):
        if not self.bus.is_closed():
            self.bus.close_sync(None)


class Logind:
    """A bus with a login manager, for the screen's lock and the computer's sleep."""

    OBJECTS = """<node><interface name="org.freedesktop.login1.Manager">
        <method name="GetSession"><arg type="s" direction="in"/><arg type="o" direction="out"/></method>
        <method name="Inhibit"><arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="s" direction="in"/>
        <arg type="s" direction="in"/><arg type="h" direction="out"/></method></interface>
        <interface name="org.freedesktop.login1.Session"><property name="LockedHint" type="b" access="read"/></interface></node>"""
    SESSION, MANAGER = "/org/freedesktop/login1/session/_31", "/org/freedesktop/login1"

    def __init__(self):
        self.daemon = subprocess.Popen(
            ["dbus-daemon", "--session", "--nofork", "--print-address"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.address = self.daemon.stdout.readline().decode().strip()
        flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
        self.bus = Gio.DBusConnection.new_for_address_sync(self.address, flags, None, None)
        self.isLocked, self.delay = False, None
        manager, session = Gio.DBusNodeInfo.new_for_xml(self.OBJECTS).interfaces
        self.bus.register_object(self.MANAGER, manager, self.called, None, None)
        self.bus.register_object(self.SESSION, session, None, lambda *_: GLib.Variant("b", self.isLocked), None)
        call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName",
             GLib.Variant("(su)", ("org.freedesktop.login1", 0)), on=self.bus)

    def called(self, _connection, _sender, _path, _interface, method, parameters, invocation):
        if method == "GetSession":
            return invocation.return_value(GLib.Variant("(o)", (self.SESSION,)))
        self.delay, given = os.pipe()
        os.set_blocking(self.delay, False)
        descriptors = Gio.UnixFDList.new()
        descriptors.append(given)
        os.close(given)
        invocation.return_value_with_unix_fd_list(GLib.Variant("(h)", (0,)), descriptors)

    def isDelayed(self):
        """Tells whether a program delays sleep."""
        try:
            return os.read(self.delay, 1) != b""
        except BlockingIOError:
            return True

    def lock(self, isLocked):
        self.isLocked = isLocked
        changed = ("org.freedesktop.login1.Session", {"LockedHint": GLib.Variant("b", isLocked)}, [])
        self.bus.emit_signal(None, self.SESSION, "org.freedesktop.DBus.Properties", "PropertiesChanged", GLib.Variant("(sa{sv}as)", changed))

    def sleep(self, begins):
        self.bus.emit_signal(None, self.MANAGER, "org.freedesktop.login1.Manager", "PrepareForSleep", GLib.Variant("(b)", (begins,)))

    def variables(self):
        return {"DBUS_SYSTEM_BUS_ADDRESS": self.address}

    def close(self):
        self.bus.close_sync(None)
        self.daemon.kill()
        self.daemon.wait()


class Daemon:
    """gnome-keyring-daemon with a login keyring."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="keyring."))
        self.environment = {
            **os.environ, "HOME": str(self.folder), "XDG_DATA_HOME": str(self.folder / "data"),
            "XDG_RUNTIME_DIR": str(self.folder), "LANGUAGE": "C",
        }
        self.process = None
        self.start(PASSWORD)
        self.store("first", "one")

    def start(self, password=None, program="gnome-keyring-daemon"):
        words = [program, "--foreground", "--components=secrets"] + (["--unlock"] if password else [])
        self.process = subprocess.Popen(
            words, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.process.stdin.write((password or "").encode())
        self.process.stdin.close()
        until(lambda: owner("org.freedesktop.secrets"), "the daemon")

    def stop(self):
        self.process.terminate()
        self.process.wait(30)
        until(lambda: not owner("org.freedesktop.secrets"), "the daemon's end")

    def close(self):
        self.stop()
        shutil.rmtree(self.folder)

    def tool(self, *words, **options):
        """Starts secret-tool, as any program that needs a secret."""
        return subprocess.Popen(
            ["secret-tool", *words], env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, **options
        )

    def store(self, name, secret, *attributes):
        """Stores a secret, while the keyring is open."""
        storing = self.tool("store", "--label", name, *(attributes or ("name", name)))
        assert storing.communicate(secret.encode(), timeout=30)[1] == b"" and storing.returncode == 0, name

    def look(self, name="first"):
        """Starts a program that looks a secret up."""
        return self.tool("lookup", "name", name)

    def create(self, label, password):
        """Creates another keyring, and returns its path."""
        _, session = call("org.freedesktop.secrets", SECRETS, "org.freedesktop.Secret.Service", "OpenSession",
                          GLib.Variant("(sv)", ("plain", GLib.Variant("s", ""))))
        properties = {"org.freedesktop.Secret.Collection.Label": GLib.Variant("s", label)}
        return call("org.freedesktop.secrets", SECRETS, "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface", "CreateWithMasterPassword",
                    GLib.Variant("(a{sv}(oayays))", (properties, (session, b"", password.encode(), "text/plain"))))[0]

    def unlock(self, path):
        """Has the daemon ask for a keyring's password."""
        _, prompt = call("org.freedesktop.secrets", SECRETS, "org.freedesktop.Secret.Service", "Unlock", GLib.Variant("(ao)", ([path],)))
        call("org.freedesktop.secrets", prompt, "org.freedesktop.Secret.Prompt", "Prompt", GLib.Variant("(s)", ("",)))

    def delete(self, path):
        call("org.freedesktop.secrets", path, "org.freedesktop.Secret.Collection", "Delete")

    def lock(self, path=LOGIN):
        call("org.freedesktop.secrets", SECRETS, "org.freedesktop.Secret.Service", "Lock", GLib.Variant("(ao)", ([path],)))
        assert self.is_locked(path)

    def is_locked(self, path=LOGIN):
        name = GLib.Variant("(ss)", ("org.freedesktop.Secret.Collection", "Locked"))
        return call("org.freedesktop.secrets", path, "org.freedesktop.DBus.Properties", "Get", name)[0]


class Keyring:
    """whorl-keyring."""

    def __init__(self, screen, *words, **variables):
        self.log = tempfile.TemporaryFile("w+")
        environment = {**os.environ, **screen.variables(), "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent", **variables}
        # As the unit does.
        environment["G_SLICE"] = "always-malloc"
        self.process = subprocess.Popen([PROGRAM, *words], stderr=self.log, env=environment)
        until(lambda: "Showing" in self.said() or self.process.poll() is not None, "the prompter")

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def remembers(self, pattern):
        """Returns what is in the process's memory and matches a pattern of bytes."""
        found = []
        with open(f"/proc/{self.process.pid}/maps") as maps, open(f"/proc/{self.process.pid}/mem", "rb", 0) as memory:
            for line in maps:
                place, rights = line.split()[:2]
                start, end = (int(number, 16) for number in place.split("-"))
                if rights[:2] == "rw" and "[v" not in line:
                    memory.seek(start)
                    found += re.findall(pattern, memory.read(end - start))
        return found

    def resident(self):
        """Returns the resident memory in KiB."""
        with open(f"/proc/{self.process.pid}/status") as lines:
            return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))

    def close(self):
        self.process.terminate()
        self.process.wait(30)
        self.log.close()
