# SPDX-License-Identifier: Apache-2.0
"""64 clients of four users at once, and what is left of them in the service."""

import base64
import multiprocessing
import os
import pwd
import subprocess
import time

from people import act, service_pid, sit
from run import nightly
from test_b_attacks import wake
from test_j_killed_clients import sockets
from whorl_client import call

# By night there are more.
CALLS = int(os.environ.get("WHORL_CLIENT_CALLS", "1280"))
USERS = ("owner", "mallory", "carol", "dave")
CLIENTS = 16
GROUP = "many.clients"


def record(account):
    return {
        "itemClass": "genp", "accessGroup": GROUP, "accessible": "ak", "flags": 0, "isSynchronizable": False,
        "hasValue": True, "attributes": {"acct": base64.b64encode(b"\1" + account.encode()).decode()},
    }


def match():
    return {"groups": [GROUP], "itemClass": "genp", "attributes": {}, "leftOutFlags": 0, "leftOut": []}


def ask(client, number):
    """Makes one of the calls of a mixed loop; every eighth one writes."""
    if number % 8 == 0:
        row = {"record": record(f"{client}-{number}"), "kind": "value", "start": 0, "count": 5}
        outcome = call("io.whorl.Keychain.Add", {"groups": [GROUP], "new": [row], "replacing": []}, secrets=[b"value"])
        assert outcome["outcome"] == "stored", outcome
    elif number % 4 == 1:
        call("io.whorl.Owner.Preflight", {"policy": "biometrics", "application": "test"})
    elif number % 4 == 2:
        call("io.whorl.Fingers.List")
    elif number % 4 == 3:
        call("io.whorl.Items.List")
    else:
        assert len(call("io.whorl.Maintenance.Attempts")["value"]) == 2


def crowd(user, count):
    """Makes calls as several processes of a user, and ends with the number of those that failed."""
    entry = pwd.getpwnam(user)
    sit(user)
    os.setgroups([])
    os.setgid(entry.pw_gid)
    os.setuid(entry.pw_uid)
    children = []
    for client in range(CLIENTS):
        pid = os.fork()
        if pid == 0:
            try:
                for number in range(count):
                    ask(f"{os.getpid()}-{client}", number)
                os._exit(0)
            except BaseException as error:
                print(f"        {user}: {error!r}", flush=True)
                os._exit(1)
        children.append(pid)
    os._exit(sum(os.waitpid(pid, 0)[1] != 0 for pid in children))


def round_of_calls(count):
    people = [multiprocessing.get_context("fork").Process(target=crowd, args=(user, count)) for user in USERS]
    for process in people:
        process.start()
    for process in people:
        process.join()
    assert [process.exitcode for process in people] == [0] * len(USERS), [process.exitcode for process in people]


def resident(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))


def rows():
    """Returns the rows of a user, with their values' place."""
    found = []
    call("io.whorl.Keychain.Find",
         {"groups": [GROUP], "match": match(), "withValues": True, "limit": 1 << 40},
         update=lambda update: found.extend(update["value"]))
    return [row["version"]["id"] for row in found if row["kind"] == "value" and row["count"] == 5]


@nightly("thousands of calls")
def test_64_clients_of_four_users_lose_nothing_and_leave_nothing_behind():
    for user in USERS[2:]:
        subprocess.run(["useradd", "--create-home", user], check=False, capture_output=True)
    pid = wake()
    each = max(8, CALLS // (len(USERS) * CLIENTS)) // 8 * 8
    # What is made once is made here, and the allocator gets what it keeps.
    round_of_calls(each)
    time.sleep(2)
    before = sockets(pid)
    # The rows fill the page caches of four databases, of 2 MiB each at the most: that ends. What is lost grows with each round.
    for rounds in (2, 3, 4):
        warm, begun = resident(pid), time.monotonic()
        round_of_calls(each)
        seconds = time.monotonic() - begun
        grown = resident(pid) - warm
        if grown < 4 << 10:
            break
    assert service_pid() == pid, "the service ended"
    for user in USERS:
        ids = act(user, rows)
        assert len(ids) == len(set(ids)) == rounds * CLIENTS * each // 8, (user, len(ids))
        deleted = act(user, call, "io.whorl.Keychain.Delete", {"groups": [GROUP], "matches": [match()]})
        assert deleted["value"] == len(ids), (user, deleted)
    assert grown < 4 << 10, f"{grown} KiB"
    deadline = time.monotonic() + 10
    while sockets(pid) > before and time.monotonic() < deadline:
        time.sleep(0.1)
    assert sockets(pid) <= before, (before, sockets(pid))
    count = each * len(USERS) * CLIENTS
    print(f"        {count} calls in {seconds:.0f} s, memory {grown:+} KiB")
