# SPDX-License-Identifier: Apache-2.0
# Docs/Security.md: S56
"""whorl-keyring in a session of logind's: programs that need the locked keyring get its secrets after one touch.

SYSTEM_DESKTOP=1 SYSTEM_PACKAGES="chromium libsecret-tools python3-keyring git xvfb xdotool libgtk-4-1 libadwaita-1-0
libgcr-base-3-1 fonts-dejavu-core" GUEST_MEMORY=2560 scripts/test-system installs what these tests need, as `make nightly` does.
They begin with a keyring that is off, and leave it so.
"""

import http.server
import os
import pathlib
import subprocess
import threading
import time

from people import act, clear_lockout, command, forgive, lay, profiles, reader_waits, sit, whorl
from run import only_where
from test_e_sleep import sleep
from test_j_logins import PASSWORD, ended
from test_l_keyring import LINES, LOCKED, STACK, end_keyring, login, status, touched, typed
from test_l_keyring_on_demand import OPENED, is_locked, on_a_terminal, turn_on, wait

RUN, DISPLAY = "/run/user/1000", ":7"
SESSION = {
    "XDG_RUNTIME_DIR": RUN, "DBUS_SESSION_BUS_ADDRESS": f"unix:path={RUN}/bus", "DISPLAY": DISPLAY, "GDK_BACKEND": "x11",
    "GSK_RENDERER": "cairo", "LANG": "C.UTF-8",
}
PASSCODE = "2468 hunter"
PROMPTER, LOGIN = "org.gnome.keyring.SystemPrompter", "/org/freedesktop/secrets/collection/login"
UNIT = "whorl-keyring.service"
HELPER = "/usr/local/bin/git-credential-libsecret"
# An emulated processor is slow.
PATIENCE = 300
desktop = only_where("/usr/libexec/whorl/whorl-keyring", "only with what the test's file names, as in make nightly")
screen = None
site = None


def start(*words, text=b""):
    """Starts a program of owner's in the session at the seat, on the display."""
    settings = [f"{key}={value}" for key, value in SESSION.items()]
    process = subprocess.Popen(
        command("owner", *settings, *words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: sit("owner"),
    )
    process.stdin.write(text)
    process.stdin.close()
    process.stdin = None
    return process


def run(*words, text=b""):
    """Runs a program to its end, and returns what it prints."""
    process = start(*words, text=text)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, (words, process.returncode, out, err)
    return out.decode()


def manager(*words):
    return run("systemctl", "--user", *words)


def windows(program="whorl-prompt"):
    process = start("xdotool", "search", "--onlyvisible", "--class", program)
    return process.communicate(timeout=PATIENCE)[0].split()


def window(program="whorl-prompt"):
    wait(lambda: windows(program), PATIENCE)
    return windows(program)[-1].decode()


def press(program, *words):
    run("xdotool", "windowfocus", "--sync", window(program), *words)


def gone():
    wait(lambda: not windows() and not windows("whorl-keyring-dialog"), PATIENCE)


def owner_of(name):
    """Returns the number of the process that owns a name on the session's bus; 0 if none does."""
    words = ("busctl", "--user", "call", "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
             "GetConnectionUnixProcessID", "s", name)
    process = start(*words)
    out = process.communicate(timeout=PATIENCE)[0].decode().split()
    return int(out[1]) if process.returncode == 0 else 0


def lock_keyring():
    run("busctl", "--user", "call", "org.freedesktop.secrets", "/org/freedesktop/secrets", "org.freedesktop.Secret.Service", "Lock", "ao",
        "1", LOGIN)
    assert is_locked()


def opens(program, secret):
    """Sees that a program waits for a touch, and then gets the secret."""
    window()
    assert program.poll() is None, program.communicate()
    lay("right", asking=program)
    got(program, secret)
    gone()


def got(program, secret):
    out, err = program.communicate(timeout=PATIENCE)
    assert program.returncode == 0 and secret in out.decode(), (program.args, program.returncode, out, err)


def look():
    return start("secret-tool", "lookup", "name", "first")


def git(verb, text):
    return ("git", "-c", f"credential.helper={HELPER}", "credential", verb), text


def fill():
    words, text = git("fill", b"protocol=https\nhost=example.org\n\n")
    return start("env", "GIT_TERMINAL_PROMPT=0", *words, text=text)


def python_keyring(call):
    """Returns a command that calls Python's keyring."""
    return ("env", "PYTHON_KEYRING_BACKEND=keyring.backends.SecretService.Keyring", "/usr/bin/python3", "-W", "ignore", "-c",
            f"import keyring; print(keyring.{call})")


class Site:
    """A website that gives each browser a cookie, and collects those that come back."""

    def __init__(self):
        self.cookies = cookies = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                if self.path == "/page":
                    cookies.append(self.headers.get("Cookie"))
                self.send_response(200)
                self.send_header("Set-Cookie", "known=yes; Max-Age=100000")
                self.send_header("Content-Length", "5")
                self.end_headers()
                self.wfile.write(b"hello")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/page"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def browse():
    return start("chromium", "--headless=new", "--disable-gpu", "--no-first-run", "--password-store=gnome-libsecret",
                 "--user-data-dir=/home/owner/chromium", "--dump-dom", site.address)


def begin_screen():
    """Starts a display for the session, as a desktop does; returns its process."""
    sockets = pathlib.Path("/tmp/.X11-unix")
    sockets.mkdir(exist_ok=True)
    sockets.chmod(0o1777)
    process = start("Xvfb", DISPLAY, "-screen", "0", "1024x1400x24", "-nolisten", "tcp", "-noreset")
    wait(lambda: (sockets / "X7").exists(), PATIENCE)
    manager("set-environment", *(f"{key}={SESSION[key]}" for key in ("DISPLAY", "GDK_BACKEND", "GSK_RENDERER")))
    return process


@desktop
def test_keyring_is_turned_on_and_its_prompter_runs_in_the_session():
    global screen, site
    profiles("whorl", "whorl-keyring")
    if "gnome_keyring" not in STACK.read_text():
        STACK.write_text(STACK.read_text() + LINES)
    clear_lockout()
    assert status() == "off"
    # There may be no keyring yet; the first login makes one.
    login(typed)
    assert "b false" in login(typed, LOCKED)
    setting = start("whorl", "passcode", "set", "--passcode-fd", "0", text=PASSCODE.encode() + b"\n")
    lay("right", asking=setting)
    assert setting.wait(PATIENCE) == 0, setting.communicate()
    screen = begin_screen()
    child = on_a_terminal("on", "--on-demand", "--sheet")
    turn_on(child)
    code, text = ended(child)
    assert code == 0 and "No program of this session" not in text, text
    assert status() == "ownPassword"
    manager("start", "whorl-prompt.service")
    assert manager("is-enabled", UNIT) == "enabled\n"
    assert manager("show", "-P", "MainPID", UNIT).strip() == str(owner_of(PROMPTER)) != "0"
    site = Site()


@desktop
def test_each_program_opens_the_locked_keyring_with_one_touch():
    if is_locked():
        opens(start("whorl", "keyring", "unlock", "--json"), "unlocked")
    run("secret-tool", "store", "--label", "first", "name", "first", text=b"one")
    run(*python_keyring("set_password('mail', 'me', 'two')"))
    words, text = git("approve", b"protocol=https\nhost=example.org\nusername=ada\npassword=engine\n\n")
    run(*words, text=text)
    got(browse(), "hello")
    for name, program, secret in (
        ("secret-tool", look, "one"), ("Python's keyring", lambda: start(*python_keyring("get_password('mail', 'me')")), "two"),
        ("git", fill, "password=engine"), ("Chromium", browse, "hello"),
    ):
        print(f"        {name}", flush=True)
        lock_keyring()
        opens(program(), secret)
        assert not is_locked()
    # Only with its key from the keyring can Chromium decrypt the cookie.
    assert site.cookies == [None, "known=yes"], site.cookies


@desktop
def test_two_programs_share_one_touch():
    lock_keyring()
    looking, filling = look(), fill()
    window()
    wait(reader_waits, PATIENCE)
    time.sleep(5)
    assert len(windows()) == 1
    lay("right", asking=looking)
    got(looking, "one")
    got(filling, "password=engine")
    gone()


@desktop
def test_wrong_finger_leads_to_the_passcode():
    lock_keyring()
    looking = look()
    window()
    lay("left", 3, asking=looking)
    time.sleep(5)
    press("whorl-prompt", "type", "--delay", "50", PASSCODE)
    press("whorl-prompt", "key", "Return")
    got(looking, "one")
    gone()


CALLBACK = """<node><interface name="org.gnome.keyring.internal.Prompter.Callback">
<method name="PromptReady"><arg type="s" direction="in"/><arg type="a{sv}" direction="in"/><arg type="s" direction="in"/></method>
<method name="PromptDone"/></interface></node>"""


def ask_as_a_stranger():
    """Asks the prompter for the keyring's password, as gnome-keyring does; returns the answers until the prompt is dismissed."""
    os.environ.update(SESSION)
    import gi

    gi.require_version("Gio", "2.0")
    from gi.repository import Gio, GLib

    bus, loop, answers = Gio.bus_get_sync(Gio.BusType.SESSION, None), GLib.MainLoop(), []
    exchange = "[sx-aes-1]\npublic=" + "Q" * 256 + "\n"

    def call(method, types, *arguments):
        bus.call(PROMPTER, "/org/gnome/keyring/Prompter", "org.gnome.keyring.internal.Prompter", method,
                 GLib.Variant(types, arguments), None, Gio.DBusCallFlags.NONE, -1, None)

    def hear(_connection, _sender, _path, _interface, method, parameters, invocation):
        invocation.return_value(None)
        if method == "PromptReady":
            answers.append(parameters.unpack())
            if len(answers) == 1:
                message = {"message": GLib.Variant("s", "Unlock Login Keyring")}
                call("PerformPrompt", "(osa{sv}s)", "/prompt", "password", message, exchange)
            else:
                loop.quit()

    bus.register_object("/prompt", Gio.DBusNodeInfo.new_for_xml(CALLBACK).interfaces[0], hear, None, None)
    call("BeginPrompting", "(o)", "/prompt")
    GLib.timeout_add_seconds(PATIENCE, loop.quit)
    loop.run()
    return answers


@desktop
def test_stranger_that_calls_the_prompter_gets_a_field_and_no_password():
    lock_keyring()
    answers = []
    asking = threading.Thread(target=lambda: answers.extend(act("owner", ask_as_a_stranger)))
    asking.start()
    window("whorl-keyring-dialog")
    assert not windows() and not reader_waits()
    press("whorl-keyring-dialog", "key", "Escape")
    asking.join(PATIENCE)
    assert [answer[0] for answer in answers] == ["", "no"] and "secret" not in answers[1][2], answers
    assert is_locked()
    gone()


@desktop
def test_prompter_that_is_killed_leaves_no_program_waiting_and_comes_back():
    looking = look()
    window()
    manager("kill", "--signal", "SIGKILL", UNIT)
    out, _ = looking.communicate(timeout=60)
    assert out == b"" and looking.returncode != 0
    gone()
    wait(lambda: owner_of(PROMPTER), PATIENCE)
    opens(look(), "one")


@desktop
def test_keyring_is_locked_before_sleep_unless_the_users_unit_keeps_it_open():
    wait(lambda: "whorl-keyring" in subprocess.run(["systemd-inhibit", "--list"], capture_output=True, text=True).stdout, PATIENCE)
    assert not is_locked()
    sleep()
    assert is_locked()
    gone()
    opens(look(), "one")
    # What Docs/Prompt.md says to write with `systemctl --user edit whorl-keyring`.
    text = "[Service]\\nExecStart=\\nExecStart=/usr/libexec/whorl/whorl-keyring --keep-open-in-sleep\\n"
    editor = pathlib.Path("/usr/local/bin/editor-of-the-test")
    editor.write_text(f"#!/bin/sh\nprintf '{text}' >\"$1\"\n")
    editor.chmod(0o755)
    run("env", f"SYSTEMD_EDITOR={editor}", "script", "--quiet", "--command", f"systemctl --user edit {UNIT}", "/dev/null")
    manager("restart", UNIT)
    wait(lambda: owner_of(PROMPTER), PATIENCE)
    words = pathlib.Path(f"/proc/{owner_of(PROMPTER)}/cmdline").read_text().split("\0")
    assert words[1:-1] == ["--keep-open-in-sleep"], words
    assert not is_locked()
    sleep()
    assert not is_locked()
    manager("revert", UNIT)
    manager("restart", UNIT)


@desktop
def test_login_with_a_typed_password_opens_it():
    assert "b false" in login(typed, OPENED)


@desktop
def test_turned_off_the_prompter_has_gone_and_the_login_password_opens_it():
    forgive()
    process = start("whorl", "keyring", "off", "--login-password-fd", "0", text=f"{PASSWORD}\n".encode())
    lay("right", asking=process)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, (out, err)
    assert status() == "off"
    assert start("systemctl", "--user", "is-enabled", UNIT).communicate()[0] == b"disabled\n"
    assert owner_of(PROMPTER) == 0
    assert "b false" in login(typed, LOCKED)
    assert "b true" in login(touched, LOCKED)
    end_keyring()
    manager("stop", "whorl-prompt.service")
    screen.terminate()
    screen.wait(60)
    whorl("passcode", "remove", "--passcode-fd", "0", secret=PASSCODE.encode())
    profiles()
