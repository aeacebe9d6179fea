#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A verifier of login assertions in another language, and the maker of login.json (Docs/LoginProtocol.md).

usage: login.py make > login.json       writes the vectors anew, with new signatures
       login.py check login.json        verifies each vector, and says which has another result
       login.py verify < vector         verifies one {"assertion", "publicKey", ...}, and prints its result

It is written from the protocol alone. PyJWT checks the signature where an assertion has the form of one.
"""

import base64
import copy
import hashlib
import hmac
import json
import re
import sys

import jwt
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_der_public_key

ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
ISSUER = "urn:ietf:params:oauth:jwk-thumbprint:sha-256:"
SKEW, LIFETIME = 30, 60
REQUIRED = {"aud": str, "device": str, "exp": int, "iat": int, "iss": str, "jti": str, "method": str, "nonce": str,
            "purpose": str, "sub": str}
OPTIONAL = {"app": dict, "domain": str, "service": str}


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64(text):
    if isinstance(text, str):
        text = text.encode()
    if not re.fullmatch(rb"[A-Za-z0-9_-]*", text) or len(text) % 4 == 1:
        raise ValueError("not Base64url")
    data = base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4))
    if b64(data).encode() != text:
        raise ValueError("not the one form")
    return data


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def thumbprint(key):
    numbers = key.public_numbers()
    jwk = {"crv": "P-256", "kty": "EC", "x": b64(numbers.x.to_bytes(32, "big")), "y": b64(numbers.y.to_bytes(32, "big"))}
    return b64(hashlib.sha256(canonical(jwk)).digest())


# --- the verifier -----------------------------------------------------------------------------------------------------


def is_origin(text):
    found = re.fullmatch(r"(https?)://([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::([1-9][0-9]{0,4}))?", text)
    if not found or len(text.encode()) > 255:
        return False
    scheme, host, port = found.groups()
    if port and (int(port) > 65535 or int(port) == (443 if scheme == "https" else 80)):
        return False
    return scheme == "https" or host in ("localhost", "127.0.0.1", "[::1]")


SPACES = " \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
HIDDEN = ("\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\uffff"
          "\U000e0000-\U000e0fff")


def is_name(text):
    return 1 <= len(text.encode()) <= 128 and not re.search(f"^[{SPACES}]|[{SPACES}]\\Z|[{HIDDEN}]", text)


def read(compact):
    """Header, claims, signing input and signature; ValueError for anything but the one form of an assertion."""
    if len(compact.encode()) > 8192:
        raise ValueError("too long")
    header, payload, signature = compact.split(".")
    claims = json.loads(unb64(payload))
    if type(claims) is not dict or canonical(claims) != unb64(payload):
        raise ValueError("not canonical")
    known = {**REQUIRED, **OPTIONAL}
    if not set(REQUIRED) <= set(claims) <= set(known) or any(type(claims[name]) is not known[name] for name in claims):
        raise ValueError("members")
    if not claims["iss"].startswith(ISSUER):
        raise ValueError("iss")
    key_id = claims["iss"][len(ISSUER):]
    if unb64(header) != canonical({"alg": "ES256", "kid": key_id, "typ": "whorl-login+jwt"}):
        raise ValueError("header")
    sizes = (unb64(key_id), 32), (unb64(claims["nonce"]), 32), (unb64(claims["jti"]), 16), (unb64(signature), 64)
    app = claims.get("app", {"none": ""})
    if not (all(len(data) == size for data, size in sizes)
            and ("domain" not in claims or len(unb64(claims["domain"])) == 32)
            and is_origin(claims["aud"]) and is_name(claims["sub"]) and is_name(claims["device"])
            and claims["method"] in ("finger", "passcode") and claims["purpose"] in ("enable", "login")
            and (claims["method"] == "passcode" or "domain" in claims)
            and 0 <= claims["iat"] <= 253402300799 and 1 <= claims["exp"] - claims["iat"] <= LIFETIME
            and re.fullmatch("[!-~]{1,255}", claims.get("service", "none"))
            and 1 <= len(app) <= 16
            and all(re.fullmatch("[a-z0-9_]{1,32}", name) and type(value) is str and len(value.encode()) <= 256
                    for name, value in app.items())):
        raise ValueError("values")
    return claims, key_id, unb64(signature)


def verify(vector):
    try:
        claims, key_id, signature = read(vector["assertion"])
    except (ValueError, RecursionError):
        return "malformed"
    key = load_der_public_key(unb64(vector["publicKey"]))
    for name, member, fault in (("purpose", "purpose", "purpose"), ("origin", "aud", "origin"), ("user", "sub", "user"),
                                ("device", "device", "device")):
        if claims[member] != vector[name]:
            return fault
    if key_id != thumbprint(key):
        return "key"
    if not hmac.compare_digest(unb64(claims["nonce"]), unb64(vector["challenge"])):
        return "challenge"
    try:
        # Its clock is not ours to set: the times are compared below.
        options = {"verify_exp": False, "verify_iat": False, "verify_aud": False}
        jwt.decode(vector["assertion"], key, algorithms=["ES256"], options=options)
    except jwt.InvalidSignatureError:
        return "signature"
    if claims["iat"] > vector["now"] + SKEW:
        return "notYetValid"
    if vector["now"] >= claims["exp"] + SKEW:
        return "expired"
    return "accepted"


# --- the vectors ------------------------------------------------------------------------------------------------------


class Maker:
    def __init__(self):
        self.keys = [ec.derive_private_key(int.from_bytes(hashlib.sha256(name).digest(), "big") % ORDER, ec.SECP256R1())
                     for name in (b"a device of a test vector", b"another device of a test vector")]
        self.key = self.keys[0]
        self.claims = {
            "aud": "https://bank.example", "device": "Zm9vYmFyYmF6cXV4MTIzNA", "domain": b64(bytes(range(100, 132))),
            "exp": 1800000060, "iat": 1800000000, "iss": ISSUER + thumbprint(self.key.public_key()),
            "jti": b64(bytes(range(16))), "method": "finger", "nonce": b64(bytes(range(32))), "purpose": "login",
            "sub": "ada",
        }
        self.vectors = []

    def header(self, **changes):
        header = {"alg": "ES256", "kid": thumbprint(self.key.public_key()), "typ": "whorl-login+jwt", **changes}
        return {name: value for name, value in header.items() if value is not None}

    def sign(self, header, payload, key=None, s=None):
        text = b64(header) + "." + b64(payload)
        r, found = utils.decode_dss_signature((key or self.key).sign(text.encode(), ec.ECDSA(hashes.SHA256())))
        if s == "high":
            found = max(found, ORDER - found)
        if s == "low":
            found = min(found, ORDER - found)
        return text + "." + b64(r.to_bytes(32, "big") + found.to_bytes(32, "big"))

    def add(self, name, result, assertion, now=1800000001):
        public = self.key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        self.vectors.append({
            "name": name, "result": result, "assertion": assertion, "publicKey": b64(public), "now": now,
            "origin": "https://bank.example", "user": "ada", "device": "Zm9vYmFyYmF6cXV4MTIzNA", "purpose": "login",
            "challenge": b64(bytes(range(32))),
        })

    def changed(self, name, result, now=1800000001, header=None, key=None, s=None, **changes):
        claims = {member: value for member, value in {**self.claims, **changes}.items() if value is not None}
        self.add(name, result, self.sign(canonical(header or self.header()), canonical(claims), key, s), now)

    def payload(self, name, text):
        self.add(name, "malformed", self.sign(canonical(self.header()), text if isinstance(text, bytes) else text.encode()))

    def signature(self, name, result, r, s=None):
        data = r if isinstance(r, bytes) else r.to_bytes(32, "big") + s.to_bytes(32, "big")
        self.add(name, result, b64(canonical(self.header())) + "." + b64(canonical(self.claims)) + "." + b64(data))

    def make(self):
        plain = canonical(self.claims).decode()
        good = self.sign(canonical(self.header()), plain.encode())
        front, _, end = good.rpartition(".")
        r, s = (int.from_bytes(unb64(end)[part], "big") for part in (slice(32), slice(32, 64)))

        self.add("a touch", "accepted", good)
        self.changed("names of other scripts", "accepted", app={"place": "\u6771\u4eac"}, jti=b64(bytes(range(1, 17))))
        self.changed("low s", "accepted", s="low")
        self.changed("high s", "accepted", s="high")
        self.changed("the passcode, with fingers enrolled", "accepted", method="passcode")
        self.changed("the passcode, without a finger", "accepted", method="passcode", domain=None)
        self.changed("a token for a service", "accepted", service="https://accounts.bank.example", jti=b64(bytes(range(2, 18))))
        self.changed("a program's own claims", "accepted", app={"amount": "12 \u20ac \"net\"\\\n\u0001\u007f", "to_1": ""})
        self.changed("one second", "accepted", exp=1800000001)
        self.changed("the device's clock is 30 s ahead", "accepted", now=1799999970)
        self.changed("the last second", "accepted", now=1800000089)

        self.changed("the device's clock is 31 s ahead", "notYetValid", now=1799999969)
        self.changed("a second too late", "expired", now=1800000090)
        self.changed("years later", "expired", now=2000000000)
        self.changed("for enabling", "purpose", purpose="enable")
        self.changed("for another server", "origin", aud="https://bank.example:8443")
        self.changed("for the server without encryption", "origin", aud="http://localhost:8080")
        self.changed("of another user", "user", sub="adA")
        self.changed("of another device", "device", device="Zm9vYmFyYmF6cXV4MTIzNQ")
        self.changed("for another challenge", "challenge", nonce=b64(bytes(range(1, 33))))
        other = thumbprint(self.keys[1].public_key())
        self.changed("with another key, named", "key", header=self.header(kid=other), key=self.keys[1], iss=ISSUER + other)
        self.changed("with another key, not named", "signature", key=self.keys[1])

        altered = copy.deepcopy(self.claims)
        altered["jti"] = b64(bytes(16))
        self.add("an altered claim", "signature", front.split(".")[0] + "." + b64(canonical(altered)) + "." + end)
        flipped = bytearray(unb64(end))
        flipped[40] ^= 1
        self.signature("an altered signature", "signature", bytes(flipped))
        for name, pair in {"r is 0": (0, s), "s is 0": (r, 0), "both are 0": (0, 0), "both are 1": (1, 1), "r is n": (ORDER, s),
                           "s is n": (r, ORDER), "s is n + s": (r, (ORDER + s) % 2**256), "r is n - r": (ORDER - r, s),
                           "both have all bits": (2**256 - 1, 2**256 - 1), "r and s changed places": (s, r)}.items():
            self.signature(name, "signature", *pair)
        self.signature("DER in place of r and s", "malformed", utils.encode_dss_signature(r, s))
        self.signature("63 bytes", "malformed", unb64(end)[:63])
        self.signature("65 bytes", "malformed", unb64(end) + b"\0")
        self.signature("no signature", "malformed", b"")

        unsigned = b64(canonical(self.header(alg="none"))) + "." + b64(plain.encode()) + "."
        self.add("alg none, no signature", "malformed", unsigned)
        self.add("alg none, a signature", "malformed", self.sign(canonical(self.header(alg="none")), plain.encode()))
        hs = b64(canonical(self.header(alg="HS256"))) + "." + b64(plain.encode())
        public = self.key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        self.add("HS256 with the public key", "malformed",
                 hs + "." + b64(hmac.new(public, hs.encode(), hashlib.sha256).digest()))
        numbers = self.keys[1].public_key().public_numbers()
        jwk = {"crv": "P-256", "kty": "EC", "x": b64(numbers.x.to_bytes(32, "big")), "y": b64(numbers.y.to_bytes(32, "big"))}
        for name, header in {"a key in the header": self.header(jwk=jwk), "a certificate in the header": self.header(x5c=["MA"]),
                             "an address of keys": self.header(jku="https://evil.example/keys"),
                             "critical members": self.header(crit=["b64"], b64=False), "no kid": self.header(kid=None),
                             "no typ": self.header(typ=None), "another typ": self.header(typ="JWT"),
                             "ES384": self.header(alg="ES384"), "alg in small letters": self.header(alg="es256"),
                             "a kid of its own": self.header(kid=other)}.items():
            self.changed(name, "malformed", header=header, key=self.keys[1])
        self.add("a header with white space", "malformed",
                 self.sign(json.dumps(self.header(), sort_keys=True).encode(), plain.encode()))

        for name, changes in {
            "61 seconds": {"exp": 1800000061}, "no lifetime": {"exp": 1800000000}, "an end before the start": {"exp": 1799999999},
            "a start before 1970": {"iat": -1, "exp": 1}, "a year of five digits": {"iat": 253402300800, "exp": 253402300860},
            "a fraction": {"exp": 1800000060.0}, "a number as text": {"exp": "1800000060"}, "a number of 400 digits": {"exp": 10**400},
            "a short challenge": {"nonce": b64(bytes(31))}, "a padded challenge": {"nonce": b64(bytes(range(32))) + "="},
            "a short jti": {"jti": b64(bytes(15))}, "a short domain state": {"domain": b64(bytes(31))},
            "a finger without a domain state": {"domain": None}, "a method of its own": {"method": "face"},
            "a purpose of its own": {"purpose": "transfer"}, "no user": {"sub": None}, "an empty user": {"sub": ""},
            "a long user": {"sub": "a" * 129}, "a user with a line's end": {"sub": "ada\n"}, "a user with a hidden mark": {"sub": "a\u200bda"},
            "a user with a space behind": {"sub": "ada\u3000"},
            "an origin with a path": {"aud": "https://bank.example/"}, "an origin in capitals": {"aud": "https://Bank.example"},
            "an origin with the default port": {"aud": "https://bank.example:443"}, "http to another machine": {"aud": "http://bank.example"},
            "two audiences": {"aud": ["https://bank.example"]}, "a member of its own": {"nbf": 1800000000},
            "an empty service": {"service": ""}, "a service with a space": {"service": "a b"}, "a long service": {"service": "a" * 256},
            "a service that is no text": {"service": ["a"]}, "an empty app": {"app": {}}, "an app that is no object": {"app": "x"}, "numbers in app": {"app": {"amount": 1}},
            "a name in capitals in app": {"app": {"Amount": "1"}}, "17 members in app": {"app": {f"a{i}": "" for i in range(17)}},
            "a long value in app": {"app": {"a": "b" * 257}}, "an issuer of its own": {"iss": "https://evil.example"},
        }.items():
            self.changed(name, "malformed", **changes)
        self.payload("a member twice", plain.replace('"sub":"ada"', '"sub":"ada","sub":"ada"'))
        self.payload("a member twice, with another value", plain.replace('"sub":"ada"', '"sub":"eve","sub":"ada"'))
        self.payload("white space", plain.replace(",", ", "))
        self.payload("another order", json.dumps(dict(reversed(self.claims.items())), separators=(",", ":")))
        self.payload("an escape without need", plain.replace("ada", "\\u0061da"))
        self.payload("an exponent", plain.replace("1800000060", "1.80000006e9"))
        self.payload("a byte order mark", b"\xef\xbb\xbf" + plain.encode())
        self.payload("UTF-16", plain.encode("utf-16-le"))
        self.payload("no UTF-8", plain.encode().replace(b"ada", b"\xff\xfe"))
        self.payload("half a surrogate pair", plain.replace("ada", "\\ud800"))
        self.payload("a NUL", plain.encode().replace(b"ada", b"a\0a"))
        self.payload("an array", "[" + plain + "]")
        self.payload("deep nesting", "[" * 2000 + "]" * 2000)
        self.payload("deep nesting in app", plain.replace('{"aud"', '{"app":' + '{"a":' * 800 + '""' + "}" * 800 + ',"aud"'))
        self.payload("nothing", "")
        self.payload("null", "null")

        for name, text in {"empty": "", "dots": "..", "two parts": front, "four parts": good + ".", "padding": good + "=",
                           "white space around": " " + good, "a line's end": good + "\n",
                           "the alphabet of plain Base64": front + "." + end.replace("-", "+").replace("_", "/") + "+",
                           "too long": good + "A" * 8192, "bits that no byte has": good[:-1] + chr(ord(good[-1]) + 1)}.items():
            self.add(name, "malformed", text)
        return self.vectors


def main(words):
    if words == ["make"]:
        vectors = Maker().make()
        print("[\n" + ",\n".join(json.dumps(vector, ensure_ascii=True) for vector in vectors) + "\n]")
    elif words[:1] == ["check"] and len(words) == 2:
        vectors = json.load(open(words[1], encoding="utf-8"))
        wrong = [(vector["name"], vector["result"], found) for vector in vectors if (found := verify(vector)) != vector["result"]]
        for name, wanted, found in wrong:
            print(f"{name}: {found}, not {wanted}", file=sys.stderr)
        print(f"{len(vectors)} vectors, {len(wrong)} wrong")
        return 1 if wrong or not vectors else 0
    elif words == ["verify"]:
        print(verify(json.load(sys.stdin)))
    else:
        print(__doc__, file=sys.stderr)
        return 64
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
