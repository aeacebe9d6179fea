#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: moc_reader.py     as root, after `modprobe vhci-hcd`

A USB reader that matches on its chip, as the kernel's vhci-hcd shows it: libfprint's driver elanmoc drives it as it drives a real one.

Prints are kept by the id that the host has chosen for them. Fingers are names: connect to the socket /run/moc, send a name, and read
what became of the touch (`enroll`, `verify` or `nobody asked`). `slots` returns what is kept; `replug` disconnects the reader, and
connects it again with the same prints. Whoever hangs up takes the finger away.
"""
import os
import select
import socket
import struct
import threading
import time

SOCKET = "/run/moc"
HUB = "/sys/devices/platform/vhci_hcd.0"
# The descriptors of a device 04f3:0c88 with one vendor-specific interface and eight bulk endpoints.
DEVICE = bytes.fromhex("1201000200000008F304880C048001020001")
CONFIGURATION = bytes.fromhex(
    "09025300010100A0320904000008FF0000000921100100012215000705810240000107050102400001070582024000010705020240"
    "000107058302400001070503024000010705840240000107050402400001"
)
STRINGS = {0: b"\x09\x04", 1: "ELAN".encode("utf-16le"), 2: "ELAN:ARM-M4".encode("utf-16le")}
# The endpoints for replies and touches.
ANSWERS, TOUCHES = 3, 4
# The kernel's messages (Documentation/usb/usbip_protocol.rst).
SUBMIT, UNLINK, SUBMITTED, UNLINKED = 1, 2, 3, 4
EPIPE, ECONNRESET = 32, 104
HIGH_SPEED = 2


def log(*words):
    print("moc:", *words, flush=True)


def identity(message):
    """Returns the ID of a print, preceded by two bytes and the length."""
    return bytes(message[: 3 + message[2]])


class Reader:
    """The reader's storage and replies, independent of the transport."""

    def __init__(self, send):
        self.send = send  # endpoint, data
        self.slots = {}  # number: id, finger
        self.wanted = None  # "verify", "enroll"
        self.finger = None

    def number_of(self, finger):
        return next((number for number, (_, own) in sorted(self.slots.items()) if own == finger), None)

    def command(self, message):
        self.wanted = None
        if message[:3] == b"\x40\xff\x00":  # whether it is calibrated
            self.send(ANSWERS, b"\x40\x03")
        elif message[:3] == b"\x40\xff\x14":
            self.send(ANSWERS, b"\x40\x00")
        elif message[:2] == b"\x40\x19":  # the version of its firmware
            self.send(ANSWERS, b"\x80\x04")
        elif message[:2] == b"\x00\x0c":  # the size of its sensor
            self.send(ANSWERS, b"\x57\x00\x6b\x00")
        elif message[:3] == b"\x40\xff\x04":  # how many prints it keeps
            self.send(ANSWERS, bytes([0x40, len(self.slots)]))
        elif message[:3] == b"\x40\xff\x22":  # whether it keeps this one
            is_kept = any(own == identity(message[3:]) for own, _ in self.slots.values())
            self.send(ANSWERS, bytes([0x40, is_kept]))
        elif message[:3] == b"\x40\xff\x01":
            self.wanted = "enroll"
        elif message[:3] == b"\x40\xff\x73":
            self.wanted = "verify"
        elif message[:3] == b"\x40\xff\x11":
            self.keep(identity(message[5:]))
        elif message[:3] == b"\x40\xff\x13":
            self.delete(identity(message[3:]))
        elif message[:2] == b"\x43\x21":  # the id in a slot
            kept = self.slots.get(message[2])
            self.send(ANSWERS, (b"\x43\x00" + kept[0]).ljust(71, b"\0") if kept else b"\x43\xfe" + b"\xff" * 69)
        elif message[:3] != b"\x40\xff\x02":  # that no more touches are wanted
            log("unknown", message[:8].hex())

    def keep(self, own):
        free = next(number for number in range(10) if number not in self.slots)
        self.slots[free] = (own, self.finger)
        log("kept", own[3:], "in", free, "finger", self.finger)
        self.send(ANSWERS, b"\x40\x00")

    def delete(self, own):
        gone = [number for number, (kept, _) in self.slots.items() if kept == own]
        for number in gone:
            del self.slots[number]
        log("deleted", own[3:], gone)
        self.send(ANSWERS, b"\x40\x00")

    def touch(self, finger):
        """Uses the requested touch, and returns what it was requested for."""
        wanted, self.wanted = self.wanted, None
        if wanted == "enroll":
            self.finger = finger
            self.send(TOUCHES, b"\x40\x00")
        else:
            number = self.number_of(finger)
            self.send(TOUCHES, bytes([0x40, 0xFD if number is None else number]))
        return wanted


class Port:
    """The connection to the kernel: requests that wait for data, and data that waits for requests."""

    def __init__(self):
        self.lock = threading.RLock()
        self.reader = Reader(self.send)

    def attach(self):
        self.socket, kernels = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self.ready = {1: [], 2: [], ANSWERS: [], TOUCHES: []}
        self.waiting = {}  # number of the request: endpoint, length
        self.is_leaving = False
        self.server = threading.Thread(target=self.serve, daemon=True)
        self.server.start()
        with open(f"{HUB}/attach", "w") as file:
            file.write(f"0 {kernels.fileno()} 65538 {HIGH_SPEED}")
        kernels.close()
        log("attached")

    def replug(self):
        self.is_leaving = True
        with open(f"{HUB}/detach", "w") as file:
            file.write("0")
        self.server.join()
        time.sleep(1)
        self.attach()

    def answer(self, number, status, data=b"", length=None):
        self.socket.sendall(
            struct.pack(">IIIII", SUBMITTED, number, 0, 0, 0)
            + struct.pack(">iiiii", status, len(data) if length is None else length, 0, 0, 0)
            + b"\0" * 8
            + data
        )

    def send(self, endpoint, data):
        self.ready[endpoint].append(data)
        self.flush()

    def flush(self):
        for number, (endpoint, length) in sorted(self.waiting.items()):
            if self.ready[endpoint]:
                data = self.ready[endpoint].pop(0)[:length]
                del self.waiting[number]
                self.answer(number, 0, data)

    def is_waiting_for_touch(self):
        return self.reader.wanted and any(endpoint == TOUCHES for endpoint, _ in self.waiting.values())

    def touch(self, finger, connection):
        end = time.monotonic() + 25
        while time.monotonic() < end and not select.select([connection], [], [], 0)[0]:
            with self.lock:
                if self.is_waiting_for_touch():
                    return self.reader.touch(finger)
            time.sleep(0.05)
        return "nobody asked"

    def control(self, number, setup):
        kind, request, value, _, most = struct.unpack("<BBHHH", setup)
        data = b""
        if request == 6:  # GET_DESCRIPTOR
            of, index = value >> 8, value & 255
            if of == 1:
                data = DEVICE
            elif of == 2:
                data = CONFIGURATION
            elif of == 3 and index in STRINGS:
                data = bytes([2 + len(STRINGS[index]), 3]) + STRINGS[index]
            else:
                return self.answer(number, -EPIPE)
        elif request == 0 and kind & 0x80:  # GET_STATUS
            data = b"\0\0"
        elif request == 8:  # GET_CONFIGURATION
            data = b"\x01"
        return self.answer(number, 0, data[:most])

    def receive(self, count):
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    def serve(self):
        try:
            self.serve_requests()
        except (EOFError, OSError):
            if not self.is_leaving:
                os._exit(0)

    def serve_requests(self):
        while True:
            head = self.receive(48)
            command, number, _, is_inward, endpoint = struct.unpack(">IIIII", head[:20])
            if command == SUBMIT:
                length = struct.unpack(">i", head[24:28])[0]
                data = b"" if is_inward else self.receive(length)
                with self.lock:
                    if endpoint == 0:
                        self.control(number, head[40:48])
                    elif is_inward:
                        self.waiting[number] = (endpoint, length)
                        self.flush()
                    else:
                        self.answer(number, 0, b"", len(data))
                        self.ready[ANSWERS].clear()
                        self.ready[TOUCHES].clear()
                        self.reader.command(data)
            elif command == UNLINK:
                unlinked = struct.unpack(">I", head[20:24])[0]
                with self.lock:
                    was_waiting = self.waiting.pop(unlinked, None)
                    self.socket.sendall(
                        struct.pack(">IIIII", UNLINKED, number, 0, 0, 0)
                        + struct.pack(">i", -ECONNRESET if was_waiting else 0)
                        + b"\0" * 24
                    )


def listen(port):
    if os.path.exists(SOCKET):
        os.unlink(SOCKET)
    fingers = socket.socket(socket.AF_UNIX)
    fingers.bind(SOCKET)
    fingers.listen()
    while True:
        connection, _ = fingers.accept()
        threading.Thread(target=take, args=(port, connection, connection.recv(100).decode().strip())).start()


def take(port, connection, finger):
    with connection:
        if finger == "slots":
            kept = {number: (own[3:], name) for number, (own, name) in port.reader.slots.items()}
            connection.sendall(repr(kept).encode())
        elif finger == "replug":
            port.replug()
            connection.sendall(b"connected")
        else:
            try:
                connection.sendall(port.touch(finger, connection).encode())
            except OSError:
                pass


def main():
    port = Port()
    port.attach()
    listen(port)


main()
