# SPDX-License-Identifier: Apache-2.0
"""The agent with the real service, a mock reader and a simulated TPM; a program that shows prompts; and an SSH server."""

import contextlib
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY / "Library/Tests"), str(REPOSITORY / "Tests/System")]

import whorl_client  # noqa: E402
from service import Service  # noqa: E402
from whorl_client import CONSENT, PRESENTER, Client, call  # noqa: E402

AGENT = os.environ["WHORL_SSH_AGENT"]
NO_PROMPTS = {"isInteractive": False, "takesPasscode": False}


def run(*words, check=True, stdin=None, timeout=60, **variables):
    """Runs a program, and returns what it did."""
    environment = {**os.environ, **variables}
    return subprocess.run(words, input=stdin, capture_output=True, text=True, timeout=timeout, env=environment, check=check)


class Prompts:
    """A program that shows the user's prompts, and remembers them; the mock reader touches by itself."""

    def __init__(self):
        self.shown = []
        self.times = []
        self.client = Client()
        self.client.send("io.whorl.Agent.Register", {"presenter": PRESENTER}, more=True)
        assert self.client.receive()["parameters"]["isRegistered"]
        self.answers = Client()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def watch(self):
        with contextlib.suppress(OSError, whorl_client.HungUp):
            while True:
                update = self.client.receive().get("parameters", {})
                if "prompt" in update:
                    self.times.append(time.monotonic())
                    self.shown.append(update["prompt"]["prompt"])
                if "end" in update:
                    ended = {"prompt": update["end"], "presenter": PRESENTER}
                    self.answers.call("io.whorl.Prompt.Ended", ended)

    @property
    def purposes(self):
        """The purposes of the prompts, each with its name."""
        return [(prompt["purpose"]["kind"], prompt["purpose"].get("name")) for prompt in self.shown]

    def take(self):
        """Returns the purpose of the only prompt since the last call."""
        (purpose,) = self.purposes
        self.shown.clear()
        return purpose

    def close(self):
        self.client.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.client.close()
        self.answers.close()


class Scene:
    """A user with a finger and a key, and the agent."""

    def __init__(self, then="match", touches=(), keys=("laptop",), prompts=True, upstream=None, reuse=0):
        self.stack = contextlib.ExitStack()
        self.service = self.stack.enter_context(contextlib.closing(Service(f"mock:then={then}," + ",".join(["touch right-index*6", *touches]))))
        whorl_client.PATH = self.service.path
        finger = {"finger": {"finger": "right-index-finger"}, "request": CONSENT}
        call("io.whorl.Fingers.Enroll", {"call": finger, "presenter": PRESENTER}, update=lambda _: None)
        for name in keys:
            self.add(name, reuse=reuse)
        self.prompts = self.stack.enter_context(contextlib.closing(Prompts())) if prompts else None
        self.folder = pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory(prefix="whorl-")))
        self.socket = str(self.folder / "agent/socket")
        self.upstream = upstream
        self.start()

    def add(self, name, unknown=False, reuse=0):
        """Adds a key, which also signs unknown data if it should; `reuse` is the number of seconds for which a touch counts."""
        item = {"profile": "owner", "kind": "sshKey", "name": name}
        call("io.whorl.Items.Prepare")
        call("io.whorl.Items.AddSSHKey", {"id": item, "access": "biometry-any", "allowsUnknownData": unknown, "reuseSeconds": reuse})

    def start(self):
        words = [AGENT, "--socket", self.socket] + (["--upstream", self.upstream] if self.upstream else [])
        self.errors = open(self.folder / "errors", "w+b")
        self.agent = subprocess.Popen(
            words, env={**os.environ, "WHORL_SOCKET": self.service.path, "HOME": str(self.folder)}, stdin=subprocess.DEVNULL, stderr=self.errors
        )
        deadline = time.monotonic() + 10
        while True:
            with contextlib.suppress(OSError), Wire(self.socket):
                return
            assert time.monotonic() < deadline and self.agent.poll() is None, "the agent has exited or does not listen"
            time.sleep(0.01)

    @property
    def said(self):
        return (self.folder / "errors").read_text()

    def add_ssh(self, *words, **more):
        return run("ssh-add", *words, SSH_AUTH_SOCK=self.socket, **more)

    def public(self, name="laptop"):
        """Writes a .pub file, and returns its path."""
        listed = self.add_ssh("-L").stdout.splitlines()
        (line,) = [line for line in listed if line.split()[2] == name]
        file = self.folder / f"{name}.pub"
        file.write_text(line + "\n")
        file.chmod(0o600)
        return file

    def close(self):
        self.agent.terminate()
        self.agent.wait()
        self.errors.close()
        self.stack.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def string(data):
    return struct.pack(">I", len(data)) + data


class Wire:
    """A client of the agent's socket that sends what a test says."""

    def __init__(self, path, timeout=60):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout)
        while True:
            try:
                return self.socket.connect(path)
            except BlockingIOError:
                # The agent has not accepted the last ones yet.
                time.sleep(0.01)

    def send(self, *bodies):
        self.socket.sendall(b"".join(string(body) for body in bodies))

    def receive(self):
        """Returns the next reply; empty at the end of the connection."""
        head = self.read(4)
        return self.read(struct.unpack(">I", head)[0]) if head else b""

    def read(self, count):
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                return b""
            data += part
        return data

    def ask(self, body):
        self.send(body)
        return self.receive()

    def keys(self):
        """Returns the listed keys with their comments."""
        reply = self.ask(b"\x0b")
        assert reply[0] == 12, reply
        count, place, found = struct.unpack(">I", reply[1:5])[0], 5, []
        for _ in range(count):
            parts = []
            for _ in range(2):
                (size,) = struct.unpack(">I", reply[place : place + 4])
                parts.append(reply[place + 4 : place + 4 + size])
                place += 4 + size
            found.append((parts[0], parts[1].decode()))
        assert place == len(reply)
        return found

    def sign(self, key, data):
        return self.ask(b"\x0d" + string(key) + string(data) + bytes(4))

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """OpenSSH's server on this machine, with a host key of its own, for the user that runs the tests."""

    def __init__(self, authorized, kind="ed25519", options=()):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="whorl-sshd-"))
        pathlib.Path("/run/sshd").mkdir(exist_ok=True)
        self.host_key = self.folder / "host"
        run("ssh-keygen", "-q", "-t", kind, "-N", "", "-f", str(self.host_key))
        (self.folder / "authorized").write_text("".join(line + "\n" for line in authorized))
        self.port = free_port()
        (self.folder / "config").write_text(
            f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {self.host_key}\nPidFile none\nUsePAM no\nStrictModes no\n"
            f"AuthorizedKeysFile {self.folder}/authorized\nPermitRootLogin yes\nPasswordAuthentication no\n"
            f"MaxStartups 1000\nMaxSessions 1000\nLoginGraceTime 120\n" + "".join(line + "\n" for line in options)
        )
        self.log = open(self.folder / "log", "wb")
        self.process = subprocess.Popen(
            ["/usr/sbin/sshd", "-D", "-e", "-f", str(self.folder / "config")], stderr=self.log, stdin=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 20
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                break
            assert time.monotonic() < deadline and self.process.poll() is None, (self.folder / "log").read_text()
            time.sleep(0.02)

    @property
    def fingerprint(self):
        return run("ssh-keygen", "-lf", f"{self.host_key}.pub").stdout.split()[1]

    @property
    def known(self):
        """Returns the file of known hosts in which the server is."""
        kind, blob = pathlib.Path(f"{self.host_key}.pub").read_text().split()[:2]
        file = self.folder / "known"
        file.write_text(f"[127.0.0.1]:{self.port} {kind} {blob}\n")
        return file

    def words(self, identity, *options):
        """Returns the words of a command that logs in here."""
        return [
            "ssh", "-F", "none", "-p", str(self.port), "-o", f"UserKnownHostsFile={self.known}", "-o", "GlobalKnownHostsFile=none",
            "-o", "IdentitiesOnly=yes", "-o", f"IdentityFile={identity}", "-o", "BatchMode=yes", *options, "127.0.0.1",
        ]

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
