# SPDX-License-Identifier: Apache-2.0
"""Resources that one user keeps for a long time: a question, a file, a turn."""

import array
import contextlib
import json
import multiprocessing
import os
import socket
import subprocess
import time

from people import act, service_pid
from run import allow, configure, nightly
from silent import open_silent_file, polkit_agent
from test_b_attacks import wake
from test_p_pressure import NIGHT, Pressed, five_accounts, keep_prompts, memory, store_a_large_value
from whorl_client import CONSENT, PRESENTER, Client, HungUp, Refused, call, request

FORK = multiprocessing.get_context("fork")


def keep_questions(count, seconds):
    """Makes polkit query an agent that never responds, on this many connections."""
    calls = [
        ("io.whorl.Maintenance.Reset", {"value": True}, []),
        ("io.whorl.Login.Unlock", {"value": os.getuid()}, []),
        ("io.whorl.Passcode.Set", {"passcode": 0, "request": CONSENT}, [b"a passcode"]),
        # As large as a value may be, and larger than any passcode.
        ("io.whorl.Passcode.Set", {"passcode": 0, "request": CONSENT}, [b"x" * (2 << 20)]),
    ]
    clients, end = [], time.monotonic() + seconds
    with polkit_agent():
        while time.monotonic() < end:
            try:
                if len(clients) < count:
                    method, parameters, secrets = calls[len(clients) % len(calls)]
                    clients.append(Client(timeout=10))
                    clients[-1].send(method, parameters, secrets)
                else:
                    time.sleep(0.5)
            except (OSError, HungUp, Refused):
                time.sleep(0.2)


def look_at_the_place():
    """A call for which the login manager is queried, and one that waits for a turn shared by all users."""
    with contextlib.suppress(Refused):
        call("io.whorl.Owner.Preflight", {"policy": "biometrics", "application": "test"})
    store_a_large_value()


# Docs/Security.md: C13g
@nightly("250 questions; unit tests cover the turns")
def test_c13_questions_that_no_one_answers_keep_no_other_users_calls_waiting():
    with Pressed((act, "mallory", keep_questions, 250, 25 * NIGHT), probe=look_at_the_place) as pressed:
        assert pressed.calls > 2 and pressed.slowest < 15, (pressed.calls, pressed.slowest)


def send_silent_file(ready, done):
    """Sends a file whose closing never completes, and waits; then its file system ends."""
    file, server = open_silent_file()
    for method in ("io.whorl.Items.Decode", "io.whorl.Items.List"):
        with Client(timeout=15) as client:
            text = json.dumps({"method": method, "parameters": {"value": 0}}).encode() + b"\0"
            client.socket.sendmsg([text], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file]))])
            with contextlib.suppress(Refused, HungUp):
                client.reply(None)
    ready.put("sent")
    done.get()
    os.kill(server, 9)
    os.waitpid(server, 0)


# Docs/Security.md: C13h
@nightly("waits for idle times")
def test_c13_service_does_not_leave_while_a_file_is_being_closed():
    configure(idle=3)
    subprocess.run(["systemctl", "restart", "whorld.service"], check=True)
    pid = wake()
    ready, done = FORK.SimpleQueue(), FORK.SimpleQueue()
    sender = FORK.Process(target=act, args=("mallory", send_silent_file, ready, done))
    sender.start()
    try:
        assert ready.get() == "sent"
        for _ in range(3):
            time.sleep(6)
            begun = time.monotonic()
            act("owner", call, "io.whorl.Fingers.List")
            assert service_pid() == pid and time.monotonic() - begun < 5, "it tried to leave"
        if NIGHT > 1:
            # Nothing ends it before the time limit. Then it is available again, and names the user responsible.
            begun = time.monotonic()
            subprocess.run(["systemctl", "restart", "whorld.service"], check=False)
            act("owner", call, "io.whorl.Fingers.List")
            away = time.monotonic() - begun
            print(f"        a restart took {away:.0f} s")
            assert away < 45, away
            log = subprocess.run(["journalctl", "-u", "whorld", "-b", "--no-pager"], capture_output=True, text=True, check=True)
            assert "loginctl terminate-user" in log.stdout, log.stdout[-2000:]
    finally:
        done.put("done")
        sender.join(30)
    deadline = time.monotonic() + 60
    while service_pid() != 0:
        assert time.monotonic() < deadline, "it does not leave"
        time.sleep(1)
    configure(idle=600)


def make_secrets(connections, seconds):
    """Seals secrets of 1 MiB on many connections at once."""
    value, end = os.urandom(1 << 20), time.monotonic() + seconds
    while time.monotonic() < end:
        clients = []
        for _ in range(connections):
            try:
                clients.append(Client(timeout=30))
                clients[-1].send("io.whorl.Items.Make", {"kind": "secret", "access": "none", "secret": 0}, [value])
            except (OSError, HungUp, Refused):
                time.sleep(0.05)
        for client in clients:
            with contextlib.suppress(OSError, HungUp, Refused), client:
                client.reply(None)


# Docs/Security.md: C13f
@nightly("fills memory")
def test_c13_secrets_of_one_mebibyte_of_five_accounts_take_little_memory():
    with five_accounts() as names:
        # By day one account, whose calls alone once took too much.
        with Pressed(*((act, name, make_secrets, 50, 15 * NIGHT) for name in names[:5 if NIGHT > 1 else 1])) as pressed:
            assert pressed.most < 128 and memory(pressed.pid)[1] <= 128, (pressed.most, memory(pressed.pid))


def keep_uses(seconds):
    """Asks to use an item of nearly 1 MiB on 16 connections, and never answers the prompts; then keeps 240 long ones."""
    with contextlib.suppress(Refused):  # It is set already.
        call("io.whorl.Passcode.Set", {"passcode": 0, "request": CONSENT}, secrets=[b"a passcode"])
    with Client(timeout=60) as client:
        made = client.call(
            "io.whorl.Items.Make", {"kind": "secret", "access": "user-presence", "secret": 0}, secrets=[b"x" * (1000 << 10)])
        sealed = os.pread(client.files[made["bytes"]], 4 << 20, 0)
    asked = {
        "sealed": {"item": made["item"], "bytes": 0}, "use": {"secret": {}},
        "asking": {"request": request("open", policy="device-owner", purpose={"kind": "storedByProgram"}, timeoutMilliseconds=120_000)},
    }
    clients, end = [], time.monotonic() + seconds
    while len(clients) < 16 and time.monotonic() < end:
        try:
            clients.append(Client(timeout=10))
            clients[-1].send("io.whorl.Items.Use", {"call": asked, "presenter": PRESENTER}, [sealed], more=True)
        except (OSError, HungUp, Refused):
            time.sleep(0.2)
    keep_prompts(end - time.monotonic())


# Docs/Security.md: C13f
@nightly("fills memory")
def test_c13_large_items_behind_prompts_of_five_accounts_take_little_memory():
    allow("true")
    try:
        with five_accounts() as names:
            with Pressed(*((act, name, keep_uses, 40 * NIGHT) for name in names)) as pressed:
                assert pressed.most < 192 and memory(pressed.pid)[1] <= 160 and pressed.slowest < 15, (
                    pressed.most, memory(pressed.pid), pressed.slowest)
    finally:
        allow("subject.user == 'owner'")
