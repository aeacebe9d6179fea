# SPDX-License-Identifier: Apache-2.0
"""A USB port with one reader, out of the recording of a real one, and a program that sees it (umockdev).

    testbed.py FOLDER replay|silent PROGRAM

FOLDER holds `device`, as umockdev-record wrote it, and the recorded traffic. In a replay the reader answers as it was
recorded; a silent one takes every request and answers none, as one that waits for a finger.

Standard input: `plug` (a recording is replayed once, so its reader answers the first time only) and `unplug`; for a
silent reader `fail` (requests fail, as on a reader that was just pulled out), `await` (answered with `waiting` when it
has a request), `hold` and `release` (another program has claimed it, or no more). Other lines go to the program.
Standard output is the program's, with `plugged` and the like in between.
"""

import os
import struct
import subprocess
import sys
import threading
import time

import gi

gi.require_version("UMockdev", "1.0")
from gi.repository import UMockdev

EAGAIN, EBUSY, EINVAL, ENODEV, ENOENT, ESHUTDOWN = 11, 16, 22, 19, 2, 108
# <linux/usbdevice_fs.h>
SUBMIT, DISCARD, REAP, REAP_AT_ONCE, CLAIM, CAPABILITIES = 0x0A, 0x0B, 0x0C, 0x0D, 0x0F, 0x1A


class SilentDevice(UMockdev.IoctlBase):
    """Holds every request until it is discarded or the device is gone."""

    def __init__(self):
        super().__init__()
        self.waiting = []
        self.ended = []
        self.gone = False
        self.held = False

    def do_handle_ioctl(self, client):
        request = client.get_request()
        number, size, argument = request & 0xFF, (request >> 16) & 0x3FFF, client.get_arg()
        if number in (REAP, REAP_AT_ONCE):
            return self.reap(client, argument.resolve(0, 8))
        if number == DISCARD:
            return self.discard(client, struct.unpack("Q", bytes(argument.retrieve()))[0])
        if self.gone:
            client.complete(-1, ENODEV)
        elif number == CLAIM and self.held:
            client.complete(-1, EBUSY)
        elif number == SUBMIT:
            self.waiting.append(argument.resolve(0, size))
            client.complete(0, 0)
        elif number == CAPABILITIES:
            # All but streams, and "may be reaped after it is gone".
            argument.resolve(0, size).update(0, list(struct.pack("I", 0x1D)))
            client.complete(0, 0)
        else:
            client.complete(0, 0)
        return True

    def reap(self, client, result):
        if self.gone:
            self.ended += [(block, ESHUTDOWN) for block in self.waiting]
            self.waiting = []
        if self.ended:
            block, status = self.ended.pop(0)
            block.update(4, list(struct.pack("i", -status)))  # usbdevfs_urb.status
            result.set_ptr(0, block)
            client.complete(0, 0)
        else:
            client.complete(-1, ENODEV if self.gone else EAGAIN)
        return True

    def discard(self, client, address):
        for block in self.waiting:
            if block.client_addr == address:
                self.waiting.remove(block)
                self.ended.append((block, ENOENT))
                client.complete(0, 0)
                return True
        client.complete(-1, EINVAL)
        return True


class Port:
    def __init__(self, folder, is_silent):
        self.folder, self.is_silent, self.device = folder, is_silent, None
        with open(f"{folder}/device") as file:
            # The first paragraph is the reader, the others are what it hangs on.
            self.reader, _, above = file.read().partition("\n\n")
        self.reader += "\n"
        lines = self.reader.split("\n")
        self.path = "/sys" + next(line[3:] for line in lines if line.startswith("P: "))
        self.node = "/dev/" + next(line[3:] for line in lines if line.startswith("N: ")).split("=")[0]
        self.bed = UMockdev.Testbed.new()
        if above:
            self.bed.add_from_string(above)
        # The traffic has to be there before anybody hears of the device, and needs it to be there.
        self.bed.add_from_string(self.reader)
        self.load()
        self.bed.remove_device(self.path)

    def load(self):
        if self.is_silent:
            self.device = SilentDevice()
            self.bed.attach_ioctl(self.node, self.device)
            return
        for name in os.listdir(self.folder):
            if name.endswith(".pcapng"):
                self.bed.load_pcap(self.path, f"{self.folder}/{name}")
            if name.endswith(".ioctl"):
                self.bed.load_ioctl(self.node, f"{self.folder}/{name}")

    def plug(self):
        if self.device:
            self.device.gone = False
        self.bed.add_from_string(self.reader)
        # Once more, now that all of its files are written; whoever has seen it does not mind.
        self.bed.uevent(self.path, "add")

    def fail(self):
        self.device.gone = True

    def hold(self, is_held):
        self.device.held = is_held

    def unplug(self):
        self.bed.uevent(self.path, "remove")
        if self.device:
            self.fail()
        self.bed.remove_device(self.path)

    def tell_when_waiting(self, say):
        def watch():
            while not self.device.waiting:
                time.sleep(0.005)
            say("waiting")

        threading.Thread(target=watch, daemon=True).start()


def main():
    port = Port(sys.argv[1], sys.argv[2] == "silent")
    program = subprocess.Popen(sys.argv[3:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
    lock = threading.Lock()

    def say(line):
        with lock:
            print(line.rstrip("\n"), flush=True)

    def listen():
        for line in program.stdout:
            say(line)

    threading.Thread(target=listen, daemon=True).start()
    actions = {
        "plug": (port.plug, "plugged"),
        "unplug": (port.unplug, "unplugged"),
        "fail": (port.fail, "failing"),
        "hold": (lambda: port.hold(True), "held"),
        "release": (lambda: port.hold(False), "released"),
        "await": (lambda: port.tell_when_waiting(say), "watching"),
    }
    for line in sys.stdin:
        if line.strip() in actions:
            action, answer = actions[line.strip()]
            action()
            say(answer)
        else:
            program.stdin.write(line)
    program.kill()
    program.wait()


main()
