#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Fills a login server's SQLite database with devices, whose keys login.lua knows.

usage: fill.py DATABASE COUNT NAMES      DATABASE was made by the server; NAMES gets the keys' names, a line each
"""

import base64
import hashlib
import sqlite3
import sys
import time

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def device(index):
    secret = int.from_bytes(hashlib.sha256(f"device {index}".encode()).digest(), "big")
    key = ec.derive_private_key(secret, ec.SECP256R1()).public_key()
    der = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    jwk = f'{{"crv":"P-256","kty":"EC","x":"{b64(der[27:59])}","y":"{b64(der[59:])}"}}'
    name = b64(hashlib.sha256(jwk.encode()).digest())
    return f"user-{index}", f"device-{index}", name, der, "a device", int(time.time()), None, bytes(32)


database, count, names = sys.argv[1], int(sys.argv[2]), sys.argv[3]
rows = [device(index) for index in range(count)]
with open(names, "w", encoding="ascii") as file:
    file.writelines(row[2] + "\n" for row in rows)
with sqlite3.connect(database) as connection:
    # A device signs in where its user has an account: all have that of the one whom the server was given.
    connection.execute("CREATE TEMPORARY TABLE account AS SELECT data FROM documents WHERE name LIKE 'account/%' LIMIT 1")
    connection.executemany("INSERT INTO documents (name, data) SELECT 'account/' || ?, data FROM account", [row[:1] for row in rows])
    connection.executemany(
        "INSERT INTO devices (user, device, key_id, key, name, enabled_at, last_used_at, domain_state)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
