# SPDX-License-Identifier: Apache-2.0
# Docs/Security.md: S62
"""The SSH agent of the package whorl-ssh, as a unit of the user's, with OpenSSH's server on this machine."""

import base64
import contextlib
import pathlib
import shutil
import subprocess
import time

from cases import enrolled
from people import act, command, forgive, lay, lock, reader_waits, sit
from test_e_agents import Agent
from test_j_polkit import over_ssh
from whorl_client import CONSENT, PRESENTER, Refused, call

RUN = "/run/user/1000"
SOCKET = f"{RUN}/whorl/ssh-agent.sock"
HOME = pathlib.Path("/home/owner")
PORT = "2224"
PUBLIC = HOME / ".ssh/whorl/laptop.pub"
ITEM = {"profile": "owner", "kind": "sshKey", "name": "laptop"}
WORDS = ["ssh", "-p", PORT, "-o", "BatchMode=yes", "-i", str(PUBLIC), "owner@127.0.0.1", "echo", "arrived"]


def owner(*words, wait=True, **variables):
    """Runs a program of owner's in the session at the seat."""
    settings = [f"XDG_RUNTIME_DIR={RUN}", "LC_ALL=C.UTF-8", *(f"{name}={value}" for name, value in variables.items())]
    process = subprocess.Popen(
        command("owner", "env", *settings, *words), preexec_fn=lambda: sit("owner"), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )
    if not wait:
        return process
    out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(words, process.returncode, out, err)


@contextlib.contextmanager
def server():
    """An SSH server in which owner's key may log in."""
    subprocess.run(["ssh-keygen", "-A"], check=True, capture_output=True)
    pathlib.Path("/run/sshd").mkdir(exist_ok=True)
    options = ["-p", PORT, "-o", "UsePAM=yes", "-o", "PasswordAuthentication=no", "-o", "HostKey=/etc/ssh/ssh_host_ed25519_key"]
    process = subprocess.Popen(["/usr/sbin/sshd", "-D", "-e", *options], stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 30
        while subprocess.run(["ssh-keyscan", "-p", PORT, "127.0.0.1"], capture_output=True).stdout == b"":
            assert time.monotonic() < deadline
        yield
    finally:
        process.terminate()
        process.wait(30)


@contextlib.contextmanager
def prompts():
    """A program that shows owner's prompts; yields a function that returns what one is for."""
    agent = Agent()

    def next_one():
        while True:
            update = agent.seen.get(timeout=60)
            if "prompt" in update:
                return update["prompt"]["prompt"]

    try:
        yield next_one
    finally:
        agent.stop()


def fingerprint():
    said = subprocess.run(["ssh-keygen", "-lf", "/etc/ssh/ssh_host_ed25519_key.pub"], capture_output=True, text=True, check=True)
    return said.stdout.split()[1]


def test_s_user_enables_the_agent_and_creates_a_key():
    enrolled()
    enabled = owner("whorl", "ssh", "enable")
    assert enabled.returncode == 0 and SOCKET in enabled.stdout, enabled
    created = owner("whorl", "ssh", "create", "laptop")
    assert created.returncode == 0, created
    config = owner("whorl", "ssh", "config")
    assert config.returncode == 0, config
    (HOME / ".ssh/config").write_text(config.stdout + "    StrictHostKeyChecking accept-new\n")
    (HOME / ".ssh/authorized_keys").write_text(created.stdout)
    subprocess.run(["chown", "-R", "owner:", f"{HOME}/.ssh"], check=True)
    listed = owner("ssh-add", "-L", SSH_AUTH_SOCK=SOCKET)
    assert listed.stdout == created.stdout and PUBLIC.read_text() == created.stdout, listed
    # What the unit allows, and what the kernel allows other programs of the user.
    pid = int(subprocess.run(["pgrep", "-x", "whorl-ssh-agent"], capture_output=True, text=True, check=True).stdout)
    assert act("owner", lambda: _readable(f"/proc/{pid}/maps")) is False
    assert "NoNewPrivs:\t1" in pathlib.Path(f"/proc/{pid}/status").read_text()


def _readable(path):
    try:
        pathlib.Path(path).read_bytes()
    except PermissionError:
        return False
    return True


def test_s_login_shows_its_host_and_succeeds_after_a_touch():
    with server(), prompts() as prompt:
        ssh = owner(*WORDS, wait=False)
        shown = prompt()
        name = f"owner@{fingerprint()} (known_hosts: 127.0.0.1:{PORT})"
        assert shown["purpose"] == {"kind": "sshLogin", "name": name}, shown
        # The program that asks is ssh, and not the agent.
        assert shown["asker"]["process"] == "ssh" and shown["asker"]["session"] == "1", shown
        lay("right", asking=ssh)
        out, err = ssh.communicate(timeout=60)
        assert out == "arrived\n", err
        ssh = owner(*WORDS, wait=False)
        prompt()
        lay("left", 3, asking=ssh)
        assert "arrived" not in ssh.communicate(timeout=60)[0]
    forgive()


def test_s_file_is_signed():
    pathlib.Path("/tmp/file").write_text("contents")
    with prompts() as prompt:
        words = ["sh", "-c", f"ssh-keygen -q -Y sign -n backup -f {PUBLIC} </tmp/file >{HOME}/file.sig"]
        signing = owner(*words, SSH_AUTH_SOCK=SOCKET, wait=False)
        assert prompt()["purpose"] == {"kind": "sshSignature", "name": "backup"}
        lay("right", asking=signing)
        assert signing.wait(60) == 0, signing.communicate()
    checked = owner("sh", "-c", f"ssh-keygen -Y check-novalidate -n backup -s {HOME}/file.sig </tmp/file")
    assert checked.returncode == 0 and "Good" in checked.stdout, checked


def test_s_commit_of_git_is_signed_and_verified():
    repository = f"{HOME}/repository"
    for name, value in (("email", "owner@example.org"), ("name", "Owner")):
        assert owner("git", "config", "--global", f"user.{name}", value).returncode == 0
    assert owner("whorl", "ssh", "git-setup", "laptop", "--global", "--yes").returncode == 0
    assert owner("sh", "-c", f"git init -q {repository}; cd {repository}; touch file; git add file").returncode == 0
    with prompts() as prompt:
        commit = owner("git", "-C", repository, "commit", "-qm", "change", wait=False)
        shown = prompt()
        assert shown["purpose"] == {"kind": "gitSignature"} and shown["asker"]["process"] == "ssh-keygen", shown
        lay("right", asking=commit)
        assert commit.wait(60) == 0, commit.communicate()
    verified = owner("git", "-C", repository, "verify-commit", "HEAD")
    assert verified.returncode == 0 and "Good" in verified.stderr, verified
    # Without a program that shows the prompt, nothing hangs.
    begun = time.monotonic()
    refused = owner("git", "-C", repository, "commit", "-q", "--allow-empty", "-m", "none")
    assert refused.returncode != 0 and time.monotonic() - begun < 15 and not reader_waits(), refused
    assert owner("whorl", "ssh", "git-setup", "--global", "--undo", "--yes").returncode == 0


def test_s_touch_counts_for_the_same_again_until_the_screen_is_locked():
    assert owner("whorl", "ssh", "create", "burst", "--reuse", "60").returncode == 0
    assert owner("whorl", "ssh", "config").returncode == 0
    key = HOME / ".ssh/whorl/burst.pub"

    def sign(namespace="backup"):
        line = f"ssh-keygen -q -Y sign -n {namespace} -f {key} </tmp/file >{HOME}/burst.sig"
        return owner("sh", "-c", line, SSH_AUTH_SOCK=SOCKET, wait=False)

    def touched(signing, prompt):
        line = prompt()
        lay("right", asking=signing)
        assert signing.wait(60) == 0, signing.communicate()
        return line["limits"]["wholeSeconds"]

    with prompts() as prompt:
        assert touched(sign(), prompt) == 60
        again = sign()
        assert again.wait(60) == 0 and not reader_waits(), again.communicate()
        # Another program of the user that calls the service itself has no part in it.
        data = b"SSHSIG" + b"".join(len(part).to_bytes(4, "big") + part for part in (b"backup", b"", b"sha512", bytes(64)))
        other = act("owner", lambda: _asks(data, "burst"))
        assert other == "timedOut", other
        lock(True)
        lock(False)
        assert touched(sign(), prompt) == 60
    removing = owner("whorl", "ssh", "remove", "burst", wait=False)
    lay("right", asking=removing)
    assert removing.wait(60) == 0, removing.communicate()


def _asks(data, name):
    """Requests a signature from the service directly, as the agent does, and returns the code of the error."""
    asked = {"id": {**ITEM, "name": name}, "data": base64.b64encode(data).decode(), "binds": [], "request": {**CONSENT, "timeoutMilliseconds": 2000}}
    try:
        call("io.whorl.Items.SignForSSH", {"call": asked, "presenter": PRESENTER}, update=lambda _: None)
    except Refused as refused:
        return refused.parameters["code"]


def test_s_age_decrypts_a_file_after_a_touch():
    key, file = f"{HOME}/age-key", f"{HOME}/note.age"
    created = owner("whorl", "age", "create", "--output", key)
    assert created.returncode == 0 and created.stdout.startswith("recipient: age1tag1"), created
    assert owner("sh", "-c", f"printf 'meet at noon' | age -e -i {key} -o {file}").returncode == 0
    with prompts() as prompt:
        decrypting = owner("age", "-d", "-i", key, file, wait=False)
        shown = prompt()
        assert shown["purpose"] == {"kind": "storedByProgram"} and "age" in shown["reason"], shown
        lay("right", asking=decrypting)
        out, err = decrypting.communicate(timeout=60)
        assert decrypting.returncode == 0 and out == "meet at noon", (out, err)
        decrypting = owner("age", "-d", "-i", key, file, wait=False)
        prompt()
        lay("left", 3, asking=decrypting)
        out, err = decrypting.communicate(timeout=60)
        assert decrypting.returncode != 0 and "noon" not in out and "finger" in err.lower(), (out, err)
    forgive()
    # Another user has the identity's file, and not the key.
    shutil.copy(key, "/tmp/age-key")
    shutil.copy(file, "/tmp/note.age")
    for name in ("age-key", "note.age"):
        pathlib.Path(f"/tmp/{name}").chmod(0o644)
    stolen = subprocess.run(
        command("mallory", "age", "-d", "-i", "/tmp/age-key", "/tmp/note.age"), stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=60, check=False,
    )
    assert stolen.returncode != 0 and "noon" not in stolen.stdout and not reader_waits(), stolen


def test_s_nothing_is_signed_where_no_prompt_can_be_shown_or_the_screen_is_locked():
    with server():
        begun = time.monotonic()
        assert "arrived" not in owner(*WORDS).stdout
        assert time.monotonic() - begun < 15 and not reader_waits()
        with prompts():
            lock(True)
            try:
                assert "arrived" not in owner(*WORDS).stdout and not reader_waits()
            finally:
                lock(False)


def test_s_remote_login_of_the_user_gets_no_touch_from_the_agent():
    with server(), over_ssh() as child, prompts():
        child.sendline(f"stty -echo; export XDG_RUNTIME_DIR={RUN}; {' '.join(WORDS)}; echo ended-$?")
        child.expect_exact("whorl-ssh-agent: ")
        child.expect(r"ended-(\d+)")
        assert child.match.group(1) == "255" and "arrived" not in child.before and not reader_waits(), child.before


def test_s_other_users_reach_neither_the_agent_nor_the_key():
    def connect():
        import socket

        with socket.socket(socket.AF_UNIX) as end:
            try:
                end.connect(SOCKET)
            except OSError as error:
                return type(error).__name__
            return "connected"

    assert act("mallory", connect) == "PermissionError"

    def sign():
        try:
            asked = {"id": ITEM, "data": "AAAA", "binds": [], "request": CONSENT}
            call("io.whorl.Items.SignForSSH", {"call": asked, "presenter": PRESENTER}, update=lambda _: None)
        except Refused as refused:
            return refused.parameters["code"]

    assert act("mallory", sign) == "noSuchItem"
    # No other operation signs with the key, and no bytes without a meaning are signed.
    assert act("owner", sign) == "sshRequestRefused"
    assert owner("sh", "-c", "printf 0123456789abcdef0123456789abcdef | whorl key sign laptop").returncode != 0


def test_s_process_of_another_session_does_not_help_a_caller():
    """A program passes a process at the seat, but is not there itself."""
    import array
    import json
    import os
    import socket

    seat = owner("sleep", "60", wait=False)
    time.sleep(1)
    found = subprocess.run(["pgrep", "-x", "-u", "owner", "sleep"], capture_output=True, text=True, check=True).stdout.split()[-1]

    def ask():
        from whorl_client import Client

        with Client() as client:
            process = os.pidfd_open(int(found))
            asked = {"id": ITEM, "data": "AAAA", "binds": [], "client": 0, "request": CONSENT}
            message = {"method": "io.whorl.Items.SignForSSH", "more": True, "parameters": {"call": asked, "presenter": PRESENTER}}
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [process]))]
            client.socket.sendmsg([json.dumps(message).encode() + b"\0"], rights)
            try:
                client.reply(lambda _: None)
            except Refused as refused:
                return refused.parameters["code"]

    try:
        assert act("owner", ask) == "sshRequestRefused"
        assert act("mallory", ask) == "noSuchItem"
    finally:
        seat.kill()
        subprocess.run(["pkill", "-x", "-u", "owner", "sleep"])


def test_s_disabled_agent_leaves_the_key():
    assert owner("whorl", "ssh", "disable").returncode == 0
    assert not pathlib.Path(SOCKET).exists()
    assert "laptop" in owner("whorl", "ssh", "list").stdout
    removing = owner("whorl", "ssh", "remove", "laptop", wait=False)
    lay("right", asking=removing)
    assert removing.wait(60) == 0, removing.communicate()
    shutil.rmtree(HOME / ".ssh")
