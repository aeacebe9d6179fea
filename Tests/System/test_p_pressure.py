# SPDX-License-Identifier: Apache-2.0
"""One user, or one confined program, tries to take the service from all others."""

import os
import pathlib
import signal
import subprocess
import time

from people import act, command, service_pid, sit
from test_b_attacks import wake
from test_e_askers import LIST, PRELUDE, PROFILE, confined, keep_wifi, open_directory
from whorl_client import PRESENTER, Client, HungUp, Refused, call, name, request

# A letter, whole and in two other spellings, which libraries put together in different ways.
SPELLINGS = ("a\u0ccb", "a\u0cc6\u0cc2\u0cd5", "a\u0cca\u0cd5")


def add_spellings():
    outcomes = []
    for spelling in SPELLINGS:
        try:
            call("io.whorl.Items.Add", {"id": name("key", spelling, "mallory"), "item": {"kind": "key", "access": "none"}})
            outcomes.append("added")
        except Refused as error:
            outcomes.append(error.parameters.get("code"))
    return outcomes


def test_c4_names_that_libraries_compare_differently_end_nothing():
    pid = wake()
    outcomes = act("mallory", add_spellings)
    assert outcomes in (["added", "itemExists", "itemExists"], ["itemExists"] * 3), outcomes
    listed = act("mallory", call, "io.whorl.Items.List")["value"]
    assert [item["id"]["name"] for item in listed] == [SPELLINGS[0]], listed
    assert service_pid() == pid, "the service ended"


def test_c4_no_number_of_crashes_closes_the_socket():
    """The service is killed more often than systemd starts a unit by default, each time with a client at work."""
    for number in range(12):
        pid = wake()
        os.kill(pid, signal.SIGKILL if number % 2 else signal.SIGABRT)
        deadline = time.monotonic() + 60
        while service_pid() == pid and time.monotonic() < deadline:
            time.sleep(0.05)
        act("owner", call, "io.whorl.Fingers.List")
    for unit in ("whorld.socket", "whorld.service"):
        state = subprocess.run(["systemctl", "is-active", unit], capture_output=True, text=True).stdout.strip()
        assert state == "active", (unit, state)


def test_c4_the_service_starts_again_by_itself_after_a_crash():
    pid = wake()
    os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + 60
    while service_pid() in (0, pid):
        assert time.monotonic() < deadline, "it was not started again"
        time.sleep(0.2)


def journal_of(pid):
    return subprocess.run(
        ["journalctl", "-o", "export", f"WHORL_PID={pid}"], capture_output=True, check=True
    ).stdout.decode()


def test_c6_nothing_calls_a_name_verified_that_an_unconfined_program_can_take():
    """A program that is not confined enters the profile of another one, as `aa-exec` lets it."""
    open_directory()
    subprocess.run(["apparmor_parser", "-r"], input=PROFILE.encode(), check=True)
    look = (
        "import os\n"
        "seen = []\n"
        "def answer(update):\n"
        "    if 'prompt' in update:\n"
        "        seen.append(update['prompt']['prompt'])\n"
        "        call('io.whorl.Prompt.Ended', {'prompt': update['prompt']['id'], 'presenter': PRESENTER, 'action': 'cancel'})\n"
        "try:\n"
        "    call('io.whorl.Owner.Evaluate', {'call': {'request': request('unlock your passwords')}, 'presenter': PRESENTER},\n"
        "         update=answer)\n"
        "except Refused:\n"
        "    pass\n"
        "print(os.getpid())\n"
        "print(json.dumps(seen))\n"
    )
    status, out, err = confined("snap.vault.app", look)
    assert status == 0, (out, err)
    pid, prompts = out.split("\n", 1)
    assert '"confinedAs": "snap.vault.app"' in prompts and "erified" not in prompts, prompts
    lines = journal_of(pid)
    assert "WHORL_CONFINED_AS=snap.vault.app" in lines, lines
    assert "can imitate it" in lines and "VERIFIED" not in lines and "verified" not in lines, lines


def sandboxed(place, *more):
    """Lists the items of owner in a sandbox with a folder of owner's choice at /app."""
    outcome = subprocess.run(
        command(
            "owner", "sh", "-c",
            'exec 9</dev/null; exec bwrap --unshare-pid --unshare-user --proc /proc --dev /dev --ro-bind /usr /usr '
            '--symlink usr/lib /lib --symlink usr/lib64 /lib64 --symlink usr/bin /bin --ro-bind /guest /guest '
            f'--ro-bind /run/whorl /run/whorl --ro-bind "$0" /app {" ".join(more)} '
            'python3 -c "$1"',
            str(place), PRELUDE + "try:\n    " + LIST + "except Refused as error:\n    print(error.name)\n",
        ),
        capture_output=True, timeout=240, preexec_fn=lambda: sit("owner"),
    )
    assert outcome.returncode == 0, outcome
    return outcome.stdout.decode().strip()


def test_c7_another_programs_folder_or_an_unknown_sandbox_gives_no_items():
    open_directory()
    keep_wifi()
    own = pathlib.Path("/home/owner/.var/app/org.evil.X/data/app/org.example.Vault/x86_64/stable/0123/files")
    subprocess.run(command("owner", "mkdir", "-p", str(own)), check=True)
    mark = "--ro-bind-data 9 /.flatpak-info"
    assert sandboxed(own, mark) == "io.whorl.Connection.NotProven"
    # In root's folder, but the owner's.
    theirs = pathlib.Path("/var/lib/flatpak/app/org.example.Safe/x86_64/stable/0123/files")
    theirs.mkdir(parents=True, exist_ok=True)
    os.chown(theirs, 1000, 1000)
    assert sandboxed(theirs, mark) == "io.whorl.Connection.NotProven"
    # A sandbox that nothing is known of.
    assert sandboxed("/home/owner") == "io.whorl.Connection.NotProven"
