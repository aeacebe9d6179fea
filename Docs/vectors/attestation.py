#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A verifier of attestations in another language, and the maker of attestation.json (Docs/LoginProtocol.md, 9).

usage: attestation.py make > attestation.json    writes the vectors anew, with new signatures
       attestation.py check attestation.json     verifies each vector, and says which has another result
       attestation.py open < credential          takes the secret out of {"credential", "secret", "key", "name"}

It is written from the protocol and from the TPM 2.0 Library alone. The TPM of the vectors is made of software: its keys
come from the words below.
"""

import base64
import hashlib
import hmac
import json
import struct
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_der_private_key, load_der_public_key

ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
ECC, KEYEDHASH, SHA256, NULL, AES, CFB, ECDSA, HMAC, P256 = 0x23, 8, 0x0B, 0x10, 6, 0x43, 0x18, 5, 3
FIXED_TPM, FIXED_PARENT, ORIGIN, USER_WITH_AUTH, ADMIN_WITH_POLICY = 1 << 1, 1 << 4, 1 << 5, 1 << 6, 1 << 7
NO_DA, RESTRICTED, DECRYPT, SIGN = 1 << 10, 1 << 16, 1 << 17, 1 << 18
BOUND = FIXED_TPM | FIXED_PARENT | ORIGIN
COUNTER = 1 << 4 | 1 << 3 | 1 << 18 | 1 << 25 | 1 << 29
POLICY_NV, POLICY_SECRET, POLICY_OR = 0x149, 0x151, 0x171
ENDORSEMENT_POLICY = bytes.fromhex("837197674484b3f81a90cc8d46a5d724fd52d76e06520b64f2a1da1b331469aa")
PARTS = ["nonce", "endorsementKey", "certificate", "attestationKey", "key", "authority", "counter", "passcode",
         "statement", "signature"]


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def digest(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def sized(data):
    return struct.pack(">H", len(data)) + data


def name_of(area):
    return b"\x00\x0b" + digest(area)


# --- the verifier -----------------------------------------------------------------------------------------------------


class Refused(Exception):
    pass


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        if self.at + count > len(self.data):
            raise ValueError("too short")
        self.at += count
        return self.data[self.at - count:self.at]

    def number(self, count):
        return int.from_bytes(self.take(count), "big")

    def sized(self):
        return self.take(self.number(2))

    def end(self):
        if self.at != len(self.data):
            raise ValueError("too long")


def read_area(data):
    """Reads a TPMT_PUBLIC: attributes, policy, and what the kind has."""
    reader = Reader(data)
    kind, hash_of_name = reader.number(2), reader.number(2)
    area = {"attributes": reader.number(4), "policy": reader.sized(), "kind": kind, "name": name_of(data)}
    if hash_of_name != SHA256 or len(area["policy"]) not in (0, 32):
        raise ValueError("algorithm")
    if kind == ECC:
        area["symmetric"] = reader.number(2)
        if area["symmetric"] == AES:
            if (reader.number(2), reader.number(2)) != (128, CFB):
                raise ValueError("symmetric")
        elif area["symmetric"] != NULL:
            raise ValueError("symmetric")
        area["scheme"] = reader.number(2)
        if area["scheme"] == ECDSA:
            if reader.number(2) != SHA256:
                raise ValueError("hash")
        elif area["scheme"] != NULL:
            raise ValueError("scheme")
        if (reader.number(2), reader.number(2)) != (P256, NULL):
            raise ValueError("curve")
        area["point"] = tuple(int.from_bytes(reader.sized(), "big") for _ in range(2))
    elif kind == KEYEDHASH:
        if (reader.number(2), reader.number(2)) != (HMAC, SHA256) or len(reader.sized()) != 32:
            raise ValueError("scheme")
    else:
        raise ValueError("kind")
    reader.end()
    return area


def has(area, kind, wanted, unwanted):
    return area["kind"] == kind and area["attributes"] & wanted == wanted and not area["attributes"] & unwanted


def area_or_refuse(data, fault):
    try:
        return read_area(data)
    except ValueError as error:
        raise Refused(fault) from error


def is_signed(point, signature, message):
    if len(signature) != 64:
        return False
    numbers = utils.encode_dss_signature(int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big"))
    try:
        key = ec.EllipticCurvePublicNumbers(*point, ec.SECP256R1()).public_key()
        key.verify(numbers, message, ec.ECDSA(hashes.SHA256()))
    except (InvalidSignature, ValueError):
        return False
    return True


def extended(before, command, arguments):
    return digest(before, struct.pack(">I", command), arguments)


def policy_secret(name):
    return digest(extended(bytes(32), POLICY_SECRET, name))


def policy_of(parts):
    """Returns the digest, and what the policy opens for."""
    authority = area_or_refuse(parts["authority"], "policy")
    unwanted = ADMIN_WITH_POLICY | RESTRICTED | DECRYPT
    if not has(authority, KEYEDHASH, BOUND | USER_WITH_AUTH | SIGN, unwanted) or authority["policy"]:
        raise Refused("policy")
    shown = finger = policy_secret(authority["name"])
    opens = ["any_finger"]
    if parts["counter"]:
        reader = Reader(parts["counter"])
        try:
            reader.take(4)
            found = (reader.number(2), reader.number(4), reader.sized(), reader.number(2))
            reader.end()
        except ValueError as error:
            raise Refused("policy") from error
        if found != (SHA256, COUNTER, shown, 8):
            raise Refused("policy")
        arguments = digest(struct.pack(">QHH", parts["counterValue"], 0, 0))
        finger, opens = extended(finger, POLICY_NV, arguments + name_of(parts["counter"])), ["current_fingers"]
    elif parts["counterValue"]:
        raise Refused("policy")
    if not parts["passcode"]:
        return finger, opens
    passcode = area_or_refuse(parts["passcode"], "policy")
    if not has(passcode, KEYEDHASH, BOUND | USER_WITH_AUTH | SIGN, unwanted | NO_DA) or passcode["policy"] \
            or passcode["name"] == authority["name"]:
        raise Refused("policy")
    return extended(bytes(32), POLICY_OR, finger + policy_secret(passcode["name"])), opens + ["passcode"]


def verify(vector):
    """Returns the result, and what the key opens for."""
    try:
        reader = Reader(unb64(vector["attestation"]))
        if reader.take(1) != b"\x01" or len(reader.data) > 8192:
            raise ValueError("version")
        parts = {"counterValue": reader.number(8)}
        parts.update({part: reader.sized() for part in PARTS})
        reader.end()
    except ValueError:
        return "malformed", []
    try:
        signer = area_or_refuse(parts["attestationKey"], "statement")
        if not has(signer, ECC, BOUND | RESTRICTED | SIGN, DECRYPT) or signer["scheme"] != ECDSA \
                or signer["symmetric"] != NULL or not is_signed(signer["point"], parts["signature"], parts["statement"]):
            raise Refused("statement")
        statement = Reader(parts["statement"])
        try:
            heading = (statement.number(4), statement.number(2))
            statement.sized()
            extra = statement.sized()
            statement.take(17 + 8)
            name = statement.sized()
            of_creation = statement.sized()
            statement.end()
        except ValueError as error:
            raise Refused("statement") from error
        if heading != (0xFF544347, 0x801A) or len(of_creation) != 32:
            raise Refused("statement")
        if not hmac.compare_digest(extra, proof(parts["nonce"], unb64(vector["secret"]))):
            raise Refused("credential")
        if name != name_of(parts["key"]):
            raise Refused("statement")
        key = area_or_refuse(parts["key"], "statement")
        public = load_der_public_key(unb64(vector["publicKey"])).public_numbers()
        if not has(key, ECC, BOUND | ADMIN_WITH_POLICY | SIGN, USER_WITH_AUTH | RESTRICTED) or key["symmetric"] != NULL \
                or len(key["policy"]) != 32 or key["point"] != (public.x, public.y):
            raise Refused("key")
        policy, opens = policy_of(parts)
        if policy != key["policy"]:
            raise Refused("policy")
        return "accepted", opens
    except Refused as refused:
        return str(refused), []


def proof(nonce, secret):
    return digest(b"whorl-login attestation 1\n", nonce, secret)


# --- credentials ------------------------------------------------------------------------------------------------------


def kdfa(key, label, context, bits):
    text = struct.pack(">I", 1) + label + b"\0" + context + struct.pack(">I", bits)
    return hmac.new(key, text, "sha256").digest()[:bits // 8]


def coordinates(point):
    return [number.to_bytes(32, "big") for number in point]


def seed_of(shared, ephemeral, endorsement):
    return digest(struct.pack(">I", 1), shared, b"IDENTITY\0", coordinates(ephemeral)[0], coordinates(endorsement)[0])


def seal(seed, secret, name):
    cipher = Cipher(algorithms.AES(kdfa(seed, b"STORAGE", name, 128)), modes.CFB(bytes(16))).encryptor()
    sealed = cipher.update(sized(secret)) + cipher.finalize()
    return sized(hmac.new(kdfa(seed, b"INTEGRITY", b"", 256), sealed + name, "sha256").digest()) + sealed


def make_credential(secret, name, endorsement, ephemeral):
    """TPM2_MakeCredential for P-256, with a given ephemeral key."""
    own = ephemeral.public_key().public_numbers()
    other = endorsement.public_key().public_numbers()
    shared = ephemeral.exchange(ec.ECDH(), endorsement.public_key())
    seed = seed_of(shared, (own.x, own.y), (other.x, other.y))
    return seal(seed, secret, name), b"".join(sized(number) for number in coordinates((own.x, own.y)))


def mask(seed, count):
    """MGF1 with SHA-256."""
    return b"".join(digest(seed, struct.pack(">I", block)) for block in range(count // 32 + 1))[:count]


def combined(one, other):
    return bytes(left ^ right for left, right in zip(one, other))


def make_rsa_credential(secret, name, modulus, seed, random):
    """TPM2_MakeCredential for RSA of 2,048 bits, with a given seed and given random bytes of the padding."""
    block = digest(b"IDENTITY\0") + bytes(256 - 66 - len(seed)) + b"\1" + seed
    masked = combined(block, mask(random, len(block)))
    number = int.from_bytes(b"\0" + combined(random, mask(masked, 32)) + masked, "big")
    return seal(seed, secret, name), pow(number, 65537, modulus).to_bytes(256, "big")


def seed_for(encrypted, endorsement):
    """The seed that an endorsement key reads; its private half is given."""
    if isinstance(endorsement, rsa.RSAPrivateKey):
        return endorsement.decrypt(encrypted, padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), b"IDENTITY\0"))
    reader = Reader(encrypted)
    point = (int.from_bytes(reader.sized(), "big"), int.from_bytes(reader.sized(), "big"))
    reader.end()
    other = endorsement.public_key().public_numbers()
    shared = endorsement.exchange(ec.ECDH(), ec.EllipticCurvePublicNumbers(*point, ec.SECP256R1()).public_key())
    return seed_of(shared, point, (other.x, other.y))


def open_credential(credential, encrypted, endorsement, name):
    """TPM2_ActivateCredential; the endorsement key's private half is given."""
    seed = seed_for(encrypted, endorsement)
    reader = Reader(credential)
    code = reader.sized()
    sealed = reader.take(len(credential) - reader.at)
    if not hmac.compare_digest(code, hmac.new(kdfa(seed, b"INTEGRITY", b"", 256), sealed + name, "sha256").digest()):
        raise ValueError("integrity")
    cipher = Cipher(algorithms.AES(kdfa(seed, b"STORAGE", name, 128)), modes.CFB(bytes(16))).decryptor()
    reader = Reader(cipher.update(sealed) + cipher.finalize())
    secret = reader.sized()
    reader.end()
    return secret


# --- the maker --------------------------------------------------------------------------------------------------------


def private(words):
    return ec.derive_private_key(int.from_bytes(hashlib.sha512(words.encode()).digest(), "big") % (ORDER - 1) + 1,
                                 ec.SECP256R1())


def area(kind, attributes, policy, rest):
    return struct.pack(">HHI", kind, SHA256, attributes) + sized(policy) + rest


def key_area(key, attributes, policy=b"", symmetric=None, scheme=None):
    numbers = key.public_key().public_numbers()
    rest = struct.pack(">HHH", AES, 128, CFB) if symmetric else struct.pack(">H", NULL)
    rest += struct.pack(">HH", ECDSA, SHA256) if scheme else struct.pack(">H", NULL)
    rest += struct.pack(">HH", P256, NULL)
    rest += b"".join(sized(number) for number in coordinates((numbers.x, numbers.y)))
    return area(ECC, attributes, policy, rest)


def authority_area(words, attributes, policy=b""):
    return area(KEYEDHASH, attributes, policy, struct.pack(">HH", HMAC, SHA256) + sized(digest(words.encode())))


KEY_ATTRIBUTES = BOUND | ADMIN_WITH_POLICY | NO_DA | SIGN | DECRYPT
AUTHORITY_ATTRIBUTES = BOUND | USER_WITH_AUTH | SIGN
SIGNER_ATTRIBUTES = BOUND | USER_WITH_AUTH | NO_DA | RESTRICTED | SIGN


def counter_area(policy, attributes=COUNTER, index=0x01805701):
    return struct.pack(">IHI", index, SHA256, attributes) + sized(policy) + struct.pack(">H", 8)


def good(with_counter=True, with_passcode=True):
    """All that a sound attestation is made of; `attestation` puts it together."""
    authority = authority_area("the authority", AUTHORITY_ATTRIBUTES | NO_DA)
    parts = {
        "login": private("the login key"), "signer": private("the attestation key"), "value": 7,
        "nonce": struct.pack(">I", 1800000600) + digest(b"nonce")[:12], "secret": digest(b"secret"),
        "endorsementKey": key_area(private("the endorsement key"), BOUND | ADMIN_WITH_POLICY | RESTRICTED | DECRYPT,
                                   ENDORSEMENT_POLICY, symmetric=True),
        "certificate": b"a certificate", "authority": authority,
        "counter": counter_area(policy_secret(name_of(authority))) if with_counter else b"",
        "passcode": authority_area("the passcode", AUTHORITY_ATTRIBUTES) if with_passcode else b"",
        "signerAttributes": SIGNER_ATTRIBUTES, "keyAttributes": KEY_ATTRIBUTES, "magic": 0xFF544347, "type": 0x801A,
    }
    if not with_counter:
        parts["value"] = 0
    return parts


def finish(parts, change=None):
    """Computes what follows from the parts, unless it is there already; `change` comes before the signature."""
    shown = policy_secret(name_of(parts["authority"]))
    finger = shown
    if parts["counter"]:
        arguments = digest(struct.pack(">QHH", parts.get("policyValue", parts["value"]), 0, 0))
        finger = extended(shown, POLICY_NV, arguments + name_of(parts.get("policyCounter", parts["counter"])))
    whole = finger
    if parts["passcode"]:
        whole = extended(bytes(32), POLICY_OR, finger + policy_secret(name_of(parts["passcode"])))
    parts.setdefault("policy", whole)
    parts.setdefault("key", key_area(parts["login"], parts["keyAttributes"], parts["policy"]))
    parts.setdefault("attestationKey", key_area(parts["signer"], parts["signerAttributes"], scheme=True))
    parts.setdefault("extra", proof(parts["nonce"], parts["secret"]))
    parts.setdefault("named", name_of(parts["key"]))
    parts["statement"] = struct.pack(">IH", parts["magic"], parts["type"]) + sized(b"\x00\x0b" + digest(b"signer")) \
        + sized(parts["extra"]) + bytes(17) + bytes(8) + sized(parts["named"]) + sized(digest(b"creation"))
    if change:
        change(parts)
    r, s = utils.decode_dss_signature(parts["signer"].sign(parts["statement"], ec.ECDSA(hashes.SHA256())))
    parts.setdefault("signature", b"".join(coordinates((r, s))))
    return parts


def encoded(parts):
    return b"\x01" + struct.pack(">Q", parts["value"]) + b"".join(sized(parts[part]) for part in PARTS)


def vectors():
    def one(title, change=None, late=None, shape=lambda data: data, secret=None, key=None, **kind):
        parts = good(**kind)
        if change:
            change(parts)
        finish(parts, late)
        vector = {
            "name": title, "attestation": b64(shape(encoded(parts))), "secret": b64(secret or parts["secret"]),
            "publicKey": b64((key or parts["login"]).public_key().public_bytes(
                Encoding.DER, PublicFormat.SubjectPublicKeyInfo)),
        }
        vector["result"], vector["opensFor"] = verify(vector)
        return vector

    def setting(**values):
        return lambda parts: parts.update(values)

    def attributes(which, add=0, remove=0):
        return lambda parts: parts.update({which: (parts[which] | add) & ~remove})

    def authority(add=0, remove=0, policy=b""):
        return setting(authority=authority_area("the authority", (AUTHORITY_ATTRIBUTES | NO_DA | add) & ~remove, policy))

    other = private("another key")
    shown = policy_secret(name_of(good()["authority"]))
    return [
        one("the fingers of that day, or the passcode"),
        one("the fingers of that day", with_passcode=False),
        one("any finger", with_counter=False, with_passcode=False),
        one("any finger, or the passcode", with_counter=False),
        one("a byte after the end", shape=lambda data: data + b"\0"),
        one("a byte too few", shape=lambda data: data[:-1]),
        one("another version", shape=lambda data: b"\x02" + data[1:]),
        one("nothing", shape=lambda data: b""),
        one("another key is enabled", key=other),
        one("another signature", setting(signature=bytes(31) + b"\1" + bytes(31) + b"\1")),
        one("signed by another key", late=lambda parts: parts.update(signer=other)),
        one("the attestation key signs anything", attributes("signerAttributes", remove=RESTRICTED)),
        one("the attestation key was imported", attributes("signerAttributes", remove=ORIGIN)),
        one("the attestation key can leave its TPM", attributes("signerAttributes", remove=FIXED_TPM)),
        one("the statement is no TPM's", setting(magic=0xFF544348)),
        one("the statement is a quote", setting(type=0x8018)),
        one("the statement is about another object", setting(named=name_of(b"another"))),
        one("another secret", secret=digest(b"another secret")),
        one("another nonce", setting(extra=proof(bytes(16), digest(b"secret")))),
        one("no proof of the secret", setting(extra=b"")),
        one("the key can leave its TPM", attributes("keyAttributes", remove=FIXED_TPM)),
        one("the key can get another parent", attributes("keyAttributes", remove=FIXED_PARENT)),
        one("the key was made by software", attributes("keyAttributes", remove=ORIGIN)),
        one("the key's own value opens it", attributes("keyAttributes", add=USER_WITH_AUTH)),
        one("the key's own value changes it", attributes("keyAttributes", remove=ADMIN_WITH_POLICY)),
        one("the key signs only its TPM's statements", attributes("keyAttributes", add=RESTRICTED)),
        one("the key has no policy", setting(policy=b"")),
        one("another policy", setting(policy=digest(b"another policy"))),
        one("the key of no object", setting(key=b"\x00\x23")),
        one("another authority", late=lambda parts: parts.update(
            authority=authority_area("another authority", AUTHORITY_ATTRIBUTES | NO_DA))),
        one("the authority was imported", authority(remove=ORIGIN)),
        one("the authority can leave its TPM", authority(remove=FIXED_TPM)),
        one("the authority has a policy beside its value", authority(policy=digest(b"policy"))),
        one("the authority is used without its value", authority(remove=USER_WITH_AUTH)),
        one("another value of the counter", setting(policyValue=8)),
        one("another counter", setting(policyCounter=counter_area(shown, index=0x01805702))),
        one("the counter can be written", setting(counter=counter_area(shown, COUNTER | 1 << 2))),
        one("the counter is counted by others", setting(counter=counter_area(digest(b"policy")))),
        one("a value without a counter", setting(value=7), with_counter=False),
        one("the passcode may be guessed", setting(passcode=authority_area("the passcode", AUTHORITY_ATTRIBUTES | NO_DA))),
        one("the passcode is the authority", lambda parts: parts.update(
            authority=authority_area("the authority", AUTHORITY_ATTRIBUTES),
            passcode=authority_area("the authority", AUTHORITY_ATTRIBUTES),
            counter=counter_area(policy_secret(name_of(authority_area("the authority", AUTHORITY_ATTRIBUTES)))))),
        one("another passcode", late=lambda parts: parts.update(
            passcode=authority_area("another passcode", AUTHORITY_ATTRIBUTES))),
    ]


def is_prime(number):
    """Miller and Rabin, for the first 24 primes: enough for numbers that no one has chosen to deceive it."""
    twos = (number - 1 & 1 - number).bit_length() - 1
    for base in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89):
        power = pow(base, number - 1 >> twos, number)
        if power != 1 and all(pow(power, 1 << time, number) != number - 1 for time in range(twos)):
            return False
    return True


def private_rsa(words):
    def prime(name):
        number = int.from_bytes(hashlib.shake_256(f"{words} {name}".encode()).digest(128), "big") | 3 << 1022 | 1
        while number % 65537 == 1 or not is_prime(number):
            number += 2
        return number

    p, q = prime("p"), prime("q")
    d = pow(65537, -1, (p - 1) * (q - 1))
    return rsa.RSAPrivateNumbers(p, q, d, d % (p - 1), d % (q - 1), pow(q, -1, p),
                                 rsa.RSAPublicNumbers(65537, p * q)).private_key()


def credentials():
    found = []
    for words in ("one", "another"):
        endorsement, ephemeral = private(f"endorsement {words}"), private(f"ephemeral {words}")
        secret, name = digest(words.encode()), name_of(words.encode())
        credential, point = make_credential(secret, name, endorsement, ephemeral)
        assert open_credential(credential, point, endorsement, name) == secret
        own = endorsement.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        scalar = ephemeral.private_numbers().private_value.to_bytes(32, "big")
        found.append({"name": b64(name), "secret": b64(secret), "endorsementPoint": b64(own),
                      "ephemeralPrivate": b64(scalar), "credential": b64(credential), "encryptedSeed": b64(point)})
    for words in ("one of RSA", "another of RSA"):
        endorsement = private_rsa(f"endorsement {words}")
        modulus = endorsement.public_key().public_numbers().n
        secret, name = digest(words.encode()), name_of(words.encode())
        seed, random = digest(b"seed ", words.encode()), digest(b"random ", words.encode())
        credential, encrypted = make_rsa_credential(secret, name, modulus, seed, random)
        assert open_credential(credential, encrypted, endorsement, name) == secret
        found.append({"name": b64(name), "secret": b64(secret), "endorsementModulus": b64(modulus.to_bytes(256, "big")),
                      "seed": b64(seed), "padding": b64(random), "credential": b64(credential),
                      "encryptedSeed": b64(encrypted)})
    return found


def main(command, *arguments):
    if command == "make":
        print(json.dumps({"attestations": vectors(), "credentials": credentials()}, indent=1))
    elif command == "check":
        with open(arguments[0], encoding="utf-8") as file:
            content = json.load(file)
        wrong = [vector["name"] for vector in content["attestations"]
                 if verify(vector) != (vector["result"], vector["opensFor"])]
        if content["credentials"] != credentials():
            wrong.append("the credentials")
        for name in wrong:
            print(f"wrong: {name}")
        print(f"{len(content['attestations']) + 1} vectors, {len(wrong)} wrong")
        return len(wrong) > 0
    elif command == "open":
        given = json.load(sys.stdin)
        key = load_der_private_key(unb64(given["key"]), None)
        print(b64(open_credential(unb64(given["credential"]), unb64(given["secret"]), key, unb64(given["name"]))))
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:] or [""]))
