# SPDX-License-Identifier: Apache-2.0
"""The real server and a device, for the checks beside: a device written from Docs/LoginProtocol.md alone."""

import base64
import contextlib
import hashlib
import http.client
import json
import os
import secrets
import signal
import ssl
import subprocess
import sys
import time
import urllib.parse

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils
from openapi import OpenAPI

INTERFACE = OpenAPI()
ORIGIN = "https://bank.example"
# Whom a token is for that changes devices.
CREDENTIALS = ORIGIN + "/v1/devices"


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def basic(user, password):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


class Failure(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Failure(what)


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def code(self):
        return self.json.get("code")


class Server:
    """The program, over a database; stopped at the end of the `with`."""

    def __init__(self, program, database, *options, origin=ORIGIN, log=None, prepare=None):
        self.command = [program, "serve", "--database", database, "--origin", origin, "--port", "0", "--json", *options]
        self.log_path = log or "/dev/null"
        self.prepare = prepare
        self.process = None

    def __enter__(self):
        self.start()
        return self

    def start(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=log, stdin=subprocess.DEVNULL, preexec_fn=self.prepare)
        line = self.process.stdout.readline()
        if not line:
            raise Failure(f"the server did not start, status {self.process.wait()}; its log: {self.log_path}")
        self.listening = json.loads(line)
        self.port = self.listening["port"]
        self.is_secure = self.listening["url"].startswith("https:")

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        return self.process.wait(timeout=40)

    def __exit__(self, *_):
        if self.process.poll() is None:
            try:
                expect(self.stop() == 0, "the server stops with status 0")
            finally:
                self.process.kill()
        self.process.stdout.close()

    def connection(self):
        if self.is_secure:
            return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60, context=ssl._create_unverified_context())
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def ask(self, method, path, body=None, authorization=None, headers=None):
        headers = dict(headers or {})
        if authorization:
            headers["Authorization"] = authorization
        if body is not None:
            headers["Content-Type"] = "application/json"
            body = json.dumps(body)
        with contextlib.closing(self.connection()) as connection:
            connection.request(method, path, body=body, headers=headers)
            answer = Answer(connection.getresponse())
        complaint = INTERFACE.complaint(method, path, answer)
        expect(complaint is None, f"openapi.yaml: {complaint}")
        return answer


class Device:
    """A device with a key in software."""

    def __init__(self, user, name):
        self.user, self.name = user, name
        self.key = ec.generate_private_key(ec.SECP256R1())
        numbers = self.key.public_key().public_numbers()
        jwk = {"crv": "P-256", "kty": "EC", "x": b64(numbers.x.to_bytes(32, "big")), "y": b64(numbers.y.to_bytes(32, "big"))}
        self.key_id = b64(hashlib.sha256(canonical(jwk)).digest())
        self.domain = b64(secrets.token_bytes(32))

    @property
    def public_key(self):
        der = serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        return b64(self.key.public_key().public_bytes(*der))

    def challenge(self, server, purpose):
        answer = server.ask("POST", "/v1/challenges", {"user": self.user, "device": self.name, "purpose": purpose})
        expect(answer.status == 201, f"a challenge for {purpose}: {answer.body}")
        return answer.json["challenge"]

    def assertion(self, challenge, purpose, method="finger", origin=ORIGIN, service=None):
        now = int(time.time())
        header = {"alg": "ES256", "kid": self.key_id, "typ": "whorl-login+jwt"}
        claims = {
            "aud": origin, "device": self.name, "domain": self.domain, "exp": now + 60, "iat": now,
            "iss": "urn:ietf:params:oauth:jwk-thumbprint:sha-256:" + self.key_id, "jti": b64(secrets.token_bytes(16)),
            "method": method, "nonce": challenge, "purpose": purpose, "sub": self.user,
        }
        if service:
            claims["service"] = service
        signed = b64(canonical(header)) + "." + b64(canonical(claims))
        r, s = utils.decode_dss_signature(self.key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
        return signed + "." + b64(r.to_bytes(32, "big") + s.to_bytes(32, "big"))

    def enable(self, server, authorization, origin=ORIGIN):
        assertion = self.assertion(self.challenge(server, "enable"), "enable", origin=origin)
        body = {"assertion": assertion, "publicKey": self.public_key, "name": f"{self.user}'s {self.name}"}
        return server.ask("POST", "/v1/devices", body, authorization=authorization)

    def sign_in(self, server, password=None, method="finger", origin=ORIGIN, service=None):
        body = {"assertion": self.assertion(self.challenge(server, "login"), "login", method, origin, service)}
        if password is not None:
            body["password"] = password
        return server.ask("POST", "/v1/sessions", body)

    def path(self):
        return "/v1/devices/" + urllib.parse.quote(self.name, safe="")


def approve(program, database, device, *options):
    command = [program, "device", "approve", "--database", database, *options, device.user, device.name, device.key_id]
    result = subprocess.run(command, text=True, capture_output=True)
    expect(result.returncode == 0, f"device approve: {result.stderr}")


def set_up(program, database, *options):
    """Makes a database, with the options of the store alone."""
    result = subprocess.run([program, "init", "--database", database, *options], text=True, capture_output=True)
    expect(result.returncode == 0, f"init: {result.stderr}")


def add_user(program, database, user, password, *options):
    result = subprocess.run([program, "user", "add", "--database", database, *options, user], input=password + "\n", text=True, capture_output=True)
    expect(result.returncode == 0, f"user add {user}: {result.stderr}")


def peer(name, path=None):
    """The path of a tool; where it is missing, a failure under REQUIRE_PEERS, else a line and None."""
    import shutil
    found = shutil.which(name, path=path)
    if found is None and os.environ.get("REQUIRE_PEERS"):
        raise Failure(f"{name} is missing: scripts/setup --test-server installs it")
    if found is None:
        print(f"skipped: {name} is missing", file=sys.stderr)
    return found
