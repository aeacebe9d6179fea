# SPDX-License-Identifier: Apache-2.0
"""Two users of one reader (B11), a client that disconnects, a restart during a prompt, and a service that hangs."""

import functools
import json
import os
import pathlib
import signal
import socket
import subprocess
import time

from people import act, forgive, lay, service_pid, shown, start, touching, whorl
from run import allow, nightly
from test_b_attacks import failed_tries, wake
from test_e_agents import configure
from whorl_client import call


def result(process, timeout=120):
    """The last line of a command's JSON, and its status."""
    out, err = process.communicate(timeout=timeout)
    return process.returncode, json.loads(out.decode().splitlines()[-1]), err


def from_any_place(test):
    """Lets both users be prompted for a finger, although only one is at the seat."""

    @functools.wraps(test)
    def body():
        configure("[Sessions]\nTouch=any\n")
        allow("(subject.user == 'owner' || subject.user == 'mallory')")
        try:
            test()
        finally:
            allow("subject.user == 'owner'")
            configure("")

    return body


def enroll_mallory():
    """The other user's finger is the left one."""
    process = start("enroll", "left-thumb", "--json", user="mallory")
    lay("left", 6)
    status, said, err = result(process, 240)
    assert status == 0, (said, err)


def tries_of_mallory():
    value = act("mallory", call, "io.whorl.Maintenance.Attempts")["value"]
    return sum(tries["totalFailures"] for tries in value)


def test_b11_user_who_does_not_sit_at_the_seat_is_told_while_the_other_is_served():
    first = start("evaluate", "--reason", "a test", "--json")
    shown(first)
    began = time.monotonic()
    second = start("evaluate", "--reason", "a test", "--json", user="mallory")
    status, said, err = result(second)
    assert status == 20 and said["error"]["code"] == "notInteractive", (said, err)
    assert "session" in said["error"]["message"], said
    assert time.monotonic() - began < 30
    lay("right")
    status, said, err = result(first)
    assert status == 0 and said["result"]["finger"] == "right-index-finger", (said, err)


@from_any_place
def test_b11_second_user_waits_and_the_first_ones_touch_is_not_his():
    enroll_mallory()
    before = failed_tries(), tries_of_mallory()
    first = start("evaluate", "--reason", "a test", "--json")
    shown(first)
    second = start("evaluate", "--reason", "a test", "--json", user="mallory")
    time.sleep(3)
    # One touch by the first user, who is authenticated. The second user learns nothing from it.
    lay("right")
    status, said, err = result(first)
    assert status == 0 and said["result"]["finger"] == "right-index-finger", (said, err)
    time.sleep(2)
    assert second.poll() is None, result(second)
    lay("left")
    status, said, err = result(second)
    assert status == 0 and said["result"]["finger"] == "left-thumb", (said, err)
    assert (failed_tries(), tries_of_mallory()) == before


@nightly("one user waiting for another is by day")
@from_any_place
def test_b11_user_who_goes_away_frees_the_reader_for_the_other():
    first = start("evaluate", "--reason", "a test", "--json", user="mallory")
    shown(first)
    second = start("evaluate", "--reason", "a test", "--json")
    time.sleep(2)
    subprocess.run(["pkill", "-KILL", "-u", "mallory", "whorl"], check=True)
    first.communicate(timeout=30)
    time.sleep(3)
    lay("right")
    status, said, err = result(second)
    assert status == 0 and said["result"]["finger"] == "right-index-finger", (said, err)


@from_any_place
def test_b11_user_who_waits_and_goes_away_leaves_no_touch_behind():
    before = tries_of_mallory()
    first = start("evaluate", "--reason", "a test", "--json")
    shown(first)
    second = start("evaluate", "--reason", "a test", "--json", user="mallory")
    time.sleep(2)
    subprocess.run(["pkill", "-KILL", "-u", "mallory", "whorl"], check=True)
    second.communicate(timeout=30)
    lay("right")
    status, said, err = result(first)
    assert status == 0, (said, err)
    assert tries_of_mallory() == before


def test_restart_in_the_middle_of_a_prompt_is_told_and_costs_no_try():
    before = failed_tries()
    pid = wake()
    process = start("evaluate", "--reason", "a test", "--json")
    shown(process)
    began = time.monotonic()
    subprocess.run(["systemctl", "restart", "whorld.service"], check=True)
    status, said, err = result(process)
    assert status == 13 and said["error"]["code"] == "systemCancel", (status, said, err)
    assert "The service whorld stopped" in said["error"]["message"], said
    assert said["error"]["recovery"].startswith("Try again"), said
    assert time.monotonic() - began < 30
    assert service_pid() not in (0, pid)
    # No pending attempt is left that would be counted.
    assert failed_tries() == before
    matched = touching("right", 1, "evaluate", "--reason", "a test")
    assert matched["finger"] == "right-index-finger", matched


@nightly("a restart in a prompt is by day")
def test_restart_after_a_wrong_finger_keeps_the_try_that_it_cost():
    before = failed_tries()
    process = start("evaluate", "--reason", "a test", "--json")
    lay("stranger")
    deadline = time.monotonic() + 30
    while failed_tries() == before:
        assert time.monotonic() < deadline, "no try was charged"
        time.sleep(0.5)
    subprocess.run(["systemctl", "restart", "whorld.service"], check=True)
    status, said, err = result(process)
    assert status == 13, (status, said, err)
    assert failed_tries() == before + 1
    forgive()


@nightly("waits for the watchdog")
def test_service_that_is_stuck_is_ended_by_the_watchdog_and_comes_back():
    drop_in = pathlib.Path("/run/systemd/system/whorld.service.d/watchdog.conf")
    drop_in.parent.mkdir(parents=True, exist_ok=True)
    drop_in.write_text("[Service]\nWatchdogSec=8\n")
    subprocess.run(["systemctl", "daemon-reload"], check=True)
    subprocess.run(["systemctl", "restart", "whorld.service"], check=True)
    try:
        pid = wake()
        time.sleep(20)
        assert service_pid() == pid, "a service that works was ended"
        os.kill(pid, signal.SIGSTOP)
        deadline = time.monotonic() + 60
        while service_pid() == pid:
            assert time.monotonic() < deadline, "the watchdog did not notice"
            time.sleep(0.5)
        act("owner", call, "io.whorl.Maintenance.HasState")
        assert service_pid() not in (0, pid)
    finally:
        drop_in.unlink()
        subprocess.run(["systemctl", "daemon-reload"], check=True)
        subprocess.run(["systemctl", "restart", "whorld.service"], check=True)


def test_clock_that_steps_by_years_gives_no_try_and_loses_nothing():
    before = failed_tries()
    now = time.time()
    process = start("evaluate", "--reason", "a test", "--json")
    lay("stranger")
    try:
        for step in (10 * 365 * 86_400, -20 * 365 * 86_400):
            subprocess.run(["date", "-s", f"@{int(now + step)}"], check=True, stdout=subprocess.DEVNULL)
            time.sleep(2)
        lay("stranger", 2)
        status, said, err = result(process)
        assert status == 10 and said["error"]["code"] == "authenticationFailed", (status, said, err)
        assert failed_tries() == before + 3
    finally:
        subprocess.run(["date", "-s", f"@{int(now + 30)}"], check=True, stdout=subprocess.DEVNULL)
    forgive()
    items = json.loads(whorl("secret", "list", "--json").stdout.decode().splitlines()[-1])["result"]["secrets"]
    assert "wifi" in [item["name"] for item in items], items


def test_unplugged_reader_in_the_middle_of_a_prompt_is_told():
    process = start("evaluate", "--reason", "a test", "--json")
    shown(process)
    send("UNPLUG")
    status, said, err = result(process)
    assert status == 21 and said["error"]["code"] == "biometryDisconnected", (status, said, err)
    subprocess.run(["systemctl", "restart", "whorld.service"], check=True)
    matched = touching("right", 1, "evaluate", "--reason", "a test")
    assert matched["finger"] == "right-index-finger", matched


def send(command):
    """Sends a command to the virtual reader, when it is open."""
    deadline = time.monotonic() + 60
    while True:
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as reader:
                reader.connect("/run/reader/socket")
                reader.sendall(command.encode())
            return
        except OSError:
            assert time.monotonic() < deadline, "no reader is open"
            time.sleep(0.1)
