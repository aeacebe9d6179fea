# SPDX-License-Identifier: Apache-2.0
"""A client of the system bus that can send descriptors, unlike busctl (D-Bus specification, "Message Protocol")."""

import array
import os
import socket
import struct


class Bus:
    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect("/run/dbus/system_bus_socket")
        self.serial = 0
        for line in b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode(), b"NEGOTIATE_UNIX_FD":
            self.socket.sendall(line + b"\r\n")
            self.socket.recv(1000)
        self.socket.sendall(b"BEGIN\r\n")
        self.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello")

    def call(self, to, path, interface, member, descriptor=None, text=None):
        """Calls a method, with a descriptor, a string or no argument, and returns the bytes of the reply."""
        self.send(to, path, interface, member, descriptor, text)
        while True:
            answer = self.socket.recv(65536)
            # The reply, an error or a signal such as NameAcquired; the serial number that it answers is among its fields.
            if b"\x05\x01u\0" + struct.pack("<I", self.serial) in answer:
                return answer

    def send(self, to, path, interface, member, descriptor=None, text=None):
        """Calls a method without waiting for the reply."""
        rights = [] if descriptor is None else [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))]
        self.socket.sendmsg([self.message(to, path, interface, member, descriptor is not None, text=text)], rights)

    def message(self, to, path, interface, member, has_descriptor=False, wants_reply=True, text=None, variants=0, is_signal=False):
        """Returns the bytes of a call or a signal; `variants` is the size of its only argument, an array of variants of a byte each."""
        self.serial += 1
        texts = [(1, b"o", path), (2, b"s", interface), (3, b"s", member), (6, b"s", to)]
        fields = [bytes([code, 1]) + kind + b"\0" + struct.pack("<I", len(text)) + text.encode() + b"\0" for code, kind, text in texts]
        body = b""
        if has_descriptor:
            body = struct.pack("<I", 0)
            fields += [b"\x08\x01g\0\x01h\0", b"\x09\x01u\0" + struct.pack("<I", 1)]
        elif text is not None:
            body = struct.pack("<I", len(text)) + text.encode() + b"\0"
            fields += [b"\x08\x01g\0\x01s\0"]
        elif variants:
            body = struct.pack("<I", variants) + b"\x01y\0\0" * (variants // 4)
            fields += [b"\x08\x01g\0\x02av\0"]
        joined = b""
        for field in fields:
            joined += b"\0" * (-len(joined) % 8) + field
        head = struct.pack("<BBBBIII", ord("l"), 4 if is_signal else 1, 0 if wants_reply else 1, 1, len(body), self.serial, len(joined)) + joined
        return head + b"\0" * (-len(head) % 8) + body
