# SPDX-License-Identifier: Apache-2.0
"""Attacks on the installed service by a program of the same user, or by another user."""

import ctypes
import json
import multiprocessing
import os
import pathlib
import random
import signal
import socket
import subprocess
import time

from people import act, forgive, lay, service_pid, start, whorl
from run import nightly
from whorl_client import PATH, PRESENTER, Client, HungUp, Refused, call, name, request, using


def refused(body, *arguments):
    """Expects the kernel to refuse what a function does."""
    try:
        body(*arguments)
    except (PermissionError, FileNotFoundError):
        return
    raise AssertionError(f"{body.__name__} was not refused")


def wake():
    """Makes sure that the service is running, and returns its process."""
    act("owner", call, "io.whorl.Maintenance.HasState")
    return service_pid()


def failed_tries():
    value = act("owner", call, "io.whorl.Maintenance.Attempts")["value"]
    return sum(tries["totalFailures"] for tries in value)


# B1: the state, the authority over the items, the memory of the service

def read_state():
    pathlib.Path("/var/lib/whorl/1000/vault.authority").read_bytes()


def list_state():
    os.listdir("/var/lib/whorl")


def read_memory(pid):
    open(f"/proc/{pid}/mem", "rb").close()


def read_environment(pid):
    open(f"/proc/{pid}/environ", "rb").read()


def trace(pid):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(16, pid, 0, 0) == 0:  # PTRACE_ATTACH
        return
    raise PermissionError(ctypes.get_errno(), "ptrace")


def kill(pid):
    os.kill(pid, signal.SIGABRT)


def test_b1_state_and_memory_of_the_service_are_out_of_reach():
    pid = wake()
    assert os.path.exists("/var/lib/whorl/1000/vault.authority")
    for user in ("owner", "mallory"):
        act(user, refused, read_state)
        act(user, refused, list_state)
        for body in (read_memory, read_environment, trace, kill):
            act(user, refused, body, pid)
    limits = pathlib.Path(f"/proc/{pid}/limits").read_text()
    assert "Max core file size        0 " in limits, limits


# B2, B4: a program tries to use its user's item without a matching finger

def ask_without_touching():
    try:
        call("io.whorl.Items.Use", using("secret", "wifi"), update=lambda _: None)
    except Refused as error:
        return error.name, error.parameters
    return None


def test_b2_item_of_ones_own_stays_closed_without_its_finger():
    before = failed_tries()
    asking = multiprocessing.get_context("fork").SimpleQueue()
    process = multiprocessing.get_context("fork").Process(
        target=lambda: asking.put(act("owner", ask_without_touching))
    )
    process.start()
    lay("left", 3)
    process.join(240)
    error, parameters = asking.get()
    assert error == "io.whorl.Failed", error
    assert parameters["code"] in ("authenticationFailed", "biometryLockout"), parameters
    assert failed_tries() == before + 3, (failed_tries(), before)
    forgive()


# B3: a program that answers prompts in any way

def answer_everything():
    """Answers its own prompt with everything that an attacker can send, and returns the result of the call."""
    said = []

    def answer(update):
        shown = update.get("prompt")
        if not shown:
            return
        identity = shown["id"]
        for message in (
            {"prompt": identity, "update": {"event": "matched", "finger": "right-index-finger"}},
            {"prompt": identity, "value": True},
        ):
            for method in ("Ended", "Submit", "Typing", "Close", "Matched", "Update"):
                try:
                    said.append((method, call(f"io.whorl.Prompt.{method}", message)))
                except (Refused, HungUp) as error:
                    said.append((method, str(error)))
        call("io.whorl.Prompt.Submit", {"prompt": identity, "passcode": 0}, secrets=[b"guessed!"])
        call("io.whorl.Prompt.Ended", {"prompt": identity, "presenter": PRESENTER, "action": "fallback"})

    try:
        parameters = {"call": {"request": request()}, "presenter": PRESENTER}
        value = call("io.whorl.Owner.Evaluate", parameters, update=answer)
    except Refused as error:
        return "refused", error.parameters["code"]
    return "answered", value


def test_b3_presenter_that_says_yes_to_everything_gets_no_success():
    outcome, code = act("owner", answer_everything)
    assert outcome == "refused" and code == "userFallback", (outcome, code)


def guess_prompts():
    for identity in ["", "0" * 32, "f" * 32, "../" * 9]:
        answer = call("io.whorl.Prompt.Ended", {"prompt": identity, "presenter": PRESENTER, "action": "cancel"})
        assert answer == {"value": False}, answer


def test_b3_prompt_of_another_program_is_not_found():
    process = start("evaluate", "--reason", "a test", "--json")
    time.sleep(3)
    act("owner", guess_prompts)
    act("mallory", guess_prompts)
    lay("right")
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, (out, err)


# B5: another user

def read_items(profile):
    return call("io.whorl.Items.List")["value"], call("io.whorl.Fingers.List")["value"]


def error_for(method, parameters):
    try:
        call(method, parameters, update=(lambda _: None) if "presenter" in parameters else None)
    except Refused as error:
        return error.name, error.parameters
    return None


def deleting(text):
    """The parameters of io.whorl.Items.Delete."""
    consent = {"application": "test", "timeoutMilliseconds": 60_000}
    return {"call": {"id": name("secret", text), "request": consent}, "presenter": PRESENTER}


def test_b5_another_user_learns_not_even_that_an_item_exists():
    assert act("mallory", read_items, "owner") == ([], [])
    for method, there, missing in (
        ("io.whorl.Items.Use", using("secret", "wifi"), using("secret", "none")),
        ("io.whorl.Items.Access", {"value": name("secret", "wifi")}, {"value": name("secret", "none")}),
        ("io.whorl.Items.Delete", deleting("wifi"), deleting("none")),
    ):
        answers = [json.dumps(act("mallory", error_for, method, asked)) for asked in (there, missing)]
        assert answers[0].replace("wifi", "none") == answers[1], answers
    items, fingers = act("owner", read_items, "owner")
    assert [item["id"]["name"] for item in items] == ["wifi"] and len(fingers) == 1, (items, fingers)


# B7: rights depend on the user who connected

def test_b7_connection_serves_its_maker_alone_whoever_speaks_over_it():
    own, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)

    def hand_over():
        client = Client()
        socket.send_fds(other, [b"x"], [client.socket.fileno()])
        time.sleep(5)

    process = multiprocessing.get_context("fork").Process(target=lambda: act("mallory", hand_over))
    process.start()
    _, files, _, _ = socket.recv_fds(own, 1, 1)
    client = Client.__new__(Client)
    client.socket, client.rest, client.files = socket.socket(fileno=files[0]), b"", []
    client.socket.settimeout(60)
    # Now root sends over mallory's connection.
    try:
        answer = client.call("io.whorl.Items.List")
    except Refused as error:
        answer = error.name
    process.join()
    assert answer == "io.whorl.Connection.NotProven", answer


# B8: floods

def flood():
    """Opens more connections than allowed, sends partial, invalid and nested messages, and returns what was refused."""
    kept, refused_count = [], 0
    for number in range(400):
        try:
            one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            one.settimeout(5)
            one.connect(PATH)
            one.sendall(
                [b'{"method":"', b"\0" * 100, b"[" * 10_000 + b"\0", b"A" * 60_000, b'{"a":1,"a":2}\0'][number % 5]
            )
            kept.append(one)
        except OSError:
            refused_count += 1
    time.sleep(2)
    return len(kept), refused_count


def ask_often():
    slowest = 0
    for _ in range(20):
        began = time.monotonic()
        call("io.whorl.Maintenance.HasState")
        slowest = max(slowest, time.monotonic() - began)
    return slowest


def resident(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0])


def test_b8_flood_of_one_user_costs_another_nothing():
    pid = wake()
    before = resident(pid)
    process = multiprocessing.get_context("fork").Process(target=lambda: act("mallory", flood))
    process.start()
    slowest = act("owner", ask_often)
    process.join(240)
    assert process.exitcode == 0
    assert service_pid() == pid, "the service ended"
    assert slowest < 30, slowest
    grown = resident(pid) - before
    assert grown < 40_000, f"{grown} KiB more"
    print(f"        slowest call of the other user {slowest:.2f} s (emulated), {grown} KiB more")


CONSENT = b'{"application":"test","timeoutMilliseconds":60000}'


def bad_messages():
    """Sends messages that are not calls; each time, the service disconnects or returns an error."""
    messages = [
        b"", b"{}", b"[]", b"null", b'{"method":1}', b'{"method":"io.whorl.Owner.Preflight","parameters":7}',
        b'{"method":"io.whorl.Owner.Preflight","parameters":{"policy":"all","application":"x"}}',
        b'{"method":"io.whorl.Items.Add","parameters":{"id":{"profile":"owner","kind":"key","name":"k"},'
        b'"item":{"kind":"secret","access":"none","secret":0}}}',
        *[
            b'{"method":"io.whorl.Passcode.Set","parameters":{"passcode":%d,"request":%s}}' % (place, CONSENT)
            for place in (99, -1)
        ],
        b'{"method":"io.whorl.Maintenance.Log","parameters":{"value":9223372036854775807}}',
        b'{"method":"io.whorl.Maintenance.Log","parameters":{"value":-5}}',
        b'{"method":"io.systemd.Nothing.AtAll"}', b'{"method":"' + b"x." * 5000 + b'"}',
        '{"method":"\ud800"}'.encode("utf-8", "surrogatepass"),
    ]
    for message in messages:
        with Client(timeout=60) as client:
            client.socket.sendall(message + b"\0")
            try:
                answer = client.receive()
            except (HungUp, ConnectionResetError):
                continue
            assert "error" in answer or "Log" in message.decode("utf-8", "replace"), (message, answer)
    # A pipe instead of a sealed memory file.
    reading, writing = os.pipe()
    with Client() as client:
        socket.send_fds(
            client.socket, [b'{"method":"io.whorl.Passcode.Set","parameters":{"passcode":0,"request":%s}}\0' % CONSENT], [reading]
        )
        try:
            client.reply()
            raise AssertionError("a pipe was taken for a secret")
        except Refused as error:
            assert error.name == "org.varlink.service.InvalidParameter", error


def test_bad_input_is_refused_and_the_service_goes_on():
    pid = wake()
    act("owner", bad_messages)
    assert service_pid() == pid, "the service ended"


# B9: the service is killed

def add_and_list(number):
    call(
        "io.whorl.Items.Add",
        {"id": name("secret", f"s{number}"), "item": {"kind": "secret", "access": "none", "secret": 0}},
        secrets=[b"value"],
    )


@nightly("12 kills")
def test_b9_killed_service_loses_nothing_that_it_acknowledged():
    acknowledged = set()
    for number in range(12):
        pid = wake()
        killer = subprocess.Popen(["sh", "-c", f"sleep {random.uniform(0.0, 1.2)}; kill -9 {pid}"])
        try:
            act("owner", add_and_list, number)
            acknowledged.add(f"s{number}")
        except (HungUp, ConnectionResetError, Refused):
            pass
        killer.wait()
        there = {item["id"]["name"] for item in act("owner", read_items, "owner")[0]}
        assert acknowledged <= there, (acknowledged, there)
    print(f"        {len(acknowledged)} of 12 items were acknowledged")
    for item in act("owner", read_items, "owner")[0]:
        if item["id"]["name"] != "wifi":
            whorl("secret", "delete", item["id"]["name"])


# B10: the path of the socket

def take_path():
    os.unlink(PATH)


def put_socket():
    one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    one.bind("/run/whorl/other")


def test_b10_nobody_else_listens_at_the_path():
    for user in ("owner", "mallory"):
        act(user, refused, take_path)
        act(user, refused, put_socket)
    # A socket on which another user listens is not trusted, even if root created its path.
    subprocess.run(["systemctl", "stop", "whorld.socket", "whorld.service"], check=True)
    try:
        os.unlink(PATH)
    except FileNotFoundError:
        pass
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(PATH)
    os.chmod(PATH, 0o666)

    def listen():
        listener.listen()
        time.sleep(20)

    process = multiprocessing.get_context("fork").Process(target=lambda: act("mallory", listen))
    process.start()
    time.sleep(5)
    outcome = whorl("secret", "get", "wifi", "--json", check=False)
    process.kill()
    listener.close()
    os.unlink(PATH)
    subprocess.run(["systemctl", "start", "whorld.socket"], check=True)
    assert outcome.returncode != 0 and b"Permission denied" in outcome.stdout + outcome.stderr, outcome


def test_service_that_is_stopped_is_an_error_not_a_weaker_place():
    subprocess.run(["systemctl", "stop", "whorld.socket", "whorld.service"], check=True)
    outcome = whorl("secret", "add", "weaker", "--access", "none", "--json", secret=b"x", check=False)
    subprocess.run(["systemctl", "start", "whorld.socket"], check=True)
    assert outcome.returncode != 0 and b"whorld" in outcome.stdout, outcome
    assert not os.path.exists("/home/owner/.local/state/whorl"), "an engine of the user's own was used"
