# SPDX-License-Identifier: Apache-2.0
"""A login server on loopback for tests: the protocol for one user, or an answer that is none.

usage: server.py MODE [FILE]      It prints its port, and ends when its standard input does. FILE gets the certificate of
                                  the authority that has signed a server with TLS.
"""

import base64
import json
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODE = sys.argv[1]
TLS = MODE in ("unsigned", "signed", "otherName")
PASSWORD = "correct horse"
devices = {}  # (user, device): (public key, domain state)
challenges = {}
requests = []


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def encode(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def is_valid(der_key, message, raw):
    """What OpenSSL says of a signature of r and s behind each other."""
    numbers = b""
    for part in (raw[:32], raw[32:]):
        part = part.lstrip(b"\0")
        part = b"\0" + part if not part or part[0] & 128 else part
        numbers += bytes([2, len(part)]) + part
    with tempfile.TemporaryDirectory() as folder:
        files = {"key": der_key, "signature": bytes([48, len(numbers)]) + numbers, "message": message}
        for name, data in files.items():
            with open(f"{folder}/{name}", "wb") as file:
                file.write(data)
        command = ["openssl", "dgst", "-sha256", "-keyform", "DER", "-verify", f"{folder}/key"]
        command += ["-signature", f"{folder}/signature", f"{folder}/message"]
        return subprocess.run(command, capture_output=True).returncode == 0


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, status, value=None, kind="application/json", headers=()):
        body = b"" if value is None else value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        if body:
            self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, text in headers:
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)

    def problem(self, status, code, headers=()):
        value = {"type": "about:blank", "title": code, "status": status, "code": code}
        self.answer(status, value, "application/problem+json", headers)

    def origin(self):
        return f"{'https' if TLS else 'http'}://127.0.0.1:{self.server.server_port}"

    def authorized(self):
        """The user of the request's credentials."""
        scheme, _, text = self.headers.get("Authorization", "").partition(" ")
        if scheme == "Basic":
            user, _, password = base64.b64decode(text).decode().partition(":")
            return user if password == PASSWORD else None
        return text.removeprefix("token-for-") if scheme == "Bearer" else None

    def claims(self, assertion, purpose, key):
        head, payload, signature = assertion.split(".")
        if not is_valid(key, f"{head}.{payload}".encode(), decode(signature)):
            return None
        claims = json.loads(decode(payload))
        expected = (claims["sub"], claims["device"], purpose)
        given = challenges.pop(claims["nonce"], None)
        valid = claims["iat"] - 30 <= time.time() < claims["exp"] + 30
        return claims if given == expected and claims["aud"] == self.origin() and valid else None

    def handle_request(self):
        size = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(size)
        requests.append({"path": self.path, "headers": dict(self.headers.items()), "size": size})
        if self.path == "/log":
            return self.answer(200, {"requests": requests[:-1]})
        if MODE not in ("login", "signed"):
            return self.misbehave()
        value = json.loads(body) if body else {}
        route = f"{self.command} {self.path}"
        if route == "POST /v1/challenges":
            challenge = encode(os.urandom(32))
            challenges[challenge] = (value["user"], value["device"], value["purpose"])
            answer = {"challenge": challenge, "expiresAt": int(time.time()) + 120, "origin": self.origin()}
            return self.answer(201, answer)
        if route == "POST /v1/devices":
            return self.enable(value)
        if route == "POST /v1/sessions":
            return self.sign_in(value)
        if self.command == "DELETE" and self.path.startswith("/v1/devices/"):
            user = self.authorized()
            if not user:
                return self.problem(401, "unauthorized")
            known = devices.pop((user, self.path.rsplit("/", 1)[1]), None)
            return self.answer(204) if known else self.problem(404, "not_found")
        if route == "DELETE /all":
            devices.clear()
            return self.answer(204)
        return self.problem(404, "not_found")

    def enable(self, value):
        user = self.authorized()
        if not user:
            return self.problem(401, "unauthorized", [("WWW-Authenticate", 'Basic realm="login"')])
        key = decode(value["publicKey"])
        claims = self.claims(value["assertion"], "enable", key)
        if not claims or claims["sub"] != user:
            return self.problem(401, "assertion_refused")
        devices[(user, claims["device"])] = (key, claims.get("domain"))
        thumbprint = claims["iss"].rsplit(":", 1)[1]
        answer = {"user": user, "device": claims["device"], "keyID": thumbprint, "name": value["name"]}
        return self.answer(201, answer | {"enabledAt": int(time.time())}, headers=[("Set-Cookie", "a=b")])

    def sign_in(self, value):
        payload = json.loads(decode(value["assertion"].split(".")[1]))
        device = devices.get((payload["sub"], payload["device"]))
        if not device:
            return self.problem(401, "unknown_key")
        claims = self.claims(value["assertion"], "login", device[0])
        if not claims:
            return self.problem(401, "assertion_refused")
        if claims.get("domain") != device[1]:
            return self.problem(403, "reenable_required")
        token = f"token-for-{claims['sub']}"
        return self.answer(201, {"token": token, "tokenType": "Bearer", "expiresAt": 2000000000})

    def write_raw(self, begin, more=b"", pause=0):
        """Bytes as they are, then others for as long as somebody takes them."""
        self.close_connection = True
        try:
            self.wfile.write(begin)
            while more:
                self.wfile.write(more)
                time.sleep(pause)
        except OSError:
            pass

    def misbehave(self):
        if MODE == "bare":
            return self.write_raw(b"{}")
        if MODE == "fields":
            return self.write_raw(b"HTTP/1.1 201 Created\r\n", b"X-Field: value\r\n")
        if MODE == "field":
            return self.write_raw(b"HTTP/1.1 201 Created\r\nX-Field: ", b"x" * 1024)
        if MODE == "interim":
            return self.write_raw(b"", b"HTTP/1.1 100 Continue\r\n\r\n")
        if MODE == "drip":
            return self.write_raw(b"HTTP/1.1 201 Created\r\nX-Field: ", b"x", pause=0.2)
        if MODE == "redirect":
            return self.answer(307, headers=[("Location", self.origin() + "/elsewhere")])
        if MODE == "large":
            return self.answer(201, b"x" * 20000)
        if MODE == "busy":
            return self.problem(429, "too_many_requests", [("Retry-After", "7")])
        if MODE == "exact":
            return self.answer(201, b"x" * 16384, headers=[("Set-Cookie", "a=b"), ("Cache-Control", "max-age=600")])
        self.send_response(201)
        self.send_header("Content-Type", "application/json")
        if MODE == "endless":
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b"400\r\n" + b"x" * 1024 + b"\r\n")
            except OSError:
                return None
        self.send_header("Content-Length", "10")
        self.end_headers()
        if MODE == "silent":
            threading.Event().wait()
        self.close_connection = True  # cut: nothing of the body comes
        return None

    do_GET = do_POST = do_DELETE = handle_request

    def do_CONNECT(self):
        """It is no proxy, but notes what one would see."""
        requests.append({"path": self.path, "headers": dict(self.headers.items()), "size": 0})
        self.problem(501, "not_implemented")


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, address):
        pass


def secured(socket):
    """The socket with a certificate that nobody has signed, or an authority of its own."""
    with tempfile.TemporaryDirectory() as folder:

        def certify(name, file, *more):
            command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
            command += ["-subj", f"/CN={name}", "-days", "2", "-keyout", f"{folder}/{file}.key", "-out", f"{folder}/{file}"]
            subprocess.run(command + list(more), check=True, capture_output=True)

        names = "DNS:bank.example" if MODE == "otherName" else "DNS:localhost,IP:127.0.0.1"
        more = ["-addext", f"subjectAltName={names}"]
        if MODE != "unsigned":
            certify("Authority of a test", "authority")
            shutil.copy(f"{folder}/authority", sys.argv[2])
            more += ["-CA", f"{folder}/authority", "-CAkey", f"{folder}/authority.key"]
            more += ["-addext", "basicConstraints=critical,CA:FALSE"]
        certify("localhost", "certificate", *more)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{folder}/certificate", f"{folder}/certificate.key")
        return context.wrap_socket(socket, server_side=True)


server = Server(("127.0.0.1", 0), Handler)
if TLS:
    server.socket = secured(server.socket)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_port, flush=True)
sys.stdin.read()
