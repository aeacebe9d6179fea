# SPDX-License-Identifier: Apache-2.0
# Docs/Security.md: S62
"""whorl-ssh-agent with OpenSSH's own programs, git, paramiko and asyncssh, and with frames that no program sends.

usage: test_agent.py [TEST...]
"""

import base64
import contextlib
import os
import pathlib
import random
import shlex
import shutil
import signal
import socket
import sqlite3
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback

import pexpect

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from scene import CONSENT, NO_PROMPTS, PRESENTER, REPOSITORY, Scene, Server, Wire, call, run, string  # noqa: E402
from service import TPM  # noqa: E402
from whorl_client import name, using  # noqa: E402


def refused(answer):
    return answer == b"\x05"


def login(session=b"s" * 32, user="ada", key=b"", host=b""):
    """Returns the bytes that a login asks an agent to sign."""
    method = b"publickey-hostbound-v00@openssh.com" if host else b"publickey"
    start = string(session) + b"\x32" + string(user.encode()) + string(b"ssh-connection") + string(method)
    return start + b"\x01" + string(b"ecdsa-sha2-nistp256") + string(key) + (string(host) if host else b"")


@contextlib.contextmanager
def openssh_agent(folder, *keys):
    """OpenSSH's agent, with keys of these types in files."""
    path = f"{folder}/upstream"
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", path], stdout=subprocess.DEVNULL)
    try:
        while not os.path.exists(path):
            time.sleep(0.01)
        for kind in keys:
            run("ssh-keygen", "-q", "-t", kind, "-N", "", "-C", kind, "-f", f"{folder}/{kind}")
            run("ssh-add", "-q", f"{folder}/{kind}", SSH_AUTH_SOCK=path)
        yield path
    finally:
        agent.terminate()
        agent.wait()


@contextlib.contextmanager
def gnome_agent(folder):
    """GNOME's agent without keys: a part of gnome-keyring (Debian 12), or a program of gcr 4 (Debian 13)."""
    place = folder / "gnome"
    place.mkdir(mode=0o700)
    for words in (
        ["gnome-keyring-daemon", "--foreground", "--components=ssh", f"--control-directory={place}"], ["/usr/libexec/gcr-ssh-agent", f"{place}"],
    ):
        # The agent that it starts itself keeps its output open.
        agent = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 5
            while not (place / "ssh").exists() and time.monotonic() < deadline and agent.poll() is None:
                time.sleep(0.01)
            if (place / "ssh").exists():
                yield str(place / "ssh")
                assert agent.poll() is None, f"{words[0]} has exited"
                return
        finally:
            agent.terminate()
            agent.wait()
    raise AssertionError("neither gnome-keyring nor gcr has an SSH agent")


@contextlib.contextmanager
def folder():
    with tempfile.TemporaryDirectory(prefix="whorl-") as path:
        yield pathlib.Path(path)


# --- Keys --------------------------------------------------------------------------------------------------------------


def test_keys_are_listed_without_a_prompt():
    with Scene(keys=("laptop", "desk")) as scene:
        listed = scene.add_ssh("-L").stdout.splitlines()
        assert sorted(line.split()[2] for line in listed) == ["desk", "laptop"], listed
        assert {line.split()[0] for line in listed} == {"ecdsa-sha2-nistp256"}, listed
        assert scene.add_ssh("-l").stdout.count("(ECDSA)") == 2
        assert not scene.prompts.shown


def test_keys_are_listed_while_the_service_is_away_and_while_a_prompt_is_open():
    with Scene(then="wait") as scene, Wire(scene.socket) as wire, Wire(scene.socket) as other:
        ((key, _),) = wire.keys()
        wire.send(b"\x0d" + string(key) + string(login(key=key)) + bytes(4))
        while not scene.prompts.shown:
            time.sleep(0.01)
        begun = time.monotonic()
        assert other.keys() == [(key, "laptop")] and time.monotonic() - begun < 0.1
        scene.service.kill()
        assert refused(wire.receive())
        assert other.keys() == [(key, "laptop")]
        assert refused(other.sign(key, login(key=key)))


def test_new_key_is_listed_after_a_reload():
    with Scene() as scene, Wire(scene.socket) as wire:
        assert len(wire.keys()) == 1
        scene.add("desk")
        assert len(wire.keys()) == 1
        assert wire.ask(b"\x1b" + string(b"reload@whorl"))[0] == 12
        assert len(wire.keys()) == 2
        scene.add("third")
        scene.agent.send_signal(signal.SIGHUP)
        deadline = time.monotonic() + 5
        while len(wire.keys()) < 3:
            assert time.monotonic() < deadline


def test_keys_in_the_tpm_are_neither_added_nor_deleted_by_ssh_add():
    with Scene() as scene, folder() as place:
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{place}/foreign")
        assert scene.add_ssh(f"{place}/foreign", check=False).returncode == 1
        assert scene.add_ssh("-d", str(scene.public()), check=False).returncode == 1
        scene.add_ssh("-D", check=False)
        assert scene.add_ssh("-L").stdout.count("ecdsa") == 1


def test_key_that_was_tampered_with_does_not_hide_the_others():
    with Scene(keys=("laptop", "desk")) as scene, Wire(scene.socket) as wire:
        assert len(wire.keys()) == 2
        with contextlib.closing(sqlite3.connect(scene.service.folder / "state/whorl.sqlite", timeout=30)) as state:
            state.execute("UPDATE vault_items SET created_at = created_at + 1 WHERE name = 'desk'")
            state.commit()
        wire.ask(b"\x1b" + string(b"reload@whorl"))
        assert [name for _, name in wire.keys()] == ["laptop"]


def test_unknown_data_is_refused_without_a_prompt():
    with Scene() as scene:
        assert scene.add_ssh("-T", str(scene.public()), check=False).returncode == 1
        assert "meaning" in scene.said, scene.said
        assert not scene.prompts.shown


def test_unknown_data_is_signed_by_a_key_that_was_created_for_it():
    with Scene() as scene, Wire(scene.socket) as wire:
        scene.add("any", unknown=True)
        wire.ask(b"\x1b" + string(b"reload@whorl"))
        scene.add_ssh("-T", str(scene.public("any")))
        assert scene.prompts.take() == ("sshUnknownData", "any")


def test_pinned_key_logs_in_at_its_host_alone():
    with Scene() as scene:
        identity = scene.public()
        line = identity.read_text().strip()
        with Server([line]) as server, Server([line]) as other:
            key = pathlib.Path(f"{server.host_key}.pub").read_text().split()[1]
            pins = {"id": {"profile": "owner", "kind": "sshKey", "name": "laptop"}, "pins": [{"name": "bench", "key": key}]}
            call(
                "io.whorl.Items.PinSSHKey", {"call": {**pins, "request": CONSENT}, "presenter": PRESENTER}, update=lambda _: None
            )
            assert scene.prompts.take() == ("sshPins", f"laptop: bench ({server.fingerprint})")
            assert run(*server.words(identity), "echo", "arrived", SSH_AUTH_SOCK=scene.socket).stdout == "arrived\n"
            assert scene.prompts.take() == ("sshLogin", f"root@bench ({server.fingerprint})")
            refused_ = run(*other.words(identity), "echo", "arrived", SSH_AUTH_SOCK=scene.socket, check=False)
            assert refused_.returncode == 255 and not scene.prompts.shown and "not for the host" in scene.said, scene.said


def test_locked_agent_lists_and_signs_nothing():
    with Scene() as scene, Wire(scene.socket) as wire:
        ((key, _),) = wire.keys()
        assert wire.ask(b"\x16" + string(b"secret"))[0] == 6
        assert wire.keys() == [] and refused(wire.sign(key, login(key=key)))
        assert refused(wire.ask(b"\x16" + string(b"again")))
        for wait in (0.1, 0.2):
            begun = time.monotonic()
            assert refused(wire.ask(b"\x17" + string(b"wrong"))) and time.monotonic() - begun >= wait
        assert wire.ask(b"\x17" + string(b"secret"))[0] == 6
        assert len(wire.keys()) == 1
        # ssh-add asks for the passphrase.
        asking = {"SSH_ASKPASS": "/bin/true", "SSH_ASKPASS_REQUIRE": "force", "DISPLAY": ":9"}
        scene.add_ssh("-x", **asking)
        assert "no identities" in scene.add_ssh("-L", check=False).stdout
        scene.add_ssh("-X", **asking)
        assert scene.add_ssh("-L").stdout.count("ecdsa") == 1


# --- Logins ------------------------------------------------------------------------------------------------------------


def test_request_that_waits_for_a_touch_ends_when_the_agent_is_locked():
    with Scene(then="wait") as scene, Wire(scene.socket) as wire, Wire(scene.socket) as other:
        ((key, _),) = wire.keys()
        wire.send(b"\x0d" + string(key) + string(login(key=key)) + bytes(4))
        while not scene.prompts.shown:
            time.sleep(0.01)
        # The next request is there already.
        wire.send(b"\x0b")
        assert other.ask(b"\x16" + string(b"secret"))[0] == 6 and refused(wire.receive())
        assert wire.receive() == b"\x0c" + bytes(4)


def test_host_that_the_agent_is_forwarded_to_can_neither_lock_it_nor_keep_all_connections():
    with Scene() as scene:
        with Wire(scene.socket) as wire:
            assert wire.ask(bind(forwarding=1))[0] == 6
            assert refused(wire.ask(b"\x16" + string(b"secret"))) and len(wire.keys()) == 1
        # This process is one client, as an ssh with many channels is.
        wires = [Wire(scene.socket) for _ in range(100)]
        time.sleep(0.5)
        assert scene.add_ssh("-L").stdout.count("ecdsa") == 1
        for wire in wires:
            wire.close()


def test_names_that_would_look_like_others_are_refused_and_an_at_sign_is_quoted():
    with Scene() as scene, Wire(scene.socket) as wire:
        ((key, _),) = wire.keys()
        for user in ("xx\u200byy", "\u202eroot", "a b", "x" * 129, "“root”"):
            assert refused(wire.sign(key, login(user=user, key=key))), user
        assert not scene.prompts.shown
        assert wire.sign(key, login(user="alice@prod", key=key))[0] == 14
        assert scene.prompts.take() == ("sshLoginUnproven", "“alice@prod”")
        scene.add("any", unknown=True)
        wire.ask(b"\x1b" + string(b"reload@whorl"))
        any_key = dict((name, blob) for blob, name in wire.keys())["any"]
        with Wire(scene.socket) as hop:
            hop.ask(bind(forwarding=1))
            assert hop.sign(any_key, b"unknown")[0] == 14
            assert scene.prompts.take() == ("sshUnknownData", "any via ?")


def test_another_user_s_agent_is_not_used():
    with folder() as place:
        place.chmod(0o777)
        script = (
            "import socket, time; s = socket.socket(socket.AF_UNIX); "
            f"s.bind('{place}/theirs'); s.listen(); print(flush=True); time.sleep(60)"
        )
        theirs = subprocess.Popen(
            ["setpriv", "--reuid=65534", "--clear-groups", "/usr/bin/python3", "-c", script], stdout=subprocess.PIPE
        )
        try:
            theirs.stdout.readline()
            with Scene(upstream=f"{place}/theirs") as scene, Wire(scene.socket) as wire:
                begun = time.monotonic()
                assert len(wire.keys()) == 1 and time.monotonic() - begun < 1
                run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{place}/foreign")
                assert scene.add_ssh(f"{place}/foreign", check=False).returncode == 1
        finally:
            theirs.kill()
            theirs.wait()


def test_login_shows_its_user_and_host_and_succeeds():
    with Scene() as scene:
        identity = scene.public()
        for kind in ("ed25519", "ecdsa"):
            with Server([identity.read_text().strip()], kind) as server:
                came = run(*server.words(identity), "echo", "arrived", SSH_AUTH_SOCK=scene.socket)
                assert came.stdout == "arrived\n", came
                assert scene.prompts.take() == ("sshLogin", f"root@{server.fingerprint}"), scene.prompts.shown


def test_prompt_has_the_host_s_name_from_known_hosts_also_if_it_is_hashed():
    with Scene() as scene:
        identity = scene.public()
        known = scene.folder / ".ssh/known_hosts"
        known.parent.mkdir()
        with Server([identity.read_text().strip()]) as server:
            for hashed in (False, True):
                known.write_text(server.known.read_text())
                if hashed:
                    run("ssh-keygen", "-q", "-H", "-f", str(known))
                    assert known.read_text().startswith("|1|")
                assert run(*server.words(identity), "true", SSH_AUTH_SOCK=scene.socket).returncode == 0
                name = f"root@{server.fingerprint} (known_hosts: 127.0.0.1:{server.port})"
                assert scene.prompts.take() == ("sshLogin", name), (hashed, scene.prompts.shown)
            known.write_text("@revoked * " + server.known.read_text().split(" ", 1)[1] + server.known.read_text())
            run(*server.words(identity), "true", SSH_AUTH_SOCK=scene.socket)
            assert scene.prompts.take() == ("sshLogin", f"root@{server.fingerprint}")


def test_login_at_a_host_whose_key_cannot_be_verified_says_that_the_host_is_unknown():
    with Scene() as scene:
        identity = scene.public()
        with Server([identity.read_text().strip()], "rsa") as server:
            assert run(*server.words(identity), "echo", "arrived", SSH_AUTH_SOCK=scene.socket).stdout == "arrived\n"
            assert scene.prompts.take() == ("sshLoginUnproven", "root")


def test_login_through_another_host_is_proven_for_the_last_one():
    with Scene() as scene:
        identity = scene.public()
        line = identity.read_text().strip()
        with Server([line]) as hop, Server([line]) as target:
            jump = " ".join(hop.words(identity)[:-1]) + " -W %h:%p 127.0.0.1"
            came = run(*target.words(identity, "-o", f"ProxyCommand={jump}"), "echo", "arrived", SSH_AUTH_SOCK=scene.socket)
            assert came.stdout == "arrived\n", came
            assert scene.prompts.purposes == [
                ("sshLogin", f"root@{hop.fingerprint}"), ("sshLogin", f"root@{target.fingerprint}"),
            ], scene.prompts.purposes


def test_forwarded_login_names_the_host_that_it_came_through():
    with Scene() as scene:
        identity = scene.public()
        line = identity.read_text().strip()
        with Server([line]) as hop, Server([line]) as target:
            inner = " ".join(shlex.quote(word) for word in target.words(identity)) + " echo arrived"
            came = run(*hop.words(identity, "-A"), inner, SSH_AUTH_SOCK=scene.socket, check=False)
            assert came.stdout == "arrived\n", came
            kinds = scene.prompts.purposes
            assert kinds[0] == ("sshLogin", f"root@{hop.fingerprint}"), kinds
            assert kinds[1] == ("sshLogin", f"root@{target.fingerprint} via {hop.fingerprint}"), kinds


def test_certificate_logs_in():
    with Scene() as scene, folder() as place:
        identity = scene.public()
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{place}/ca")
        run("ssh-keygen", "-q", "-s", f"{place}/ca", "-I", "me", "-n", "root", str(identity))
        ca = pathlib.Path(f"{place}/ca.pub").read_text().strip()
        with Server([f"cert-authority {ca}"]) as server:
            assert run(*server.words(identity.with_suffix("")), "echo", "arrived", SSH_AUTH_SOCK=scene.socket).stdout == "arrived\n"
            assert scene.prompts.take()[0] == "sshLogin"


def test_wrong_finger_closed_client_and_killed_agent_sign_nothing():
    with Scene(then="wait", touches=["no-match*3"]) as scene, Wire(scene.socket) as wire:
        ((key, _),) = wire.keys()
        assert refused(wire.sign(key, login(key=key)))
        with Wire(scene.socket) as gone:
            gone.send(b"\x0d" + string(key) + string(login(key=key)) + bytes(4))
            while len(scene.prompts.shown) < 2:
                time.sleep(0.01)
        with Wire(scene.socket) as killed:
            killed.send(b"\x0d" + string(key) + string(login(key=key)) + bytes(4))
            while len(scene.prompts.shown) < 3:
                time.sleep(0.01)
            scene.agent.kill()
            assert killed.receive() == b""


def test_request_without_a_prompt_program_is_refused_at_once_and_says_why():
    with Scene(prompts=False) as scene, Server([scene.public().read_text().strip()]) as server:
        identity = scene.public()
        begun = time.monotonic()
        # On a terminal, the reason is there.
        child = pexpect.spawn(
            "ssh", server.words(identity)[1:] + ["true"], encoding="utf-8", timeout=20,
            env={**os.environ, "SSH_AUTH_SOCK": scene.socket},
        )
        child.expect("whorl-ssh-agent: ")
        assert time.monotonic() - begun < 2
        child.expect(pexpect.EOF)
        assert "whorl-ssh-agent: " in scene.said, scene.said


# --- Signatures --------------------------------------------------------------------------------------------------------


def test_git_commits_and_tags_are_signed_and_verified():
    with Scene() as scene, folder() as place:
        identity = scene.public()
        (place / "allowed").write_text(f"me@example.org {identity.read_text()}")
        for name, value in (
            ("user.name", "Me"), ("user.email", "me@example.org"), ("gpg.format", "ssh"), ("user.signingkey", str(identity)),
            ("gpg.ssh.allowedSignersFile", f"{place}/allowed"),
        ):
            run("git", "config", "--file", f"{place}/config", name, value)

        def git(*words):
            return run(
                "git", "-C", str(place / "repository"), *words, SSH_AUTH_SOCK=scene.socket, GIT_CONFIG_GLOBAL=f"{place}/config",
                GIT_CONFIG_SYSTEM="/dev/null",
            )

        run("git", "init", "-q", str(place / "repository"))
        git("commit", "-q", "--allow-empty", "-S", "-m", "signed")
        assert scene.prompts.take() == ("gitSignature", None)
        git("tag", "-s", "-m", "signed", "v1")
        assert scene.prompts.take() == ("gitSignature", None)
        assert "Good" in git("verify-commit", "HEAD").stderr and "Good" in git("verify-tag", "v1").stderr
        # Logins and pushes use the same agent.
        with Server([identity.read_text().strip()]) as server:
            run("git", "init", "-q", "--bare", f"{place}/remote")
            git("config", "core.sshCommand", " ".join(server.words(identity)[:-1]))
            git("push", "-q", f"ssh://127.0.0.1:{server.port}{place}/remote", "HEAD:main")
            assert scene.prompts.take()[0] == "sshLogin"


def test_files_are_signed_under_their_namespace_and_verified():
    with Scene() as scene, folder() as place:
        identity = scene.public()
        (place / "allowed").write_text(f"me {identity.read_text()}")
        (place / "file").write_text("contents")
        run("ssh-keygen", "-q", "-Y", "sign", "-n", "backup", "-f", str(identity), f"{place}/file", SSH_AUTH_SOCK=scene.socket)
        assert scene.prompts.take() == ("sshSignature", "backup"), scene.prompts.shown
        words = ["-n", "backup", "-s", f"{place}/file.sig"]
        run("ssh-keygen", "-Y", "verify", "-f", f"{place}/allowed", "-I", "me", *words, stdin="contents")
        run("ssh-keygen", "-Y", "check-novalidate", *words, stdin="contents")
        assert run("ssh-keygen", "-Y", "check-novalidate", *words, stdin="others", check=False).returncode != 0


def test_first_request_after_the_start_may_be_to_sign():
    with Scene() as scene:
        with Wire(scene.socket) as wire:
            (key, _) = wire.keys()[0]
        for _ in range(5):
            scene.agent.terminate()
            scene.agent.wait()
            scene.start()
            with Wire(scene.socket) as wire:
                assert wire.sign(key, login(key=key))[0] == 14 and scene.prompts.take()[0] == "sshLoginUnproven"


def test_touch_counts_for_the_same_again_if_the_key_was_made_with_a_time():
    with Scene(reuse=30) as scene, folder() as place:
        identity = scene.public()

        def sign(namespace):
            (place / "file").write_text("contents")
            (place / "file.sig").unlink(missing_ok=True)
            run("ssh-keygen", "-q", "-Y", "sign", "-n", namespace, "-f", str(identity), f"{place}/file", SSH_AUTH_SOCK=scene.socket)
            shown = [purpose[1] for purpose in scene.prompts.purposes]
            scene.prompts.shown.clear()
            return shown

        assert sign("backup") == ["backup"] and sign("backup") == sign("backup") == []
        assert sign("other") == ["other"] and sign("backup") == ["backup"]
        with Server([identity.read_text().strip()]) as server:
            for expected in (["sshLogin"], [], []):
                run(*server.words(identity), "true", SSH_AUTH_SOCK=scene.socket)
                assert [kind for kind, _ in scene.prompts.purposes] == expected, scene.prompts.purposes
                scene.prompts.shown.clear()
        # The touch was for this agent.
        scene.agent.terminate()
        scene.agent.wait()
        scene.start()
        assert sign("backup") == ["backup"] and sign("backup") == []


# --- Another agent behind this one -------------------------------------------------------------------------------------


def test_keys_of_the_agent_behind_this_one_are_listed_after_its_own_and_sign():
    with folder() as place, openssh_agent(place, "ed25519") as path, Scene(upstream=path) as scene:
        listed = scene.add_ssh("-L").stdout.split()
        assert listed[0::3] == ["ecdsa-sha2-nistp256", "ssh-ed25519"], listed
        line = (place / "ed25519.pub").read_text().strip()
        with Server([line]) as server:
            assert run(*server.words(f"{place}/ed25519.pub"), "echo", "arrived", SSH_AUTH_SOCK=scene.socket).stdout == "arrived\n"
        assert not scene.prompts.shown
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{place}/foreign")
        scene.add_ssh("-q", f"{place}/foreign")
        assert scene.add_ssh("-L").stdout.count("ssh-ed25519") == 2
        with Wire(scene.socket) as wire:
            assert wire.ask(b"\x16" + string(b"secret"))[0] == 6 and wire.keys() == []
            with Wire(path) as behind:
                assert behind.keys() == []
            assert wire.ask(b"\x17" + string(b"secret"))[0] == 6 and len(wire.keys()) == 3
        scene.add_ssh("-D")
        assert scene.add_ssh("-L").stdout.count("ecdsa") == 1


def test_gnome_s_agent_may_be_behind_this_one():
    with folder() as place, gnome_agent(place) as path, Scene(upstream=path) as scene:
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{place}/theirs")
        scene.add_ssh("-q", f"{place}/theirs")
        assert scene.add_ssh("-L").stdout.split()[0::3] == ["ecdsa-sha2-nistp256", "ssh-ed25519"]
        identity = scene.public()
        lines = [identity.read_text().strip(), (place / "theirs.pub").read_text().strip()]
        with Server(lines) as server:
            for public, kinds in ((f"{place}/theirs.pub", []), (identity, ["sshLogin"])):
                assert run(*server.words(public), "echo", "arrived", SSH_AUTH_SOCK=scene.socket).stdout == "arrived\n"
                assert [kind for kind, _ in scene.prompts.purposes] == kinds, (public, scene.prompts.purposes)


def test_agent_behind_this_one_that_exits_takes_no_other_key_with_it():
    """As gcr's agent 3.41 does when it is told the host's key."""
    with folder() as place:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(f"{place}/leaving")
        listener.listen()

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    client, _ = listener.accept()
                    client.recv(65536)
                    client.close()

        threading.Thread(target=serve, daemon=True).start()
        with Scene(upstream=f"{place}/leaving") as scene:
            identity = scene.public()
            with Server([identity.read_text().strip()]) as server:
                assert run(*server.words(identity), "echo", "arrived", SSH_AUTH_SOCK=scene.socket).stdout == "arrived\n"
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def test_destination_constraints_of_the_agent_behind_this_one_are_kept():
    with folder() as place, openssh_agent(place, "ed25519") as path, Scene(upstream=path) as scene:
        line = (place / "ed25519.pub").read_text().strip()
        with Server([line]) as allowed, Server([line]) as other:
            run("ssh-add", "-D", SSH_AUTH_SOCK=path)
            known = allowed.known.read_text()
            (place / "known").write_text(known)
            run(
                "ssh-add", "-q", "-H", f"{place}/known", "-h", f"[127.0.0.1]:{allowed.port}", f"{place}/ed25519", SSH_AUTH_SOCK=path
            )
            for server, arrives in ((allowed, True), (other, False)):
                came = run(*server.words(f"{place}/ed25519.pub"), "echo", "arrived", SSH_AUTH_SOCK=scene.socket, check=False)
                assert (came.stdout == "arrived\n") == arrives, (arrives, came)


def test_agent_behind_this_one_that_does_not_reply_does_not_delay_the_list_for_long():
    with folder() as place:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(f"{place}/silent")
        listener.listen()
        with Scene(upstream=f"{place}/silent") as scene, Wire(scene.socket) as wire:
            begun = time.monotonic()
            assert len(wire.keys()) == 1 and time.monotonic() - begun < 4
        with Scene(upstream=f"{place}/none") as scene, Wire(scene.socket) as wire:
            assert len(wire.keys()) == 1
        # An agent behind itself is none.
        with Scene() as scene:
            scene.agent.terminate()
            scene.agent.wait()
            scene.upstream = scene.socket
            scene.start()
            with Wire(scene.socket) as wire:
                assert len(wire.keys()) == 1


def test_at_most_2048_keys_are_listed():
    with folder() as place:
        blob = string(b"ssh-ed25519") + string(bytes(32))
        entries = b"".join(string(blob + bytes([n >> 8, n & 255])) + string(b"k") for n in range(2048))
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(f"{place}/many")
        listener.listen()

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    client, _ = listener.accept()
                    client.recv(65536)
                    client.sendall(string(b"\x0c" + struct.pack(">I", 2048) + entries))

        threading.Thread(target=serve, daemon=True).start()
        with Scene(upstream=f"{place}/many") as scene, Wire(scene.socket) as wire:
            keys = wire.keys()
            assert len(keys) == 2048 and keys[0][1] == "laptop"
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


# --- Other clients, and frames that no program sends -------------------------------------------------------------------


def test_paramiko_logs_in():
    import paramiko

    with Scene() as scene:
        identity = scene.public()
        with Server([identity.read_text().strip()]) as server:
            os.environ["SSH_AUTH_SOCK"] = scene.socket
            try:
                client = paramiko.SSHClient()
                client.set_missing_host_key_policy(paramiko.AutoAddPolicy())
                client.connect("127.0.0.1", server.port, username="root", allow_agent=True, look_for_keys=False)
                assert client.exec_command("echo arrived")[1].read() == b"arrived\n"
                client.close()
            finally:
                del os.environ["SSH_AUTH_SOCK"]
            # It sends no binds.
            assert scene.prompts.take() == ("sshLoginUnproven", "root"), scene.prompts.shown


def test_asyncssh_logs_in():
    import asyncio

    import asyncssh

    async def go(scene, server):
        async with asyncssh.connect(
            "127.0.0.1", server.port, username="root", agent_path=scene.socket, known_hosts=None, config=None
        ) as connection:
            return (await connection.run("echo arrived")).stdout

    with Scene() as scene:
        identity = scene.public()
        with Server([identity.read_text().strip()]) as server:
            assert asyncio.run(go(scene, server)) == "arrived\n"
            assert scene.prompts.take()[0] == "sshLoginUnproven"


def test_frames_arrive_in_pieces_and_many_at_once():
    with Scene() as scene, Wire(scene.socket) as wire:
        for byte in string(b"\x0b"):
            wire.socket.send(bytes([byte]))
            time.sleep(0.01)
        assert wire.receive()[0] == 12
        wire.send(*[b"\x0b"] * 300)
        assert all(wire.receive()[0] == 12 for _ in range(300))


def test_message_that_is_too_long_or_empty_ends_the_connection():
    with Scene() as scene:
        for head in (struct.pack(">I", 262_145), struct.pack(">I", 0), b"\xff\xff\xff\xff"):
            with Wire(scene.socket) as wire:
                wire.socket.sendall(head)
                assert wire.receive() == b""
        with Wire(scene.socket) as wire:
            assert refused(wire.ask(b"\xff" + bytes(262_143)))
            ((key, _),) = wire.keys()
            assert refused(wire.sign(key, bytes(200_000))) and not scene.prompts.shown


def bind(key=b"k", session=b"s" * 32, signature=b"x", forwarding=0):
    return b"\x1b" + string(b"session-bind@openssh.com") + string(key) + string(session) + string(signature) + bytes([forwarding])


def test_binds_are_refused_that_cannot_be_valid_and_none_of_them_is_forgotten():
    with Scene() as scene:
        with Wire(scene.socket) as wire:
            assert wire.ask(bind(forwarding=1))[0] == 6
            assert wire.ask(bind(session=b"t" * 32))[0] == 6
            # A bind after one for a login.
            assert refused(wire.ask(bind(session=b"u" * 32)))
        with Wire(scene.socket) as wire:
            for wrong in (bind(forwarding=2), bind(session=b""), bind() + b"x", bind()[:-1], bind(session=bytes(129))):
                assert refused(wire.ask(wrong))
            ((key, _),) = wire.keys()
            # What was refused may have been a hop.
            assert wire.sign(key, login(key=key))[0] == 14
            assert scene.prompts.take() == ("sshLoginUnproven", "ada via ?")
        with Wire(scene.socket) as wire:
            answers = [wire.ask(bind(session=bytes([n]) * 32, forwarding=1))[0] for n in range(40)]
            assert answers == [6] * 16 + [5] * 24
            ((key, _),) = wire.keys()
            assert refused(wire.sign(key, login(key=key))) and not scene.prompts.shown


def test_supported_extensions_are_named():
    with Scene() as scene, Wire(scene.socket) as wire:
        assert wire.ask(b"\x1b" + string(b"query")) == b"\x1d" + string(b"query") + string(b"session-bind@openssh.com")
        assert refused(wire.ask(b"\x1b" + string(b"none@example.org")))


def test_random_frames_neither_end_nor_delay_the_agent():
    chance = random.Random(39)
    with Scene() as scene:
        with Wire(scene.socket) as wire:
            ((key, _),) = wire.keys()
        samples = [b"\x0b", b"\x0d" + string(key) + string(login(key=key)[:-9]) + bytes(4), bind(), b"\x16" + string(b""), b"\x12" + string(key)]
        for _ in range(400):
            with Wire(scene.socket) as wire:
                body = bytearray(chance.choice(samples))
                for _ in range(chance.randrange(4)):
                    body[chance.randrange(len(body))] = chance.randrange(256)
                frame = bytearray(string(bytes(body)))
                if chance.random() < 0.3:
                    frame[chance.randrange(4)] = chance.randrange(256)
                # The agent may not have noticed yet that the last ones have ended, and refuse one more.
                with contextlib.suppress(OSError):
                    wire.socket.sendall(frame[: chance.randrange(1, len(frame) + 1)])
                    wire.socket.shutdown(socket.SHUT_WR)
        time.sleep(1)
        assert scene.agent.poll() is None
        with Wire(scene.socket, timeout=12) as wire:
            if not wire.keys():
                wire.ask(b"\x17" + string(b""))
            assert len(wire.keys()) == 1


def test_socket_is_the_users_alone_and_a_second_agent_does_not_take_its_place():
    with Scene() as scene:
        path = pathlib.Path(scene.socket)
        assert path.parent.stat().st_mode & 0o777 == 0o700 and path.stat().st_mode & 0o777 == 0o600
        second = run(os.environ["WHORL_SSH_AGENT"], "--socket", scene.socket, check=False)
        assert second.returncode == 1 and "another agent" in second.stderr, second
        with folder() as place:
            place.chmod(0o755)
            open_ = run(os.environ["WHORL_SSH_AGENT"], "--socket", f"{place}/socket", check=False)
            assert open_.returncode == 1 and "0700" in open_.stderr, open_
        # Another user cannot even connect.
        path.parent.chmod(0o755)
        path.chmod(0o666)
        script = f"import socket; s = socket.socket(socket.AF_UNIX); s.connect({scene.socket!r}); print(s.recv(9))"
        scene.folder.chmod(0o755)
        came = run("setpriv", "--reuid=65534", "--clear-groups", "/usr/bin/python3", "-c", script, check=False)
        assert came.stdout == "b''\n", came


# --- The command -------------------------------------------------------------------------------------------------------


class Command:
    """`whorl` with its own service, in a home directory of its own."""

    def __init__(self, place):
        self.place = place
        for folder_ in ("bin", "libexec/whorl", "home", "state-of-chip"):
            (place / folder_).mkdir(parents=True)
        for name, target in (("WHORL", "bin/whorl"), ("WHORLD", "bin/whorld")):
            shutil.copy2(os.environ[name], place / target)
        shutil.copy2(REPOSITORY / "SSH/deploy/whorl-ssh-keygen", place / "libexec/whorl/whorl-ssh-keygen")
        self.tpm = TPM(place / "state-of-chip")
        self("enroll", "right-index-finger")

    def __call__(self, *words, check=True, **more):
        variables = {
            "HOME": f"{self.place}/home", "WHORL_STATE_DIR": f"{self.place}/state", "TSS2_LOG": "all+none", "LC_ALL": "C",
            "WHORL_READER": "mock:then=match,touch right-index*6", "WHORL_TCTI": f"swtpm:path={self.tpm.path}",
            "XDG_RUNTIME_DIR": f"{self.place}/run", "GIT_CONFIG_GLOBAL": f"{self.place}/home/.gitconfig",
            "GIT_CONFIG_SYSTEM": "/dev/null", **more,
        }
        return run(str(self.place / "bin/whorl"), *words, check=check, **variables)


@contextlib.contextmanager
def command():
    with folder() as place:
        made = Command(place)
        try:
            yield made
        finally:
            made.tpm.close()


def test_command_writes_a_file_for_each_key_and_prints_ssh_s_settings():
    with command() as whorl:
        created = whorl("ssh", "create", "laptop")
        assert created.stdout.startswith("ecdsa-sha2-nistp256 ") and "No passcode" not in created.stdout
        assert "no passcode is set" in created.stderr, created
        whorl("ssh", "create", "at work", "--access", "biometry-current-set")
        lines = whorl("ssh", "config").stdout.splitlines()
        assert lines == [
            "Host *", "    IdentityAgent /run/user/%i/whorl/ssh-agent.sock", '    IdentityFile "~/.ssh/whorl/at+20work.pub"',
            '    IdentityFile "~/.ssh/whorl/laptop.pub"', "    IdentitiesOnly yes",
        ], lines
        place = whorl.place / "home/.ssh/whorl"
        assert (place / "laptop.pub").read_text() == created.stdout
        assert place.stat().st_mode & 0o777 == 0o700 and (place / "laptop.pub").stat().st_mode & 0o777 == 0o600
        # OpenSSH reads the lines.
        (whorl.place / "config").write_text("\n".join(lines) + "\n")
        read = run("ssh", "-G", "-F", f"{whorl.place}/config", "example.org").stdout
        assert f"identityagent /run/user/{os.getuid()}/whorl/ssh-agent.sock" in read and "identitiesonly yes" in read, read
        said = whorl("doctor", check=False).stdout
        assert whorl("ssh", "pin", "laptop").stdout == "Any host.\n"
        assert "known_hosts has no key" in whorl("ssh", "pin", "laptop", "example.org", check=False).stderr
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{whorl.place}/host")
        key = " ".join((whorl.place / "host.pub").read_text().split()[:2])
        (whorl.place / "home/.ssh/known_hosts").write_text(f"[example.org]:2222 {key}\n")
        run("ssh-keygen", "-q", "-H", "-f", f"{whorl.place}/home/.ssh/known_hosts")
        pinned = whorl("ssh", "pin", "laptop", "example.org:2222").stdout
        assert pinned.startswith("example.org:2222  SHA256:") and whorl("ssh", "pin", "laptop").stdout == pinned, pinned
        assert whorl("ssh", "pin", "laptop", "--any").stdout == "Any host.\n"
        assert "ssh agent: " in said and "at work stops working when a finger" in said, said
        # What else is in the folder stays.
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{place}/other")
        run("ssh-keygen", "-q", "-s", f"{place}/other", "-I", "me", "-n", "me", f"{place}/laptop.pub")
        whorl("ssh", "remove", "at work")
        assert "no longer exists" in whorl("doctor", check=False).stdout
        whorl("ssh", "config")
        assert not (place / "at+20work.pub").exists()
        assert all((place / name).exists() for name in ("laptop-cert.pub", "other.pub", "laptop.pub"))
        # Names that look alike have files of their own.
        whorl("ssh", "create", "a b")
        whorl("ssh", "create", "a_b")
        assert len(set(whorl("ssh", "config").stdout.splitlines())) == 6
        assert "no longer exists" not in whorl("doctor", check=False).stdout


def test_command_sets_git_up_after_a_question_and_undoes_it():
    with command() as whorl:
        line = whorl("ssh", "create", "laptop").stdout
        config = whorl.place / "home/.gitconfig"
        config.write_text("[user]\n\temail = me@example.org\n[gpg]\n\tformat = openpgp\n")
        before = config.read_text()
        # It does not ask a program.
        assert whorl("ssh", "git-setup", "--global", check=False).returncode == 64 and config.read_text() == before
        assert not (whorl.place / "home/.ssh").exists()
        said = whorl("ssh", "git-setup", "--global", "--yes").stdout
        assert "gpg.format: openpgp -> ssh" in said and "commit.gpgsign: not set -> true" in said, said

        def git(name):
            return run("git", "config", "--file", str(config), "--get", name, check=False).stdout.strip()

        assert git("user.signingkey") == f"{whorl.place}/home/.ssh/whorl/laptop.pub"
        assert git("gpg.ssh.program") == f"{whorl.place}/libexec/whorl/whorl-ssh-keygen" or os.path.samefile(
            git("gpg.ssh.program"), whorl.place / "libexec/whorl/whorl-ssh-keygen"
        )
        signers = pathlib.Path(git("gpg.ssh.allowedSignersFile")).read_text()
        assert signers == f"me@example.org {line}", signers
        assert whorl("ssh", "git-setup", "--global", "--yes").stdout == "Nothing to change.\n"
        whorl("ssh", "git-setup", "--global", "--undo", "--yes")
        assert git("gpg.format") == "openpgp" and git("user.email") == "me@example.org"
        assert not git("user.signingkey") and not git("commit.gpgsign") and "before" not in config.read_text()
        wrong = whorl("ssh", "git-setup", "none", "--global", "--yes", check=False)
        assert wrong.returncode != 0 and "whorl ssh list" in wrong.stderr, wrong


def test_command_without_the_agent_says_which_package_is_missing():
    with command() as whorl:
        said = whorl("ssh", "enable", check=False)
        assert said.returncode == 1 and "whorl-ssh" in said.stderr, said
        assert whorl("ssh", "config", check=False).returncode != 0


# --- Many requests -----------------------------------------------------------------------------------------------------


def test_many_requests_of_16_clients_are_each_answered_once_and_in_order():
    count = int(os.environ.get("WHORL_SSH_REQUESTS", "160")) // 16
    with Scene() as scene:
        with Wire(scene.socket) as wire:
            ((key, _),) = wire.keys()
        answers, failures = [], []

        def client(number):
            try:
                with Wire(scene.socket, timeout=600) as wire:
                    # The list after each request shows the order.
                    for turn in range(count):
                        wire.send(b"\x0d" + string(key) + string(login(user=f"u{number}-{turn}", key=key)) + bytes(4), b"\x0b")
                    for _ in range(count):
                        answers.append(wire.receive()[5:])
                        assert wire.receive()[0] == 12
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=client, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures, failures
        assert len(answers) == 16 * count and len(set(answers)) == len(answers) and all(answers)
        names = [name for _, name in scene.prompts.purposes]
        assert sorted(names) == sorted(f"u{number}-{turn}" for number in range(16) for turn in range(count))
        for number in range(16):
            own = [name for name in names if name.startswith(f"u{number}-")]
            assert own == sorted(own, key=lambda name: int(name.split("-")[1])), own


def memory(pid):
    """The resident memory of a process in KiB, and its own part."""
    text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    return tuple(int(line.split()[1]) for line in text.splitlines() for name in ("Rss:", "Private_Dirty:") if line.startswith(name))


def test_logins_leave_no_descriptor_and_no_memory_behind():
    count = int(os.environ.get("WHORL_SSH_LOGINS", "20"))
    with Scene() as scene:
        identity = scene.public()

        def state():
            descriptors = len(os.listdir(f"/proc/{scene.agent.pid}/fd")), len(os.listdir(f"/proc/{scene.service.process.pid}/fd"))
            return descriptors, memory(scene.agent.pid)[0]

        with Server([identity.read_text().strip()]) as server:
            for turn in range(count + 5):
                if turn == 5:
                    before = state()
                run(*server.words(identity), "true", SSH_AUTH_SOCK=scene.socket)
                scene.prompts.take()
        deadline = time.monotonic() + 10
        while state()[0] > before[0] and time.monotonic() < deadline:
            time.sleep(0.1)
        after = state()
        print(f"        agent: {after[1]} KiB resident after {count} logins, {before[1]} before")
        assert after[0] <= before[0] and (SANITIZED or after[1] <= before[1] + 256), (before, after)


# A sanitizer needs more memory by itself.
SANITIZED = b"__asan_init" in pathlib.Path(os.environ["WHORL_SSH_AGENT"]).read_bytes()


def test_signature_follows_the_touch_about_as_fast_as_with_a_key_of_the_service():
    """The reader matches as soon as the prompt is shown, so that the time from the prompt to the signature is compared."""
    turns = 30
    with Scene() as scene, Wire(scene.socket) as wire:
        (key, _) = wire.keys()[0]
        data = login(user="ada", key=key)
        call("io.whorl.Items.Add", {"id": name("key", "release"), "item": {"kind": "key", "access": "biometry-any"}})
        use = using("key", "release", use={"signature": {"digest": base64.b64encode(bytes(32)).decode()}})
        use["presenter"] = NO_PROMPTS
        asked = {
            "agent": lambda: wire.sign(key, data),
            "service": lambda: call("io.whorl.Items.Use", use, update=lambda _: None),
        }
        times = {way: ([], []) for way in asked}
        for turn in range(turns + 3):
            for way, ask in asked.items():
                begun = time.monotonic()
                reply = ask()
                ended = time.monotonic()
                assert way == "service" or reply[0] == 14, reply
                shown = scene.prompts.times.pop()
                assert not scene.prompts.times
                if turn >= 3:
                    times[way][0].append(1000 * (shown - begun))
                    times[way][1].append(1000 * (ended - shown))
        median = {way: [statistics.median(part) for part in parts] for way, parts in times.items()}
        ratio = median["agent"][1] / median["service"][1]
        print(
            f"        request to prompt: {median['agent'][0]:.1f} ms (service: {median['service'][0]:.1f});"
            f" prompt to signature: {median['agent'][1]:.1f} ms (service: {median['service'][1]:.1f}), ratio {ratio:.2f}"
        )
        assert SANITIZED or ratio <= 1.25, times


def test_login_takes_little_longer_than_with_a_key_in_a_file():
    turns = 10
    with folder() as place, openssh_agent(place, "ecdsa") as other, Scene() as scene:
        theirs = place / "theirs.pub"
        theirs.write_text(run("ssh-add", "-L", SSH_AUTH_SOCK=other).stdout)
        agents = {"whorl": (scene.socket, scene.public()), "openssh": (other, theirs)}
        with Server([identity.read_text().strip() for _, identity in agents.values()]) as server:
            times = {agent: [] for agent in agents}
            for turn in range(turns + 1):
                for agent, (path, identity) in agents.items():
                    begun = time.monotonic()
                    run(*server.words(identity), "true", SSH_AUTH_SOCK=path)
                    if turn:
                        times[agent].append(1000 * (time.monotonic() - begun))
        median = {agent: statistics.median(part) for agent, part in times.items()}
        print(f"        login: {median['whorl']:.0f} ms, {median['openssh']:.0f} ms with a key in a file; the reader matches at once")
        assert SANITIZED or median["whorl"] <= median["openssh"] + 300, times


def test_idle_agent_is_small():
    if SANITIZED:
        return print("        not measured: the agent was built with a sanitizer")
    with Scene() as scene:
        scene.public()
        resident, own = memory(scene.agent.pid)
        size = os.stat(os.environ["WHORL_SSH_AGENT"]).st_size
        print(f"        agent: {resident} KiB resident, {own} of its own; {size} bytes")
        assert resident <= 8192 and size <= 8_000_000


def main(tests):
    wanted = sys.argv[1:]
    failed = count = 0
    for name, test in list(tests.items()):
        if not name.startswith("test_") or (wanted and name not in wanted):
            continue
        count += 1
        begun = time.monotonic()
        try:
            test()
            print(f"ok      {name} ({time.monotonic() - begun:.1f} s)", flush=True)
        except Exception:
            failed += 1
            print(f"FAILED  {name} ({time.monotonic() - begun:.1f} s)\n{traceback.format_exc()}", flush=True)
    print(f"SSH/test: {count - failed} of {count} passed")
    sys.exit(1 if failed or not count else 0)


if __name__ == "__main__":
    main(globals())
