# SPDX-License-Identifier: Apache-2.0
"""A client of the service that shares no code with it: Varlink over a Unix socket, in Python."""

import array
import fcntl
import json
import os
import socket

PATH = "/run/whorl/io.whorl"


class Refused(Exception):
    """The service returned an error."""

    def __init__(self, name, parameters):
        super().__init__(name, parameters)
        self.name = name
        self.parameters = parameters


class HungUp(Exception):
    """The service closed the connection."""


def secret(data):
    """Returns the descriptor of a sealed memory file with these bytes."""
    file = os.memfd_create("secret", os.MFD_ALLOW_SEALING)
    os.write(file, data)
    fcntl.fcntl(file, 1033, 7)  # F_ADD_SEALS: seal, shrink, grow
    return file


class Client:
    """A connection, whose calls are answered in order."""

    def __init__(self, timeout=120, proves=True):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(timeout)
        self.socket.connect(PATH)
        self.rest = b""
        self.files = []
        if proves:
            self.prove()

    def prove(self):
        """Proves which process this is, if the kernel does not report it (before Linux 6.5)."""
        question = self.call("io.whorl.Connection.Challenge").get("question")
        if question:
            self.call("io.whorl.Connection.Prove", {"answer": question})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, method, parameters=None, secrets=(), more=False):
        message = {"method": method, "parameters": parameters or {}}
        if more:
            message["more"] = True
        files = [secret(data) for data in secrets]
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))] if files else []
        text = json.dumps(message).encode() + b"\0"
        self.socket.sendall(text[self.socket.sendmsg([text], rights):])
        for file in files:
            os.close(file)

    def receive(self):
        while b"\0" not in self.rest:
            data, control, _, _ = self.socket.recvmsg(65536, socket.CMSG_SPACE(64))
            for _, _, numbers in control:
                self.files += array.array("i", numbers[: len(numbers) // 4 * 4])
            if not data:
                raise HungUp()
            self.rest += data
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def reply(self, update=None):
        while True:
            message = self.receive()
            if "error" in message:
                raise Refused(message["error"], message.get("parameters", {}))
            if not message.get("continues"):
                return message.get("parameters", {})
            if update:
                update(message["parameters"])

    def call(self, method, parameters=None, secrets=(), update=None):
        try:
            self.send(method, parameters, secrets, more=update is not None)
        except BrokenPipeError:
            pass  # A service that does not serve this user answers and hangs up before it reads.
        return self.reply(update)


def call(method, parameters=None, secrets=(), update=None):
    """Calls a method on a separate connection."""
    with Client() as client:
        return client.call(method, parameters, secrets, update)


PRESENTER = {"isInteractive": True, "takesPasscode": True}
CONSENT = {"application": "test", "timeoutMilliseconds": 60_000}


def request(reason="a test", **more):
    return {
        "policy": "biometrics",
        "purpose": {"kind": "yes"},
        "reason": reason,
        "application": "test",
        "interactionAllowed": True,
        "timeoutMilliseconds": 60_000,
        "reuseMilliseconds": 0,
        **more,
    }


def name(kind, text, profile="owner"):
    return {"profile": profile, "kind": kind, "name": text}


def using(kind, text, profile="owner", use=None, reason="a test"):
    """The parameters of io.whorl.Items.Use."""
    return {
        "call": {
            "id": name(kind, text, profile),
            "use": use or {"secret": {}},
            "asking": {"request": request(reason)},
        },
        "presenter": PRESENTER,
    }
