# SPDX-License-Identifier: Apache-2.0
"""On unusual file systems, errors name the actual cause and give useful advice (`Docs/CommandLine.md`)."""

import contextlib
import os
import subprocess

from cases import shell
from people import forgive, lay, service_pid, start, whorl
from run import nightly

FOLDER = "/mnt/odd"
OWNER = "setpriv --reuid 1000 --regid 1000 --clear-groups env -i PATH=/usr/bin:/bin HOME=/home/owner NO_COLOR=1"
ALONE = "WHORL_TCTI=none WHORL_SERVICE=in-process WHORL_PROFILE=demo"


@contextlib.contextmanager
def mounted(line):
    """A file system, mounted by a bash command at a folder that the owner can use."""
    shell(f"umount {FOLDER}; mkdir -p {FOLDER}; {line}", check=True)
    try:
        yield FOLDER
    finally:
        shell(f"umount {FOLDER}", check=True)


def run(state, *words, reader="mock:touch right-index*6", before="true"):
    """Runs whorl as the owner, in its own process, with a state folder."""
    text = f"{before}; exec whorl {' '.join(words)}"
    line = f"{OWNER} {ALONE} WHORL_STATE_DIR={state} WHORL_READER='{reader}' sh -c '{text}'"
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=240)


def enroll(state, **options):
    return run(state, "enroll", "right-index-finger", **options)


def fat(options):
    """Returns a command that mounts a FAT file system."""
    image = "/run/fat.img"
    return (
        f"dd if=/dev/zero of={image} bs=1M count=40 status=none; busybox mkdosfs {image} >/dev/null;"
        f" mount -o loop,{options} {image} {FOLDER}"
    )


def test_y_file_system_whose_modes_are_fixed_and_open_is_named_and_no_chmod_is_advised():
    with mounted(fat("uid=1000,gid=1000")) as folder:
        enroll(f"{folder}/a")
        said = enroll(f"{folder}/a")
        assert said.returncode != 0, said
        assert "without permissions" in said.stderr and "umask=077" in said.stderr, said
        assert "chmod" not in said.stderr, said


def test_y_file_system_whose_modes_are_fixed_and_private_holds_the_state():
    with mounted(fat("uid=1000,gid=1000,umask=077")) as folder:
        said = enroll(f"{folder}/a")
        assert said.returncode == 0, said
        matched = run(f"{folder}/a", "evaluate", "--reason", "x", reader="mock:match")
        assert matched.returncode == 0, matched


def test_y_file_system_without_free_inodes_is_full():
    with mounted(f"mount -t tmpfs -o nr_inodes=4,mode=700,uid=1000 none {FOLDER}") as folder:
        said = enroll(f"{folder}/a")
        assert said.returncode != 0 and "full" in said.stderr, said


def test_y_umask_that_removes_the_owners_own_rights_makes_no_file_useless():
    with mounted(f"mount -t tmpfs -o mode=700,uid=1000 none {FOLDER}") as folder:
        said = enroll(f"{folder}/a", before="umask 777")
        assert said.returncode == 0, said
        matched = run(f"{folder}/a", "evaluate", "--reason", "x", reader="mock:match")
        assert matched.returncode == 0, matched


@nightly("fills a disk")
def test_y_full_disk_is_named_by_the_installed_service_and_loses_nothing():
    whorl("secret", "delete", "kept", check=False)
    whorl("secret", "add", "kept", "--access", "none", secret=b"still here")
    pid, before = service_pid(), whorl("secret", "list", "--json").stdout
    room = os.statvfs("/var/lib/whorl")
    shell(f"fallocate -l {room.f_bavail * room.f_frsize} /var/lib/filler || true; dd if=/dev/zero of=/var/lib/filler2 bs=4k 2>/dev/null || true")
    try:
        said = whorl("secret", "add", "too-much", "--access", "none", secret=b"x" * 100_000, check=False)
        assert said.returncode != 0 and b"full" in said.stderr, said
        process = start("evaluate", "--reason", "a full disk", "--json")
        lay("right", asking=process)
        out, err = process.communicate(timeout=240)
        assert process.returncode == 0 or b"full" in out + err, (out, err)
        print(f"        a touch on a full disk: status {process.returncode}")
    finally:
        shell("rm -f /var/lib/filler /var/lib/filler2", check=True)
    assert service_pid() == pid, "the service ended"
    assert whorl("secret", "get", "kept").stdout == b"still here"
    assert whorl("secret", "list", "--json").stdout == before
    forgive()
    whorl("secret", "delete", "kept")
