# SPDX-License-Identifier: Apache-2.0
# Docs/Security.md: S46
"""polkit's prompts by a finger, and attacks on its helper.

Up to polkit 126 the helper is the agent's child and belongs to its session. From 127 on systemd starts it for a connection to a
socket, outside any session; tests of that socket are marked.
"""

import array
import contextlib
import json
import os
import pathlib
import pwd
import signal
import socket
import subprocess
import time

import pexpect

from people import act, forgive, lay, lock, profiles, sit
from run import only_where
from test_b_attacks import wake
from test_j_logins import PASSWORD
from whorl_client import Client

SOCKET = "/run/polkit/agent-helper.socket"
socket_of_the_helper = only_where(SOCKET, "polkit before 127 has no socket for its helper")
NOWHERE = lambda user: None
TOUCH = "finger across the reader|finger on the reader"
# Without jobs of its own the shell leaves the terminal to the agent too, which reads passwords there.
PKEXEC = "set +m; pkttyagent --process $$ & sleep 3; pkexec --disable-internal-agent id -u; echo ended-$?"


def records():
    """What the journal has of logins, as fields."""
    subprocess.run(["journalctl", "--sync"], check=True)
    lines = subprocess.run(
        ["journalctl", "-o", "json", "WHORL_METHOD=io.whorl.Login.Verify"], capture_output=True, text=True, check=True
    ).stdout
    return [json.loads(line) for line in lines.splitlines()]


@contextlib.contextmanager
def last_record():
    """Gives a list into which the record of the one login meanwhile is put."""
    before, found = len(records()), []
    yield found
    deadline = time.monotonic() + 30
    while len(records()) == before and time.monotonic() < deadline:
        time.sleep(0.5)
    new = records()[before:]
    assert len(new) == 1, new
    found += new


@contextlib.contextmanager
def shell(place=sit):
    """A shell of owner's on a terminal, in which pkexec asks polkit's agent for terminals."""
    words = ["-u", "owner", "--", "env", "-i", "PATH=/usr/bin:/bin", "TERM=dumb", "PS1=$ ", "sh", "-i"]
    child = pexpect.spawn("runuser", words, encoding="utf-8", timeout=90, preexec_fn=lambda: place("owner"))
    try:
        child.expect_exact("$ ")
        yield child
    finally:
        child.sendline("kill $!; exit")
        child.close(force=True)


def type_password(child, password):
    """polkit's agent drops what was typed before it has hidden the keys."""
    time.sleep(2)
    child.sendline(password)


def ended_with(child):
    child.expect(r"ended-(\d+)")
    return int(child.match.group(1)), child.before


def test_profile_is_enabled_for_polkit():
    profiles("whorl")
    wake()
    forgive()


def test_touch_at_the_seat_is_the_administrators_and_the_journal_says_in_which_session():
    with last_record() as record, shell() as child:
        child.sendline(PKEXEC)
        child.expect(TOUCH)
        lay("right")
        status, text = ended_with(child)
        assert status == 0 and text.rstrip().endswith("0"), (status, text)
    assert record[0]["WHORL_OUTCOME"] == "done" and record[0]["WHORL_SESSION"] == "1", record
    assert record[0]["WHORL_UNIT"].startswith("polkit-agent-helper@" if os.path.exists(SOCKET) else "session-1"), record


def test_wrong_fingers_leave_the_password_and_a_wrong_password_lets_no_one_in():
    for password, ending in (("wrong", "AUTHENTICATION FAILED"), (PASSWORD, "ended-0")):
        with shell() as child:
            child.sendline(PKEXEC)
            child.expect(TOUCH)
            lay("left")
            child.expect("Not recognized")
            lay("left", 2)
            child.expect("Password: ")
            type_password(child, password)
            assert child.expect(["AUTHENTICATION FAILED", "ended-0"]) == (ending == "ended-0"), child.before
        forgive()


def test_no_touch_behind_a_locked_screen():
    lock(True)
    try:
        with shell() as child:
            child.sendline(PKEXEC)
            assert child.expect(["finger", "Password: "]) == 1, child.before
    finally:
        lock(False)


@contextlib.contextmanager
def over_ssh():
    """A shell of owner's in a login by ssh."""
    subprocess.run(["ssh-keygen", "-A"], check=True, capture_output=True)
    pathlib.Path("/run/sshd").mkdir(exist_ok=True)
    options = ["-o", "UsePAM=yes", "-o", "KbdInteractiveAuthentication=yes", "-o", "PasswordAuthentication=no", "-p", "2223"]
    server = subprocess.Popen(["/usr/sbin/sshd", "-D", "-e", *options], stderr=subprocess.DEVNULL)
    words = ["-tt", "-p", "2223", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "owner@127.0.0.1"]
    words += ["env", "TERM=dumb", "'PS1=$ '", "sh", "-i"]
    try:
        deadline = time.monotonic() + 30
        while True:
            child = pexpect.spawn("ssh", words, encoding="utf-8", timeout=90)
            if child.expect_exact(["assword: ", "Connection refused", pexpect.EOF]) == 0:
                break
            assert time.monotonic() < deadline, child.before
            time.sleep(0.5)
        child.sendline(PASSWORD)
        child.expect_exact("$ ")
        yield child
        child.sendline("kill $!; exit")
        child.close(force=True)
    finally:
        server.terminate()
        server.wait(30)


def test_no_touch_over_ssh():
    with over_ssh() as child, last_record() as record:
        child.sendline("stty -echo; loginctl show-session $XDG_SESSION_ID -P Remote")
        child.expect_exact("yes")
        child.sendline(PKEXEC)
        assert child.expect(["finger", "Password: "]) == 1, child.before
        type_password(child, PASSWORD)
        assert ended_with(child)[0] == 0
    assert record[0]["WHORL_OUTCOME"] == "notInteractive", record


# The helper's socket, to which any user may connect

class Agent:
    """A program that speaks to polkit's helper as agents do: the name of any user, and a cookie, which nobody has looked at yet."""

    def __init__(self, user="owner"):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(SOCKET)
        self.socket.sendall(f"{user}\nno-cookie\n".encode())

    def line(self):
        """The first line of the helper's that says something to the person, or how it ended."""
        text = b""
        while b"\n" not in text:
            data = self.socket.recv(1)
            if not data:
                return "hung up"
            text += data
        return text.decode().strip()


def first_word(user="owner"):
    agent = Agent(user)
    try:
        return agent.line()
    finally:
        agent.socket.close()


def person(user):
    entry = pwd.getpwnam(user)
    os.setgroups([])
    os.setgid(entry.pw_gid)
    os.setuid(entry.pw_uid)


def helpers():
    """The units of polkit's helper that run now."""
    return subprocess.run(
        ["systemctl", "list-units", "--plain", "--no-legend", "--state=activating,active", "polkit-agent-helper@*"],
        capture_output=True, text=True, check=True,
    ).stdout.split("\n")[:-1]


def until_no_helper(seconds=15):
    deadline = time.monotonic() + seconds
    while helpers():
        assert time.monotonic() < deadline, helpers()
        time.sleep(0.2)


@socket_of_the_helper
def test_program_of_the_owners_at_the_seat_gets_the_prompt():
    """What the next tests refuse to others."""
    assert act("owner", first_word).startswith("PAM_TEXT_INFO"), "no prompt"
    until_no_helper()


@socket_of_the_helper
def test_agent_that_the_owners_service_manager_runs_gets_the_prompt_too():
    """As desktops start theirs: such a process counts as of its user's session at the screen."""
    group = pathlib.Path("/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/agent.scope")
    group.mkdir(parents=True, exist_ok=True)
    with last_record() as record:
        said = act("owner", first_word, place=lambda user: (group / "cgroup.procs").write_text(str(os.getpid())))
        assert said.startswith("PAM_TEXT_INFO"), said
    assert record[0]["WHORL_SESSION"] == "1", record
    until_no_helper()


@socket_of_the_helper
def test_program_of_another_user_gets_no_prompt_for_the_owner():
    """Outside any session, and by its user's rights in the owner's own session."""
    for place in (NOWHERE, lambda user: sit("owner")):
        with last_record() as record:
            said = act("mallory", first_word, place=place)
            assert said.startswith("PAM_PROMPT_ECHO_OFF Password"), said
        assert record[0]["WHORL_OUTCOME"] == "notInteractive" and "WHORL_SESSION" not in record[0], record
        until_no_helper()


@socket_of_the_helper
def test_program_of_the_owners_outside_any_session_gets_no_prompt():
    with last_record() as record:
        said = act("owner", first_word, place=NOWHERE)
        assert said.startswith("PAM_PROMPT_ECHO_OFF Password"), said
    assert record[0]["WHORL_OUTCOME"] == "notInteractive", record
    until_no_helper()


@socket_of_the_helper
def test_process_of_roots_in_the_owners_session_gets_no_prompt():
    """pkexec's own agent is one: it runs with root's rights."""
    with last_record() as record:
        said = act("root", first_word, place=lambda user: sit("owner"))
        assert said.startswith("PAM_PROMPT_ECHO_OFF Password"), said
    assert record[0]["WHORL_OUTCOME"] == "notInteractive", record
    until_no_helper()


@socket_of_the_helper
def test_agent_that_dies_ends_the_prompt():
    with last_record() as record:
        pid = os.fork()
        if pid == 0:
            try:
                sit("owner")
                person("owner")
                agent = Agent()
                assert agent.line().startswith("PAM_TEXT_INFO")
                os.kill(os.getpid(), signal.SIGKILL)
            finally:
                os._exit(1)
        _, status = os.waitpid(pid, 0)
        assert os.WIFSIGNALED(status), status
        until_no_helper(5)
    assert record[0]["WHORL_OUTCOME"] == "appCancel", record
    # The reader is free at once, and no unit has failed.
    forgive()
    failed = subprocess.run(["systemctl", "--failed", "--plain", "--no-legend"], capture_output=True, text=True, check=True).stdout
    assert "polkit" not in failed, failed


@socket_of_the_helper
def test_touch_for_an_agent_that_has_died_and_left_its_socket_to_another_process_counts_nothing():
    with last_record() as record:
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                sit("owner")
                person("owner")
                agent = Agent()
                os.write(writer, (agent.line() + "\n").encode())
                if os.fork() == 0:
                    time.sleep(3)
                    # The first one has ended by now.
                    while (said := agent.line()) and said.startswith("PAM_TEXT_INFO"):
                        pass
                    os.write(writer, f"{said}\n".encode())
            finally:
                os._exit(0)
        os.close(writer)
        with open(reader) as words:
            assert words.readline().startswith("PAM_TEXT_INFO")
            os.waitpid(pid, 0)
            lay("right")
            said = words.readline()
        assert said.startswith("PAM_PROMPT_ECHO_OFF Password") or said.startswith("FAILURE"), said
    assert record[0]["WHORL_OUTCOME"] == "systemCancel", record
    until_no_helper()
    forgive()


# Who passes a process to the service

GROUPS = pathlib.Path("/sys/fs/cgroup")
HELPERS = r"system.slice/system-polkit\x2dagent\x2dhelper.slice"


def pass_process(pid, service="polkit-1"):
    """Asks for a touch of the owner's with a process beside the call, and returns the reason of the refusal, or the first message."""
    file = os.pidfd_open(pid)
    asked = {"user": 1000, "service": service, "timeoutMilliseconds": 5_000, "agent": 0}
    with Client() as client:
        message = {"method": "io.whorl.Login.Verify", "more": True, "parameters": asked}
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file]))]
        client.socket.sendmsg([json.dumps(message).encode() + b"\0"], rights)
        os.close(file)
        reply = client.receive()
    said = reply["parameters"]
    return said.get("reason") or said.get("message") or reply["error"]


def in_unit(path, *asked):
    """Passes a process as root, in the control group of a unit, as the system's service manager makes it."""
    group = GROUPS / path
    group.mkdir(parents=True, exist_ok=True)
    try:
        return act("root", pass_process, *asked, place=lambda user: (group / "cgroup.procs").write_text(str(os.getpid())))
    finally:
        # It stays as long as the process is not gone.
        deadline = time.monotonic() + 10
        while True:
            try:
                group.rmdir()
                break
            except OSError:
                assert time.monotonic() < deadline
                time.sleep(0.1)


@contextlib.contextmanager
def sleeping(user, place=sit):
    """A process of a user's that does nothing."""
    words = ["runuser", "-u", user, "--", "sleep", "600"]
    process = subprocess.Popen(words, preexec_fn=lambda: place(user))
    try:
        deadline = time.monotonic() + 30
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while not (found := children.read_text().split()):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        while pathlib.Path(f"/proc/{found[0]}/comm").read_text().strip() != "sleep":
            assert time.monotonic() < deadline
            time.sleep(0.1)
        yield int(found[0])
    finally:
        subprocess.run(["pkill", "-P", str(process.pid)])
        process.wait(30)


# Docs/Security.md: S47
def test_process_that_root_passes_counts_in_the_helpers_unit_alone():
    unit = f"{HELPERS}/polkit-agent-helper@9.service"
    with sleeping("owner") as agent:
        assert pass_process(agent) == "noSession"
        for other in (
            "system.slice/other.service", "system.slice/polkit-agent-helper@9.service", f"{HELPERS}/other@9.service",
            f"{HELPERS}/polkit-agent-helper@9.service/inner", f"other.slice/{HELPERS}/polkit-agent-helper@9.service",
        ):
            assert in_unit(other, agent) == "noSession", other
        # The same call in the unit is asked: it was the unit that was refused.
        assert "finger" in in_unit(unit, agent)
        assert in_unit(unit, agent, "sudo") == "noSession"
    for user, place in (("owner", NOWHERE), ("mallory", NOWHERE), ("mallory", lambda user: sit("owner"))):
        with sleeping(user, place) as agent:
            assert in_unit(unit, agent) == "noSession", user
    assert in_unit(unit, 1) == "noSession"


def test_user_passes_nothing():
    with sleeping("owner") as agent:
        for user in ("owner", "mallory"):
            assert act(user, pass_process, agent) == "io.whorl.Login.RootAlone", user


def test_profile_for_polkit_is_taken_out_again():
    profiles()
    forgive()
