# SPDX-License-Identifier: Apache-2.0
"""How claims on the fprintd interface and open prompts end, and what the service accepts from the bus (C9, C13)."""

import contextlib
import json
import multiprocessing
import os
import pwd
import subprocess
import time

from people import act, forgive, lay, lock, service_pid, shown, sit, start, whorl
from raw_bus import Bus
from run import nightly
from test_b_attacks import wake
from test_k_fprintd import right_finger_alone, tell
from test_p_pressure import memory
from test_y_closed_reader import sits_down, stands_up
from whorl_client import call

NAME = "net.reactivated.Fprint"
DEVICE = (NAME, "/net/reactivated/Fprint/Device/0", NAME + ".Device")


def connections():
    """The unique names of the service's connections."""
    listed = subprocess.run(["busctl", "list", "--no-legend", "--unique"], check=True, capture_output=True, text=True).stdout
    return [words[0] for words in map(str.split, listed.splitlines()) if words[1] == str(service_pid())]


# Docs/Security.md: C13m
def test_c13_no_connection_of_the_service_takes_a_descriptor():
    # GLib closes descriptors received with a signal on the thread that reads all connections.
    wake()
    right_finger_alone()
    names = connections()
    assert len(names) >= 2, names
    for name in names:
        answer = act("mallory", lambda: Bus().call(name, "/", "io.whorl.Test", "Test", descriptor=0))
        assert b"NotSupported" in answer or b"AccessDenied" in answer, (name, answer)


def send_long(names):
    """Sends a long call, and a longer signal to each name; returns the reply to a subsequent short call."""
    bus = Bus()
    bus.socket.settimeout(150)
    bus.socket.sendall(bus.message(*DEVICE, "Claim", variants=6 << 20))
    for name in names:
        bus.socket.sendall(bus.message(name, "/", "io.whorl.Test", "Told", variants=12 << 20, is_signal=True))
    return bus.call(NAME, "/net/reactivated/Fprint/Manager", NAME + ".Manager", "GetDefaultDevice")


# Docs/Security.md: C13o
@nightly("fills memory")
def test_c13_long_message_on_the_bus_takes_no_memory():
    # GLib turns each one into 70 bytes before the message can be checked.
    subprocess.run(["systemctl", "restart", "whorld.service"], check=True)
    pid = wake()
    right_finger_alone()
    names = connections()
    assert len(names) >= 2, names
    results = multiprocessing.get_context("fork").SimpleQueue()
    sender = multiprocessing.get_context("fork").Process(target=lambda: results.put(act("mallory", send_long, names)))
    sender.start()
    slowest = 0
    while sender.is_alive():
        begun = time.monotonic()
        act("owner", call, "io.whorl.Items.List")
        slowest = max(slowest, time.monotonic() - begun)
    sender.join()
    assert sender.exitcode == 0
    answer = results.get()
    peak = memory(pid)[1]
    print(f"        another user's slowest call {slowest:.1f} s, peak {peak} MiB")
    assert b"/net/reactivated/Fprint/Device/" in answer, answer
    assert service_pid() == pid and peak <= 128 and slowest < 20, (peak, slowest)


@contextlib.contextmanager
def claim(verifies, leaves):
    """A claim by owner's program, whose child keeps using the connection after it exits; yields its signals."""
    reading, writing = os.pipe()
    maker = os.fork()
    if maker == 0:
        person = pwd.getpwnam("owner")
        sit("owner")
        os.setgroups([])
        os.setgid(person.pw_gid)
        os.setuid(person.pw_uid)
        bus = Bus()
        bus.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "AddMatch", text=f"interface='{DEVICE[2]}'")
        bus.call(*DEVICE, "Claim", text="")
        if verifies:
            bus.call(*DEVICE, "VerifyStart", text="any")
        os.write(writing, b"begun\n")
        if leaves and os.fork() != 0:
            os._exit(0)
        heard = b""
        bus.socket.settimeout(90)
        try:
            while verifies and b"verify-" not in heard:
                heard += bus.socket.recv(65536)
            os.write(writing, heard[heard.find(b"verify-"):][:40].split(b"\0")[0] + b"\n")
            time.sleep(90)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as said:
        assert said.readline() == "begun\n"
        if leaves:
            os.waitpid(maker, 0)
        try:
            yield said
        finally:
            subprocess.run(["pkill", "-KILL", "-u", "owner", "-f", "run.py"], check=False)
            if not leaves:
                os.waitpid(maker, 0)


def lockers_turn():
    """Returns the signals that root's screen locker gets when it claims the reader."""
    answer = tell("call", *DEVICE, "Claim", "s", "owner", user="root")
    # The claim ends with the connection.
    return answer.strip()


# Docs/Security.md: C9c
def test_c9_claim_ends_with_the_lock_whether_or_not_it_does_anything_and_whoever_has_the_connection():
    right_finger_alone()
    for verifies, leaves in (True, False), (True, True), (False, False), (False, True):
        with claim(verifies, leaves) as said:
            time.sleep(2)
            lock(True)
            try:
                deadline = time.monotonic() + 4
                while (heard := lockers_turn()) and time.monotonic() < deadline:
                    time.sleep(0.2)
                assert heard == "", (verifies, leaves, heard)
                if verifies:
                    assert said.readline() == "verify-unknown-error\n", leaves
            finally:
                lock(False)
        time.sleep(2)
    forgive()


# Docs/Security.md: C9a
def test_c9_what_a_session_asks_ends_when_its_seat_shows_another_one():
    right_finger_alone()
    whorl("secret", "delete", "bank", check=False)
    whorl("secret", "add", "bank", "--access", "biometry-any", secret=b"money")
    process = start("secret", "get", "bank", "--json")
    shown(process)
    unit = sits_down("mallory", "tty5")
    try:
        out, _ = process.communicate(timeout=60)
        said = json.loads(out.decode().splitlines()[-1])
        assert process.returncode == 20 and "Another session is active" in said["error"]["message"], said
    finally:
        stands_up(unit)
    with claim(verifies=True, leaves=False) as said:
        unit = sits_down("mallory", "tty5")
        try:
            assert said.readline() == "verify-unknown-error\n"
        finally:
            stands_up(unit)
    time.sleep(2)
    process = start("secret", "get", "bank", "--json")
    shown(process)
    lay("right", asking=process)
    assert process.communicate(timeout=60) and process.returncode == 0
