# SPDX-License-Identifier: Apache-2.0
# Docs/Security.md: C1a, C1c, K3a
"""A match-on-chip reader belongs to the service (C1, K3): no one else can open its device node."""

import errno
import fcntl
import glob
import json
import multiprocessing
import os
import pathlib
import re
import select
import shutil
import socket
import struct
import subprocess
import sys
import time

from people import act, command, sit, start, whorl
from raw_bus import Bus
from run import HERE, configure
from test_e_sleep import sleep

RULES = pathlib.Path("/etc/udev/rules.d/70-whorl.rules")
DROP_IN = pathlib.Path("/etc/systemd/system/whorld.service.d/test.conf")
CLOSED = pathlib.Path("/usr/lib/udev/rules.d/99-whorl.rules")
# A file that an earlier installation, or a vendor, may have left behind.
OPENING = 'ACTION!="remove", SUBSYSTEM=="usb", ENV{DEVTYPE}=="usb_device", ATTR{idVendor}=="04f3", TAG+="uaccess", GROUP="fingerprint", MODE="0660"\n'
STATE, ASIDE = pathlib.Path("/var/lib/whorl"), pathlib.Path("/var/lib/whorl.aside")
RESET = 0x5514  # USBDEVFS_RESET


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def node():
    """The reader's device node."""
    for device in glob.glob("/sys/bus/usb/devices/*"):
        if (vendor := pathlib.Path(device, "idVendor")).exists() and vendor.read_text().strip() == "04f3":
            bus, number = (int(pathlib.Path(device, name).read_text()) for name in ("busnum", "devnum"))
            return f"/dev/bus/usb/{bus:03}/{number:03}"
    raise AssertionError("no reader is connected")


def device():
    """Returns the reader's folder in sysfs, whatever the number of its bus is; None while it is not connected."""
    for path in glob.glob("/sys/bus/usb/devices/*/idVendor"):
        if pathlib.Path(path).read_text().strip() == "04f3":
            return os.path.dirname(path)
    return None


def until(condition, what):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.2)


def opens(user, groups=(), place=None):
    """Whether a process of a user can open the reader."""
    path = node()

    def body():
        try:
            os.close(os.open(path, os.O_RDWR))
            return True
        except PermissionError:
            return False

    return act(user, body, **({} if place is None else {"place": place}))


def elsewhere(user):
    """A process outside any session at the seat, such as one started through ssh."""


def settle():
    run("udevadm", "settle", "--timeout=60")


def sits_down(user, terminal):
    """Logs a user in at another console of the seat and shows it; returns the unit."""
    unit = f"sitting-{user}"
    run(
        "systemd-run", f"--unit={unit}", "-p", f"User={user}", "-p", "PAMName=login", "-p", f"TTYPath=/dev/{terminal}",
        "-p", "StandardInput=tty", "-p", "StandardOutput=tty", "sleep", "600",
    )
    session = []

    def logged_in():
        session[:] = [line.split()[0] for line in run("loginctl", "list-sessions", "--no-legend").splitlines() if user in line.split()]
        return session

    until(logged_in, f"{user} has no session")
    run("loginctl", "activate", session[0])
    until(lambda: f"ActiveSession={session[0]}" in run("loginctl", "show-seat", "seat0"), f"{user} is not shown")
    return unit


def stands_up(unit):
    run("systemctl", "stop", unit)
    # Otherwise the next user at the seat would find this user's session.
    user = unit.removeprefix("sitting-")
    until(lambda: user not in run("loginctl", "list-sessions", "--no-legend").split(), f"{user} still has a session")
    run("loginctl", "activate", "1")
    until(lambda: "ActiveSession=1\n" in run("loginctl", "show-seat", "seat0"), "owner is not shown")


def plugged_in_again():
    """Turns the power of the reader's port off and on, and repeats this if the reader was too slow to be accepted."""
    before, port = node(), switch()
    turn_off_and_on(port)
    comes_back(port, after=before)


def switch():
    """The file in sysfs that turns the power of the reader's port off."""
    return pathlib.Path(os.path.realpath(f"{device()}/port/disable"))


def turn_off_and_on(port):
    port.write_text("1")
    port.write_text("0")


def comes_back(port, after):
    """Waits until the reader is at another node. On a busy machine, the emulated reader may be too slow for the kernel, which
    then leaves the port alone."""
    for _ in range(4):
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if device() and node() != after:
                settle()
                return
            time.sleep(0.2)
        turn_off_and_on(port)
    raise AssertionError("the reader did not come back")


def everyone_is_refused():
    for user in "owner", "mallory", "greeter":
        assert not opens(user), (user, run("getfacl", "-p", node()))
    assert not opens("owner", place=elsewhere)


def lay_once(finger, process):
    """Touches the reader until the finger is read or a command has ended, and returns the result of the touch."""
    with socket.socket(socket.AF_UNIX) as reader:
        reader.settimeout(40)
        reader.connect("/run/moc")
        reader.sendall(finger.encode())
        while not select.select([reader], [], [], 0.1)[0]:
            if process.poll() is not None:
                return "nobody asked"
        return reader.recv(100).decode()


def lays(finger, process):
    """Touches the reader each time it waits for a finger, until a command has ended."""
    while process.poll() is None:
        lay_once(finger, process)
        time.sleep(0.2)


def touches(finger, process):
    """Touches the reader for a command, and returns the command's status and its last line."""
    lays(finger, process)
    out, err = process.communicate(timeout=60)
    return process.returncode, json.loads(out.decode().splitlines()[-1]), err


held = None


def test_c1_reader_that_was_open_before_the_installation_is_closed_also_to_who_holds_it():
    global held
    run("useradd", "--system", "greeter")
    run("groupadd", "-f", "fingerprint")
    run("usermod", "-aG", "fingerprint", "mallory")
    run("modprobe", "vhci-hcd")
    rules = CLOSED.read_text()
    CLOSED.unlink()
    RULES.write_text(OPENING)
    run("udevadm", "control", "--reload")
    log = open("/tmp/moc.log", "w")
    subprocess.Popen([sys.executable, str(HERE / "moc_reader.py")], stdout=log, stderr=log)
    until(device, "no reader")
    settle()
    until(lambda: opens("owner"), "the reader is not open before the installation")
    # The owner of the session opens it, and keeps it open.
    held = os.open(node(), os.O_RDWR)
    # As the installation does; the earlier rules have another name, and stay here on purpose.
    CLOSED.write_text(rules)
    said = subprocess.run(["/usr/libexec/whorl/close-readers"], capture_output=True, text=True, timeout=120)
    assert said.returncode == 0 and said.stderr == "", said
    everyone_is_refused()
    try:
        fcntl.ioctl(held, RESET)
        raise AssertionError("a program that had opened the reader before still has it")
    except OSError as error:
        assert error.errno == errno.ENODEV, error
    os.close(held)


def test_c1_reader_stays_closed_when_it_is_plugged_in_changed_or_another_user_sits_down():
    for event in "change", "add", "remove", "add":
        run("udevadm", "trigger", f"--action={event}", "--subsystem-match=usb")
        settle()
        everyone_is_refused()
    unit = sits_down("mallory", "tty5")
    try:
        time.sleep(2)
        everyone_is_refused()
        run("udevadm", "trigger", "--action=change", "--subsystem-match=usb")
        settle()
        everyone_is_refused()
    finally:
        stands_up(unit)
    time.sleep(2)
    everyone_is_refused()
    plugged_in_again()
    everyone_is_refused()


TRIES = """
import glob, os, sys
while os.getppid() == int(sys.argv[1]):
    for node in glob.glob("/dev/bus/usb/*/*"):
        try:
            os.close(os.open(node, os.O_RDWR))
            sys.exit("opened " + node)
        except OSError:
            pass
"""


def test_c1_reader_is_closed_at_each_moment_of_an_event_although_another_rule_gives_it_to_the_seat():
    assert RULES.exists()
    trying = subprocess.Popen(
        ["setpriv", "--reuid=owner", "--regid=owner", "--clear-groups", sys.executable, "-c", TRIES, str(os.getpid())],
        stderr=subprocess.PIPE, preexec_fn=lambda: sit("owner"),
    )
    try:
        for event in ("change", "add") * 15:
            run("udevadm", "trigger", f"--action={event}", device())
            settle()
        for _ in range(3):
            plugged_in_again()
        tried = trying.poll() is None
    finally:
        trying.kill()
    said = trying.communicate()[1]
    assert tried and not said, said
    # There is also no entry that would take effect if someone widened the mask.
    assert "user:owner" not in run("getfacl", "-p", node()), run("getfacl", "-p", node())


def test_c1_installation_again_does_not_disconnect_a_closed_reader():
    before = node()
    run("/usr/libexec/whorl/close-readers")
    assert node() == before
    everyone_is_refused()


def test_c1_program_that_holds_a_reader_loses_it_although_an_event_came_before_the_readers_are_closed():
    rules = CLOSED.read_text()
    CLOSED.unlink()
    run("udevadm", "control", "--reload")
    # Opened as before an installation: a real event has to come, and the reader is another one after that.
    plugged_in_again()
    until(lambda: opens("owner"), "the reader is not open before the installation")
    with open(node(), "rb+", buffering=0) as holder:
        # The files are there, udev has read them, and something else makes an event before the readers are closed.
        CLOSED.write_text(rules)
        run("udevadm", "control", "--reload")
        run("udevadm", "trigger", "--action=change", device())
        run("udevadm", "trigger", "--action=add", device())
        settle()
        everyone_is_refused()
        before, port = node(), switch()
        run("/usr/libexec/whorl/close-readers")
        try:
            fcntl.ioctl(holder, RESET)
            raise AssertionError("the program still has the reader")
        except OSError as error:
            assert error.errno == errno.ENODEV, error
    comes_back(port, after=before)
    everyone_is_refused()


def enrolls(finger, name="right-thumb"):
    status, said, err = touches(finger, start("enroll", name, "--json"))
    assert status == 0, (said, err, pathlib.Path("/tmp/moc.log").read_text())


def evaluates(finger):
    return touches(finger, start("evaluate", "--reason", "a test", "--json", "--timeout", "20"))


def doctor():
    """Returns what `whorl doctor` says about the reader's node."""
    outcome = whorl("doctor", check=False)
    return next(line for line in (outcome.stdout + outcome.stderr).decode().splitlines() if "reader's node" in line)


def test_c1_owners_print_in_the_reader_is_the_owners():
    # Only the real reader, and users without any state.
    DROP_IN.write_text(DROP_IN.read_text().replace("Environment=FP_VIRTUAL_DEVICE=/run/reader/socket\n", ""))
    run("systemctl", "daemon-reload")
    run("systemctl", "stop", "whorld.service")
    if STATE.exists():
        STATE.rename(ASIDE)
    enrolls("owner-thumb")
    status, said, err = evaluates("owner-thumb")
    assert status == 0 and said["result"]["finger"] == "right-thumb", (said, err)
    status, said, err = evaluates("mallorys-thumb")
    assert status != 0, (said, err)
    listed = json.loads(whorl("fingers", "--json").stdout.splitlines()[-1])["result"]["fingers"]
    assert [finger["readerAccess"] for finger in listed if finger["finger"] == "right-thumb"] == ["closed"], listed
    assert doctor().startswith("✓") and "Only the service can open" in doctor(), doctor()


def own_engine(*arguments, service="in-process"):
    """Returns the output of a program that contains the engine."""
    outcome = subprocess.run(
        command("owner", f"WHORL_SERVICE={service}", "WHORL_STATE_DIR=/home/owner/own", "whorl", *arguments, "--json"),
        capture_output=True, text=True, timeout=120, preexec_fn=lambda: sit("owner"),
    )
    return outcome.returncode, json.loads(outcome.stdout.splitlines()[-1])


def test_c1_other_processes_are_told_that_the_reader_is_the_services():
    for service in "in-process", "private":
        status, said = own_engine("enroll", "left-thumb", service=service)
        assert status == 15 and "reserved for the service" in said["error"]["message"], said
    for arguments in ("devices", "capture", "--output", "/home/owner/finger.pgm"), ("devices", "exercise"):
        status, said = own_engine(*arguments)
        assert status == 15 and "reserved for the service" in said["error"]["message"], said
    unit = pathlib.Path("/usr/lib/systemd/system/whorld.socket")
    run("systemctl", "disable", "--now", "--quiet", "whorld.socket")
    text = unit.read_text()
    unit.unlink()
    try:
        status, said = own_engine("enroll", "left-thumb")
        assert status == 15 and "requires the service" in said["error"]["message"], said
    finally:
        unit.write_text(text)
        run("systemctl", "daemon-reload")
        run("systemctl", "enable", "--now", "--quiet", "whorld.socket")


def test_c1_reader_is_tested_by_the_service_after_its_owner_agrees_and_at_the_seat_only():
    process = start("devices", "exercise", "--json", "--timeout", "60")
    # A stranger cannot give consent: the owner is still prompted.
    for finger in "mallorys-thumb", "owner-thumb":
        while lay_once(finger, process) == "nobody asked":
            assert process.poll() is None, process.communicate()
        assert process.poll() is None, process.communicate()
    status, said, err = touches("trial-finger", process)
    assert status == 0, (said, err)
    assert all(step["ok"] for step in said["result"]["steps"]) and len(said["result"]["steps"]) >= 5, said
    # The test leaves nothing behind, and the owner's print still exists.
    status, said, err = evaluates("owner-thumb")
    assert status == 0, (said, err)
    status, said, err = evaluates("trial-finger")
    assert status != 0, (said, err)
    refused = whorl("devices", "exercise", "--clear-storage", "--json", check=False)
    assert refused.returncode != 0 and b"Only root can delete all prints" in refused.stdout, refused
    away = subprocess.run(command("owner", "whorl", "devices", "exercise", "--json"), capture_output=True, timeout=60)
    assert away.returncode != 0 and b'"steps"' not in away.stdout, away


def test_c1_print_is_not_trusted_after_its_reader_was_open_until_it_is_enrolled_again():
    run("setfacl", "-m", "u:mallory:rw", node())
    assert doctor().startswith("✗") and "the user mallory" in doctor(), doctor()
    status, said, err = evaluates("owner-thumb")
    # The service has found the reader open, as the doctor has, so the fingers in it are the first obstacle.
    assert status == 30 and said["error"]["code"] == "readerWasOpen", (said, err)
    run("setfacl", "-b", node())
    run("chmod", "600", node())
    assert doctor().startswith("✓"), doctor()
    run("systemctl", "restart", "whorld.service")
    status, said, err = evaluates("owner-thumb")
    assert status == 30 and said["error"]["code"] == "readerWasOpen", (said, err)
    whorl("remove", "--all")
    enrolls("owner-thumb")
    status, said, err = evaluates("owner-thumb")
    assert status == 0, (said, err)


NAME = "net.reactivated.Fprint"


class Locker:
    """A screen locker that speaks fprintd's interface itself, as hyprlock does, in a process at the seat."""

    ANSWERED = b"<answered>"

    def __init__(self):
        self.pipe, other = multiprocessing.Pipe()
        multiprocessing.get_context("fork").Process(target=act, args=("owner", self.serve, other)).start()
        self.heard = b""
        self.path = "/net/reactivated/Fprint/Manager"
        said = self.call("Manager", "GetDefaultDevice")
        self.path = re.search(rb"/net/reactivated/Fprint/Device/[0-9]+", said)[0].decode()

    def serve(self, pipe):
        """Makes calls and passes on what comes from the bus."""
        bus = Bus()
        bus.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "AddMatch", text=f"type='signal',sender='{NAME}'")
        awaited = None
        while True:
            for ready in select.select([bus.socket, pipe], [], [])[0]:
                if ready is pipe:
                    if (words := pipe.recv()) is None:
                        return
                    bus.send(NAME, *words[:3], text=words[3])
                    awaited = b"\x05\x01u\0" + struct.pack("<I", bus.serial)
                else:
                    data = bus.socket.recv(65536)
                    pipe.send_bytes(data)
                    if awaited and awaited in data:
                        pipe.send_bytes(self.ANSWERED)
                        awaited = None

    def hear(self, *words):
        """Waits until one of these words was received, and forgets what came before it."""
        while not any(word in self.heard for word in words):
            assert self.pipe.poll(60), (words, self.heard)
            self.heard += self.pipe.recv_bytes()
        word = next(word for word in words if word in self.heard)
        said, _, self.heard = self.heard.partition(word)
        return word, said

    def call(self, interface, member, text=None):
        """Calls a method, and returns what was received until the reply, which must not be an error."""
        self.pipe.send((self.path, f"{NAME}.{interface}", member, text))
        _, said = self.hear(self.ANSWERED)
        assert b"Error." not in said, said
        return said

    def verifies(self, finger):
        """Starts a verification, touches the reader, and stops it; returns the status."""
        self.call("Device", "VerifyStart", "any")
        with socket.socket(socket.AF_UNIX) as reader:
            reader.settimeout(60)
            reader.connect("/run/moc")
            reader.sendall(finger.encode())
            assert reader.recv(100) == b"verify"
        status, _ = self.hear(b"verify-match", b"verify-no-match", b"verify-disconnected", b"verify-unknown-error")
        self.call("Device", "VerifyStop")
        return status

    def close(self):
        self.pipe.send(None)


def replug():
    """Disconnects the reader and connects it again, as some do while the machine sleeps."""
    with socket.socket(socket.AF_UNIX) as reader:
        reader.settimeout(60)
        reader.connect("/run/moc")
        reader.sendall(b"replug")
        assert reader.recv(100) == b"connected"


def test_locker_on_fprintds_interface_goes_on_after_sleep_and_after_its_reader_was_connected_again():
    locker = Locker()
    try:
        locker.call("Device", "Claim", "")
        assert locker.verifies("a-stranger") == b"verify-no-match"
        assert locker.verifies("owner-thumb") == b"verify-match"
        sleep()
        assert locker.verifies("owner-thumb") == b"verify-match"
        replug()
        # At once, with the claim that it has held since before.
        assert locker.verifies("a-stranger") == b"verify-no-match"
        assert locker.verifies("owner-thumb") == b"verify-match"
        locker.call("Device", "Release")
    finally:
        locker.close()


def test_c1_prints_in_a_reader_are_taken_over_by_the_administrators_word_alone():
    run("useradd", "-m", "berta")
    rules = pathlib.Path("/etc/dbus-1/system.d/test.conf")
    rules.write_text('<busconfig><policy user="root"><allow own="net.reactivated.Fprint"/></policy></busconfig>')
    reload = ("busctl", "call", "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ReloadConfig")
    run(*reload)
    run("systemctl", "stop", "whorld.socket", "whorld.service")
    daemon = subprocess.Popen(["/usr/libexec/fprintd", "-t"], env={"STATE_DIRECTORY": "/var/lib/fprint"})
    try:
        until(lambda: daemon.pid in map(int, run("pidof", "fprintd").split()), "fprintd did not start")
        time.sleep(3)
        process = subprocess.Popen(["fprintd-enroll", "-f", "left-thumb", "berta"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        lays("bertas-thumb", process)
        said = process.communicate(timeout=60)[0]
        assert b"enroll-completed" in said, said
    finally:
        daemon.kill()
        daemon.wait()
        rules.unlink()
        run(*reload)
        run("systemctl", "start", "whorld.socket")
    for options, outcome in ((), "unvouched"), (("--readers-were-closed",), "taken"):
        said = json.loads(run("whorl", "import-fprintd", "--user", "berta", "--json", *options).splitlines()[-1])["result"]["users"][0]
        assert [print_["outcome"] for print_ in said["prints"]] == [outcome], said


def test_c1_reader_is_unplugged_and_the_virtual_one_is_back():
    run("systemctl", "stop", "whorld.service")
    subprocess.run(["pkill", "-f", "moc_reader.py"], check=True)
    if ASIDE.exists():
        shutil.rmtree(STATE)
        ASIDE.rename(STATE)
    RULES.unlink()
    configure(idle=600)
