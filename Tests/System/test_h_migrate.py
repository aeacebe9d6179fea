# SPDX-License-Identifier: Apache-2.0
"""A user's own directory is migrated to the service; nothing is lost or deleted."""

import hashlib
import json
import pathlib
import socket
import subprocess
import time

from people import act, lay
from test_g_two_sessions import from_any_place
from whorl_client import call

SOCKET = "/home/mallory/reader"
PROBE = "/usr/local/bin/IdiomProbe"
OWN = ["env", "-i", "PATH=/usr/bin:/bin", "HOME=/home/mallory", "WHORL_SERVICE=in-process",
       f"FP_VIRTUAL_DEVICE={SOCKET}"]


def lay_own(finger, times=1):
    """Touches the reader of the user's own process."""
    for _ in range(times):
        deadline = time.monotonic() + 60
        while True:
            try:
                with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as reader:
                    reader.connect(SOCKET)
                    reader.sendall(f"SCAN {finger}".encode())
                break
            except OSError:
                assert time.monotonic() < deadline
                time.sleep(0.1)
        time.sleep(0.3)


def own(*arguments, secret=None):
    """Starts whorl as the user, with the user's own directory."""
    process = subprocess.Popen(
        ["runuser", "-u", "mallory", "--", *OWN, "whorl", *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )
    if secret is not None:
        process.stdin.write(secret)
    process.stdin.close()
    process.stdin = None
    return process


def done(process, status=0):
    out, err = process.communicate(timeout=240)
    assert process.returncode == status, (process.returncode, out, err)
    return json.loads(out.decode().splitlines()[-1]).get("result") if out else None


def picture():
    """The files of the user's own directory, except the counts of tries, which change with each touch."""
    files = {}
    for path in pathlib.Path("/home/mallory/.local/state/whorl").rglob("*"):
        if path.is_file() and not path.name.startswith("whorl.db") and "sqlite" not in path.name:
            files[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return files


def in_service():
    items = act("mallory", call, "io.whorl.Items.List")["value"]
    return sorted(item["id"]["name"] for item in items if item["id"]["kind"] == "secret")


def prepare():
    subprocess.run(["usermod", "-aG", "tss", "mallory"], check=True)
    enrolling = own("enroll", "left-thumb", "--json")
    lay_own("left", 6)
    done(enrolling)
    for name, access in (("one", "biometry-any"), ("two", "biometry-any"), ("open", "none")):
        done(own("secret", "add", name, "--access", access, "--json", secret=f"the {name}".encode()))
    done(own("key", "create", "signer", "--access", "biometry-any", "--json"))


def test_migration_names_what_stays_before_anything_moves():
    prepare()
    before = in_service()
    said = done(own("migrate", "--dry-run", "--json"))
    assert sorted(said["planned"]) == ["one", "open", "two"] and said["moved"] == [], said
    assert sorted((rest["kind"], rest["name"]) for rest in said["stays"]) == [
        ("finger", "left-thumb"), ("key", "signer")], said
    assert in_service() == before


def test_migration_that_is_killed_goes_on_where_it_was_and_loses_nothing():
    before = picture()
    process = own("migrate", "--json")
    lay_own("left")
    deadline = time.monotonic() + 60
    while not in_service():
        assert time.monotonic() < deadline, "nothing was moved"
        time.sleep(0.3)
    # The program itself, not only the runuser that started it: otherwise it would wait for the next touch until its time is up.
    subprocess.run(["pkill", "-KILL", "-u", "mallory", "-x", "whorl"])
    process.communicate()
    moved = in_service()
    assert 0 < len(moved) < 3, moved
    process = own("migrate", "--json")
    lay_own("left", len({"one", "two"} - set(moved)))
    said = done(process)
    assert sorted(said["there"] + said["moved"]) == ["one", "open", "two"] and said["failed"] == [], said
    assert in_service() == ["one", "open", "two"]
    assert picture() == before


@from_any_place
def test_secret_that_moved_opens_in_the_service_and_in_the_old_directory():
    process = subprocess.Popen(
        ["runuser", "-u", "mallory", "--", "env", "-i", "PATH=/usr/bin:/bin", "HOME=/home/mallory",
         "whorl", "secret", "get", "one"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )
    lay("left", asking=process)
    out, err = process.communicate(timeout=120)
    assert out == b"the one", (out, err)
    process = own("secret", "get", "one")
    lay_own("left")
    out, err = process.communicate(timeout=120)
    assert out == b"the one", (out, err)


def test_migration_without_the_touch_moves_nothing_of_it():
    done(own("secret", "add", "three", "--access", "biometry-any", "--json", secret=b"the three"))
    process = own("migrate", "--json")
    lay_own("right", 3)
    said = done(process, 1)
    assert said["moved"] == [] and [one["name"] for one in said["failed"]] == ["three"], said
    assert said["failed"][0]["error"]["code"] == "authenticationFailed", said
    assert "three" not in in_service()


def probe(*arguments, environment=()):
    """Runs a program that stores items in the keychain, as the user."""
    return subprocess.Popen(
        ["runuser", "-u", "mallory", "--", *(environment or ["env", "-i", "PATH=/usr/bin:/bin", "HOME=/home/mallory"]),
         PROBE, *arguments],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )


def printed(process):
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, (process.returncode, out, err)
    return out.decode().strip()


def moved_items():
    """Returns the items that the service already has, according to the command."""
    return sorted(item["name"] for item in done(own("migrate", "--dry-run", "--json"))["keychain"]["there"])


def test_keychain_items_move_with_one_touch_and_a_killed_run_goes_on():
    printed(probe("keep", "old", environment=OWN))
    printed(probe("guard", "old", environment=OWN))
    said = done(own("migrate", "--dry-run", "--json"))
    # The passwords and the bytes of a key, then the two that a touch unlocks.
    assert len(said["keychain"]["planned"]) == 5 and said["keychain"]["moved"] == [], said
    assert all(item["group"] == "IdiomProbe" for item in said["keychain"]["planned"]), said
    before = picture()
    process = own("migrate", "--json")
    # The secret that has not been migrated yet prompts first.
    lay_own("left", 2)
    for line in process.stdout:
        if b'"event":"moved"' in line and b'"item"' in line:
            break
    subprocess.run(["pkill", "-KILL", "-u", "mallory", "-x", "whorl"])
    process.wait()
    there = moved_items()
    assert 0 < len(there) <= 5, there
    process = own("migrate", "--json")
    if len(there) < 5:
        lay_own("left")
    out, _ = process.communicate(timeout=240)
    said = json.loads(out.decode().splitlines()[-1])["result"]
    assert len(said["keychain"]["there"] + said["keychain"]["moved"]) == 5, said
    assert said["keychain"]["failed"] == [], said
    assert len(moved_items()) == 5
    assert picture() == before


@from_any_place
def test_keychain_item_that_moved_opens_in_the_service_for_its_program():
    assert printed(probe("read", "old")) == "kept by old"
    process = probe("read", "old-1")
    lay("left")
    assert printed(process) == "guarded 1 by old"
    process = probe("read", "old-2", environment=OWN)
    lay_own("left")
    assert printed(process) == "guarded 2 by old"
