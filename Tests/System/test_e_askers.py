# SPDX-License-Identifier: Apache-2.0
# Docs/Security.md: S2
"""The callers of the installed service: their sessions and seats, confined programs, and the rules of polkit."""

import json
import os
import pathlib
import socket
import subprocess
import time

from people import Terminal, act, command, kernel_names_processes, lay, sit, start, whorl
from run import allow
from test_e_agents import PASSCODE, set_passcode
from whorl_client import CONSENT, PRESENTER, Client, HungUp, Refused, call, name, request, using

NO_PLACE = lambda user: None


def error_of(process):
    out, err = process.communicate(timeout=240)
    return process.returncode, out.decode() + err.decode()


def evaluate(proves=True, policy="biometrics"):
    """Evaluates in a separate program, and returns the error and whether a prompt preceded it."""
    prompts = []
    try:
        with Client(proves=proves) as client:
            client.call(
                "io.whorl.Owner.Evaluate",
                {"call": {"request": request(policy=policy)}, "presenter": PRESENTER},
                update=lambda update: prompts.append(update),
            )
    except Refused as error:
        return error.name, error.parameters.get("code"), error.parameters.get("message", ""), len(prompts)
    return None


# Sessions and seats

def test_a_touch_is_refused_to_a_process_without_a_session_before_any_prompt():
    refused = act("owner", evaluate, place=NO_PLACE)
    assert refused[:2] == ("io.whorl.Failed", "notInteractive"), refused
    assert "does not run in a login session" in refused[2] and refused[3] == 0, refused


def test_process_that_does_not_prove_itself_is_asked_only_where_the_kernel_names_it():
    if kernel_names_processes():
        prompts, pid = act("owner", shown_prompt, False)
        assert [prompt["asker"]["processID"] for prompt in prompts] == [pid], (prompts, pid)
        return
    refused = act("owner", evaluate, False)
    assert refused[1] == "notInteractive" and "cannot identify the process" in refused[2] and refused[3] == 0, refused


def challenged():
    """Returns whether the service asks this process to prove its identity."""
    with Client(proves=False) as client:
        return bool(client.call("io.whorl.Connection.Challenge").get("question"))


def test_process_is_asked_to_prove_itself_only_where_the_kernel_does_not_name_it():
    assert act("owner", challenged) == (not kernel_names_processes())


def over(connection):
    """Lists the items over a connection that another process made."""
    client = object.__new__(Client)
    client.socket, client.rest, client.files = connection, b"", []
    try:
        return client.call("io.whorl.Items.List")
    except Refused as error:
        return error.name


def as_owner(body, results):
    """Runs a function in this process as owner at the seat, reports the result, and exits."""
    try:
        sit("owner")
        os.setgroups([])
        os.setgid(1000)
        os.setuid(1000)
        results.send(repr(body()).encode())
    finally:
        os._exit(0)


def test_process_that_has_the_number_of_one_that_ended_gets_nothing_over_its_connection():
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    def connect():
        client = Client()
        assert "value" in client.call("io.whorl.Items.List")
        socket.send_fds(there, [b"connected"], [client.socket.fileno()])
        return "done"

    first = os.fork()
    if first == 0:
        as_owner(connect, there)
    here.settimeout(60)
    data, (connection, *_), _, _ = socket.recv_fds(here, 64, 1)
    assert data == b"connected" and here.recv(64) == b"'done'"
    os.waitpid(first, 0)
    connection = socket.socket(fileno=connection)
    connection.settimeout(60)
    # The kernel gives the next number after the one that is written here, unless another process comes first.
    for _ in range(200):
        pathlib.Path("/proc/sys/kernel/ns_last_pid").write_text(str(first - 1))
        second = os.fork()
        if second == 0:
            if os.getpid() != first:
                os._exit(0)
            as_owner(lambda: over(connection), there)
        os.waitpid(second, 0)
        if second == first:
            break
    assert second == first, "the number was not given again"
    assert here.recv(4096) == b"'io.whorl.Connection.NotProven'"


def remotely(text, typing=None):
    """Runs a command of the owner's in a login from another machine, as a network login makes it.

    A passcode is typed where one is given and the command asks for it.
    """
    child = Terminal("login", ["-h", "192.0.2.7", "-f", "owner"], encoding="utf-8", timeout=120)
    child.expect([r"\$ ", "# "])
    child.sendline("PS1=; stty -echo")
    time.sleep(1)
    child.sendline(f"{text}; echo ended-$?")
    if typing:
        child.expect("asscode")
        time.sleep(1)
        child.sendline(typing)
    child.expect(r"ended-(\d+)")
    status, before = int(child.match.group(1)), child.before
    child.sendline("exit")
    child.close(force=True)
    return status, before


def test_a_touch_is_refused_to_a_session_from_another_machine_and_preflight_says_so():
    status, text = remotely("whorl evaluate --reason remote")
    assert status != 0 and "remote session" in text, (status, text)
    status, text = remotely("whorl can-evaluate")
    assert status != 0 and "remote session" in text, (status, text)


def test_the_passcode_alone_is_asked_for_in_a_session_from_another_machine():
    whorl("passcode", "remove", "--passcode-fd", "0", secret=PASSCODE.encode(), check=False)
    set_passcode()
    try:
        status, text = remotely("whorl evaluate --policy device-owner --reason remote", typing=PASSCODE)
        assert status == 0 and "ouch" not in text, (status, text)
        status, text = remotely("whorl evaluate --reason remote")
        assert status != 0 and "remote session" in text, (status, text)
    finally:
        whorl("passcode", "remove", "--passcode-fd", "0", secret=PASSCODE.encode())


def test_a_program_of_the_users_own_service_manager_counts_as_at_the_seat():
    process = subprocess.Popen(
        command(
            "owner", "XDG_RUNTIME_DIR=/run/user/1000", "systemd-run", "--user", "--pipe", "--wait", "--quiet",
            "--", "whorl", "evaluate", "--reason", "a unit",
        ),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )
    lay("right")
    status, text = error_of(process)
    assert status == 0, (status, text)


def test_another_users_session_is_none_of_ones_own():
    """Mallory's process in owner's session has no session."""
    refused = act("mallory", evaluate, place=lambda _: sit("owner"))
    assert refused[1] == "notInteractive" and "does not run in a login session" in refused[2], refused


# What is shown and logged

def shown_prompt(proves=True):
    """Requests a touch, cancels the prompt, and returns what was shown, and the calling process."""
    seen = []

    def answer(update):
        if "prompt" in update:
            seen.append(update["prompt"]["prompt"])
            call(
                "io.whorl.Prompt.Ended",
                {"prompt": update["prompt"]["id"], "presenter": PRESENTER, "action": "cancel"},
            )

    try:
        with Client(proves=proves) as client:
            client.call(
                "io.whorl.Owner.Evaluate",
                {"call": {"request": request("a look", application="Bank")}, "presenter": PRESENTER},
                update=answer,
            )
    except Refused:
        pass
    return seen, os.getpid()


def test_the_prompt_the_log_and_the_journal_tell_who_asks():
    prompts, pid = act("owner", shown_prompt)
    asker = prompts[0]["asker"]
    assert asker["user"] == 1000 and asker["processID"] == pid and asker["session"] == "1", asker
    assert asker["process"].startswith("python") and "confinedAs" not in asker, asker
    assert asker["unit"] == "session-1.scope", asker
    lines = act("owner", call, "io.whorl.Maintenance.Log", {"value": 5})["value"]
    line = [line for line in lines if line.get("detail") == "a look"][0]
    assert line["asker"] == asker and line["outcome"] == "userCancel", line
    journal = subprocess.run(
        ["journalctl", "-o", "json", "-n", "1", f"WHORL_PID={pid}"], capture_output=True, check=True
    ).stdout
    entry = json.loads(journal)
    assert entry["WHORL_UID"] == "1000" and entry["WHORL_OUTCOME"] == "userCancel", entry
    assert entry["WHORL_PURPOSE"] == "a look" and entry["WHORL_SESSION"] == "1", entry
    assert entry["_SYSTEMD_UNIT"] == "whorld.service", entry


# B6: confined programs

PROFILE = """
profile "snap.vault.app" flags=(attach_disconnected) {
  file,
  unix,
  network,
  ptrace (read),
  signal,
}
"""


def confined(profile, code):
    """Runs a few lines of Python as owner at the seat, confined by a profile of AppArmor."""
    outcome = subprocess.run(
        command("owner", "aa-exec", "-p", profile, "--", "python3", "-c", PRELUDE + code),
        capture_output=True, timeout=240, preexec_fn=lambda: sit("owner"),
    )
    return outcome.returncode, outcome.stdout.decode().strip(), outcome.stderr.decode()


PRELUDE = f"""
import sys, json
sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
from whorl_client import *
"""

ADD = """
call("io.whorl.Items.Add", {"id": name("secret", %r), "item":
     {"kind": "secret", "access": "biometry-any", "secret": 0}}, secrets=[b"own"])
"""

LIST = 'print(json.dumps([item["id"]["name"] for item in call("io.whorl.Items.List")["value"]]))\n'

USE = """
try:
    call("io.whorl.Items.Use", using("secret", %r), update=lambda _: None)
    print("opened")
except Refused as error:
    print(error.name, json.dumps(error.parameters))
"""


def keep_wifi():
    """Owner has a secret outside any sandbox."""
    if "wifi" not in whorl("secret", "list").stdout.decode():
        whorl("secret", "add", "wifi", "--access", "biometry-any", secret=b"geheim")


def open_directory():
    """Otherwise, only root can read the guest's copy of the tests."""
    for folder in [pathlib.Path(__file__).parent, *pathlib.Path(__file__).parent.parents]:
        os.chmod(folder, os.stat(folder).st_mode | 0o055)


def test_b6_confined_program_finds_its_own_items_alone():
    open_directory()
    keep_wifi()
    assert pathlib.Path("/sys/module/apparmor/parameters/enabled").read_text().strip() == "Y"
    subprocess.run(["apparmor_parser", "-r"], input=PROFILE.encode(), check=True)
    subprocess.run(["apparmor_parser", "-r"], input=PROFILE.replace("vault", "other").encode(), check=True)
    status, out, err = confined("snap.vault.app", LIST)
    assert (status, out) == (0, "[]"), (status, out, err)
    status, out, err = confined("snap.vault.app", USE % "wifi" + USE % "none")
    there, missing = out.splitlines()
    assert "noSuchItem" in there and there.replace("wifi", "none") == missing, (out, err)
    status, out, err = confined("snap.vault.app", ADD % "wifi" + LIST)
    assert (status, out) == (0, '["wifi"]'), (status, out, err)
    status, out, err = confined("snap.other.app", LIST)
    assert (status, out) == (0, "[]"), (status, out, err)
    for profile_says in ("owner", "snap.vault.app", "confined.snap.vault.app"):
        status, out, err = confined("snap.other.app", USE % f"{profile_says}:wifi")
        assert "noSuchItem" in out, (out, err)


NAMES_WITHOUT_PROOF = """
try:
    print([item["id"]["name"] for item in Client(proves=False).call("io.whorl.Items.List")["value"]])
except Refused as error:
    print(error.name)
"""


def test_b6_confined_program_that_proves_nothing_gets_nothing_of_others():
    """Where the kernel names it, it is known as the confined program, which has one item; elsewhere it is refused."""
    for profile, own in (("snap.vault.app", "['wifi']"), ("snap.other.app", "[]")):
        status, out, err = confined(profile, NAMES_WITHOUT_PROOF)
        assert out == (own if kernel_names_processes() else "io.whorl.Connection.NotProven"), (out, err)


# A profile as distributions have them: it confines, and lets one harmless program run free.
HELPER = PROFILE.replace("vault", "helper").replace("  file,", "  file,\n  deny /usr/bin/sleep x,\n  /usr/bin/tail Ux,")

TRY = """
import os, time
def tried(client, method, parameters):
    try:
        return json.dumps(client.call(method, parameters, update=lambda _: None))
    except Refused as error:
        return error.name
def tell(client):
    for method, parameters in (("io.whorl.Items.List", {}), ("io.whorl.Items.Use", using("secret", "plain")),
                               ("io.whorl.Fingers.List", {})):
        print(tried(client, method, parameters), flush=True)
client = Client(timeout=200)
print(tried(client, "io.whorl.Items.List", {}), flush=True)
"""

# The child keeps using its parent's connection after the parent has become an unconfined program.
HAND_OVER = TRY + """
os.set_inheritable(client.socket.fileno(), True)
parent = os.getpid()
if os.fork() == 0:
    while "unconfined" not in open(f"/proc/{parent}/attr/current").read():
        time.sleep(0.1)
    tell(client)
    os.kill(parent, 9)
    os._exit(0)
os.execv("/usr/bin/tail", ["tail", "-f", "/dev/null"])
"""

# The unconfined program itself copies what its child writes into a file to the connection.
RELAY = TRY + """
relayed = "/tmp/relayed-%d" % os.getpid()
open(relayed, "w").close()
parent, out = os.getpid(), os.dup(1)
if os.fork() == 0:
    while "unconfined" not in open(f"/proc/{parent}/attr/current").read():
        time.sleep(0.1)
    class Relay:
        def sendmsg(self, parts, rights):
            with open(relayed, "ab") as file: return file.write(parts[0])
        def sendall(self, rest): assert not rest
        def recvmsg(self, *size): return made.recvmsg(*size)
    made, client.socket = client.socket, Relay()
    tell(client)
    os.kill(parent, 9)
    os._exit(0)
os.dup2(client.socket.fileno(), 1)
os.execv("/usr/bin/tail", ["tail", "-s", "0.1", "-f", relayed])
"""


# Docs/Security.md: C15b
def test_b6_confined_program_gets_no_more_by_becoming_an_unconfined_one():
    open_directory()
    whorl("secret", "delete", "plain", check=False)
    whorl("secret", "add", "plain", "--access", "none", secret=b"geheim")
    subprocess.run(["apparmor_parser", "-r"], input=HELPER.encode(), check=True)
    for code in (HAND_OVER, RELAY):
        _, out, err = confined("snap.helper.app", code)
        assert out.splitlines() == ['{"value": []}'] + ["io.whorl.Connection.NotProven"] * 3, (out, err)


def test_b6_flatpak_sandbox_is_told_by_its_mounts():
    """A bubblewrap sandbox with the mounts that Flatpak creates, in a separate process namespace."""
    open_directory()
    keep_wifi()
    place = pathlib.Path("/var/lib/flatpak/app/org.example.Vault/x86_64/stable/0123/files")
    place.mkdir(parents=True, exist_ok=True)
    outcome = subprocess.run(
        command(
            "owner", "sh", "-c",
            'exec 9</dev/null; exec bwrap --unshare-pid --unshare-user --proc /proc --dev /dev --ro-bind /usr /usr '
            '--symlink usr/lib /lib --symlink usr/lib64 /lib64 --symlink usr/bin /bin --ro-bind /guest /guest '
            '--ro-bind /run/whorl /run/whorl --ro-bind "$0" /app --ro-bind-data 9 /.flatpak-info '
            'python3 -c "$1"',
            str(place), PRELUDE + LIST,
        ),
        capture_output=True, timeout=240, preexec_fn=lambda: sit("owner"),
    )
    assert outcome.stdout.strip() == b"[]", outcome
    items = act("owner", call, "io.whorl.Items.List")["value"]
    assert any(item["id"]["name"] == "wifi" for item in items), items


# polkit

def test_first_finger_and_passcode_and_reset_need_the_systems_consent():
    allow("false")
    try:
        process = start("enroll", "right-thumb", user="mallory")
        status, text = error_of(process)
        assert status != 0 and "does not run in a login session" in text, (status, text)
        for method, parameters in (
            ("io.whorl.Maintenance.Reset", {"value": False}),
            ("io.whorl.Passcode.Set", {"passcode": 0, "request": CONSENT}),
        ):
            refused = act("mallory", refusal, method, parameters)
            assert refused and "io.whorl." in refused[1], refused
    finally:
        allow("subject.user == 'owner'")


def refusal(method, parameters):
    try:
        call(method, parameters, secrets=[b"2468 hunter"])
    except Refused as error:
        return error.name, json.dumps(error.parameters)
    return None
