# SPDX-License-Identifier: Apache-2.0
"""The real service with a mock reader and a simulated TPM, on a socket in a temporary folder; and one that says what a
test wants."""

import array
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading
import time

WHORLD = os.environ["WHORLD"]
REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


def tell_senders(end):
    """Makes the kernel record the sender of each message, including those sent before the service receives any."""
    end.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)


class Folder:
    """A folder that only root can write to, with a listening socket."""

    def __init__(self, backlog=256):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="whorl-"))
        self.folder.chmod(0o755)
        self.path = str(self.folder / "io.whorl")
        self.listener = socket.socket(socket.AF_UNIX)
        tell_senders(self.listener)
        self.listener.bind(self.path)
        self.listener.listen(backlog)

    def accepting(self, serve):
        def accept():
            while True:
                try:
                    client, _ = self.listener.accept()
                except OSError:
                    return
                serve(client)

        threading.Thread(target=accept, daemon=True).start()

    def close(self):
        # A thread in accept(2) is woken by shutting the socket down, not by closing it.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class TPM:
    """A simulated TPM."""

    def __init__(self, folder):
        self.path = str(folder / "s")
        (folder / "state").mkdir()
        self.process = subprocess.Popen(
            [
                "swtpm", "socket", "--tpm2", "--tpmstate", f"dir={folder}/state",
                "--server", f"type=unixio,path={self.path}", "--ctrl", f"type=unixio,path={self.path}.ctrl",
                "--flags", "not-need-init,startup-clear",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 60
        while not os.path.exists(self.path):
            assert time.monotonic() < deadline and self.process.poll() is None, "swtpm did not start"
            time.sleep(0.005)

    def close(self):
        self.process.kill()
        self.process.wait()


class Service(Folder):
    """The service as a child process, which is passed each connection to the socket."""

    def variables(self):
        """Returns additional environment variables for the child."""
        return {}

    def __init__(self, reader="mock:then=match", tpm=True):
        super().__init__()
        self.state = self.folder / "state-of-chip"
        self.state.mkdir()
        self.tpm = TPM(self.state) if tpm else None
        self.start(reader)
        self.accepting(self.adopt)

    def start(self, reader):
        """Starts the child; each child has the same state, and a separate reader."""
        own, other = socket.socketpair()
        tell_senders(own)
        tell_senders(other)
        environment = {
            "PATH": os.environ["PATH"],
            "WHORL_STATE_DIR": str(self.folder / "state"),
            "WHORL_PROFILE": "ada",
            "WHORL_READER": reader,
            "WHORL_TCTI": f"swtpm:path={self.tpm.path}" if self.tpm else "none",
            "TSS2_LOG": "all+none",
            **self.variables(),
        }
        os.set_inheritable(other.fileno(), True)
        number = other.fileno()
        self.process = subprocess.Popen(
            [WHORLD, "--private", str(number)], env=environment, pass_fds=[number], stdin=subprocess.DEVNULL
        )
        other.close()
        self.control = own
        self.lock = threading.Lock()

    def adopt(self, client):
        message = json.dumps({"method": "io.whorl.Connection.Adopt", "parameters": {"value": 0}}).encode() + b"\0"
        with self.lock:
            try:
                rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [client.fileno()]))]
                self.control.sendmsg([message], rights)
                answer = b""
                while not answer.endswith(b"\0"):
                    part = self.control.recv(4096)
                    if not part:
                        break
                    answer += part
            except OSError:
                pass
        client.close()

    def restart(self, reader):
        """Stops the child, and starts another one with another reader."""
        self.end()
        self.start(reader)

    def end(self):
        self.control.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        self.end()
        if self.tpm:
            self.tpm.close()
        super().close()


class Liar(Folder):
    """A service that sends each client the bytes specified by a test, after its first call."""

    def __init__(self, answer, beside=()):
        super().__init__()
        self.answer, self.beside, self.calls = answer, beside, []
        self.clients = []
        self.accepting(lambda client: threading.Thread(target=self.serve, args=(client,), daemon=True).start())

    def serve(self, client):
        self.clients.append(client)
        try:
            call = b""
            while not call.endswith(b"\0"):
                part = client.recv(65536)
                if not part:
                    return
                call += part
            self.calls.append(json.loads(call.rstrip(b"\0").split(b"\0")[-1]))
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", self.beside))] if self.beside else []
            if self.answer is not None:
                client.sendmsg([self.answer], rights)
                client.close()
        except OSError:
            pass


class Refusing(Folder):
    """A service that refuses each client and disconnects without reading anything."""

    def __init__(self, refusal):
        super().__init__()
        self.refusal = refusal
        self.accepting(self.refuse)

    def refuse(self, client):
        try:
            client.sendall(self.refusal)
        except OSError:
            pass
        client.close()
