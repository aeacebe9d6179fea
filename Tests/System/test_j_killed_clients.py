# SPDX-License-Identifier: Apache-2.0
"""Clients of two users that are killed at random moments, and what the service keeps of them."""

import os
import random
import signal
import subprocess
import time

from people import act, command, service_pid, sit, whorl
from run import nightly
from test_b_attacks import read_items, wake

# By night there are more.
KILLS = int(os.environ.get("WHORL_CLIENT_KILLS", "12"))


def start(user, number):
    """Starts a command of a user's in a group of its own: half of them write, half of them ask."""
    kind = number % 4
    arguments = {
        0: ["secret", "add", f"k{number}", "--access", "none"],
        1: ["key", "create", f"k{number}", "--access", "none"],
        2: ["fingers", "list", "--json"],
        3: ["secret", "list", "--json"],
    }[kind]
    process = subprocess.Popen(
        command(user, "whorl", *arguments),
        preexec_fn=lambda: (sit(user), os.setsid()),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    process.stdin.write(b"value")
    process.stdin.close()
    return process, {0: ("secret", f"k{number}"), 1: ("key", f"k{number}")}.get(kind)


def sockets(pid):
    """Counts the connections of the service; its databases open files as they need them."""
    links = (os.readlink(f"/proc/{pid}/fd/{number}") for number in os.listdir(f"/proc/{pid}/fd"))
    return sum(link.startswith("socket:") for link in links)


def read_standings(user):
    """Returns whether each item of a user's opens, by its kind and name."""
    items, _ = read_items(user)
    return {(item["id"]["kind"], item["id"]["name"]): item.get("standing", "valid") for item in items}


@nightly("many kills")
def test_clients_of_two_users_are_killed_and_nothing_acknowledged_is_lost():
    pid = wake()
    whorl("secret", "list", user="mallory")
    before = sockets(pid)
    # What earlier tests left: one of them is bound to fingers that have changed since.
    standings = {user: act(user, read_standings, user) for user in ("owner", "mallory")}
    acknowledged = {"owner": set(), "mallory": set()}
    slowest = 0
    for number in range(KILLS):
        users = ("owner", "mallory")
        clients = [(user, *start(user, number)) for user in users]
        time.sleep(random.uniform(0.0, 1.0))
        # One of the two is killed; the other one goes on.
        victim = random.choice(users)
        for user, process, item in clients:
            if user == victim:
                os.killpg(process.pid, signal.SIGKILL)
        for user, process, item in clients:
            begun = time.monotonic()
            status = process.wait(timeout=60)
            if user != victim:
                assert status == 0, (user, number, status)
                slowest = max(slowest, time.monotonic() - begun)
            if status == 0 and item:
                acknowledged[user].add(item)
    assert service_pid() == pid, "the service ended"
    for user in acknowledged:
        there = act(user, read_standings, user)
        assert acknowledged[user] <= there.keys(), (user, acknowledged[user] - there.keys())
        assert standings[user].items() <= there.items(), (user, standings[user], there)
        new = there.keys() - standings[user].keys()
        assert all(there[item] == "valid" for item in new), (user, there)
        for kind, name in new:
            whorl(kind, "delete", name, user=user)
    deadline = time.monotonic() + 10
    while sockets(pid) > before and time.monotonic() < deadline:
        time.sleep(0.1)
    assert sockets(pid) <= before, (before, sockets(pid))
    count = sum(len(items) for items in acknowledged.values())
    print(f"        {KILLS} killed, {count} items acknowledged; the other user waited {slowest:.1f} s at the most")
