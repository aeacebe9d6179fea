# SPDX-License-Identifier: Apache-2.0
"""A USB reader that is plugged in and out: a gadget of the kernel, with the IDs of a reader that libfprint supports."""

import json
import os
import pathlib
import subprocess
import time

from people import lay, service_pid, shown, start, touching, whorl
from run import nightly
from test_e_agents import CONFIGURATION, configure

GADGET = pathlib.Path("/sys/kernel/config/usb_gadget/reader")


class Port:
    """A USB port into which a test plugs a reader. The reader is found, but does not respond to commands."""

    def __init__(self):
        for module in ("dummy_hcd", "libcomposite"):
            subprocess.run(["modprobe", module], check=True)
        self.controller = os.listdir("/sys/class/udc")[0]
        GADGET.mkdir()
        (GADGET / "idVendor").write_text("0x1c7a")
        (GADGET / "idProduct").write_text("0x0570")
        (GADGET / "configs/c.1").mkdir()
        (GADGET / "functions/Loopback.0").mkdir()
        (GADGET / "configs/c.1/Loopback.0").symlink_to(GADGET / "functions/Loopback.0")

    def plug(self):
        (GADGET / "UDC").write_text(self.controller)

    def unplug(self):
        (GADGET / "UDC").write_text("\n")

    def remove(self):
        if (GADGET / "UDC").read_text().strip():
            self.unplug()
        (GADGET / "configs/c.1/Loopback.0").unlink()
        for folder in ("configs/c.1", "functions/Loopback.0", ""):
            (GADGET / folder).rmdir()


def readers():
    said = json.loads(whorl("devices", "--json").stdout.decode().splitlines()[-1])
    return [device["id"] for device in said["result"]["devices"]]


def wait_for(count):
    deadline = time.monotonic() + 30
    while len(readers()) != count:
        assert time.monotonic() < deadline, (count, readers())
        time.sleep(0.2)


def descriptors():
    folder = pathlib.Path(f"/proc/{service_pid()}/fd")
    return sorted(os.readlink(descriptor) for descriptor in folder.iterdir())


def test_reader_that_is_plugged_in_is_there_at_once_and_gone_when_it_is_pulled():
    port = Port()
    try:
        wait_for(1)
        port.plug()
        wait_for(2)
        outcome = whorl("evaluate", "--reason", "a test", "--json", check=False)
        error = json.loads(outcome.stdout.decode().splitlines()[-1])["error"]
        assert error["code"] == "readerNotChosen", error
        port.unplug()
        wait_for(1)
        assert touching("right", 1, "evaluate", "--reason", "a test")["finger"] == "right-index-finger"
    finally:
        port.remove()


@nightly("24 times; once is by day")
def test_reader_that_comes_and_goes_all_the_time_disturbs_neither_the_service_nor_a_prompt():
    own, choices = readers()[0], CONFIGURATION.read_text()
    configure(f"[Reader]\nId={own}\n")
    port = Port()
    try:
        port.plug()
        wait_for(2)
        port.unplug()
        wait_for(1)
        # From now on, everything that the service opens only once is open.
        touching("right", 1, "evaluate", "--reason", "a test")
        service, before = service_pid(), descriptors()
        waiting = start("evaluate", "--reason", "a test", "--timeout", "300", "--json")
        shown(waiting)
        trials = []
        for round in range(24):
            port.plug()
            # Unplugged before, during and after its setup.
            time.sleep((0.01, 0.1, 0.5)[round % 3])
            if round % 8 == 2:
                # An operation on the reader, which does not respond and is unplugged during the operation.
                trials.append(start("doctor", "--json"))
                time.sleep(1)
            port.unplug()
        for trial in trials:
            trial.communicate(timeout=120)
        lay("right")
        out, err = waiting.communicate(timeout=60)
        assert waiting.returncode == 0, (waiting.returncode, out, err)
        wait_for(1)
        assert service_pid() == service
        deadline = time.monotonic() + 30
        while len(descriptors()) > len(before):
            assert time.monotonic() < deadline, (before, descriptors())
            time.sleep(0.5)
        assert touching("right", 1, "evaluate", "--reason", "a test")["finger"] == "right-index-finger"
    finally:
        port.remove()
        configure(choices)
