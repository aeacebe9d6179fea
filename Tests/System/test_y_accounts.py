# SPDX-License-Identifier: Apache-2.0
# Docs/Security.md: C17, S4
"""An identity is an account: user IDs and names are reused, and accounts are renamed (C17)."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import time

from cases import enrolled, everyone, shell, touched
from people import clear_lockout, lay, whorl
from run import nightly

PASSWD = pathlib.Path("/etc/passwd")


@contextlib.contextmanager
def account(name):
    """An account with a finger and a secret, and its user ID; it is deleted at the end, whatever its name is then."""
    with everyone():
        shell(f"useradd -m {name}", check=True)
        number = int(shell(f"id -u {name}", check=True).stdout)
        try:
            enrolled("left", user=name)
            whorl("secret", "add", "diary", "--access", "none", user=name, secret=b"dear diary")
            yield number
        finally:
            shell(f"userdel -rf $(id -un {number}); groupdel {name}")
            shell("systemctl restart whorld.service", check=True)
            shell(f"whorl account remove {number}")


def as_number(number, *arguments):
    """Runs whorl with a user ID, whatever its name is."""
    words = ["setpriv", "--reuid", str(number), "--regid", str(number), "--clear-groups", "env", "-i"]
    return subprocess.run([*words, "PATH=/usr/bin:/bin", "HOME=/tmp", "whorl", *arguments], capture_output=True, timeout=240)


def nothing_of_the_former(number):
    """Asserts that the account that now has a user ID gets nothing; returns the error."""
    listed = as_number(number, "fingers", "--json")
    read = as_number(number, "secret", "get", "diary")
    log = as_number(number, "log")
    assert b"right-index-finger" not in listed.stdout, listed
    assert read.returncode != 0 and b"dear diary" not in read.stdout + read.stderr, read
    assert b"enroll" not in log.stdout, log
    status, said, _ = touched("left", "evaluate", "--reason", "a test", user=shell(f"id -un {number}").stdout.strip())
    assert status != 0 and said["error"]["code"] in ("biometryNotEnrolled", "storeFailed", "accountRenamed"), said
    return read.stderr.decode()


def test_y_deleted_account_leaves_nothing_to_a_new_one_with_its_number():
    with account("anna") as number:
        assert shell(f"userdel -r anna; useradd -m -u {number} bob; id -u bob").stdout.strip() == str(number)
        assert not pathlib.Path(f"/var/lib/whorl/{number}").exists()
        nothing_of_the_former(number)
        # The new account starts like any other.
        assert touched("right", "enroll", "left-thumb", user="bob", times=6)[0] == 0


@nightly("an account that is deleted is by day")
def test_y_deleted_account_leaves_nothing_to_a_new_one_with_its_name_and_number():
    with account("anna") as number:
        shell(f"userdel -r anna; useradd -m -u {number} anna", check=True)
        nothing_of_the_former(number)


@nightly("an account that is deleted is by day")
def test_y_account_that_was_deleted_while_the_service_could_not_start_is_removed_before_anyone_is_served():
    with account("anna") as number:
        shell("systemctl stop whorld.socket whorld.service; systemctl mask --runtime whorld.service")
        try:
            shell(f"userdel -r anna; useradd -m -u {number} anna")
            assert os.path.islink(f"/var/lib/whorl/removed-{number}")
        finally:
            shell("systemctl unmask --runtime whorld.service; systemctl start whorld.socket", check=True)
        nothing_of_the_former(number)
        assert not os.path.lexists(f"/var/lib/whorl/removed-{number}")


@nightly("an account that is deleted is by day")
def test_y_number_that_was_given_out_again_without_userdel_brings_nothing_until_root_decides():
    with account("anna") as number:
        before = PASSWD.read_text()
        lines = [line for line in before.splitlines() if not line.startswith("anna:")]
        PASSWD.write_text("\n".join([*lines, f"bob:x:{number}:{number}::/home/bob:/bin/sh", ""]))
        shell("install -d -o bob /home/bob")
        told = nothing_of_the_former(number)
        assert f"whorl account remove {number}" in told and "anna" in told, told
        listed = json.loads(shell("whorl account list --json").stdout.splitlines()[-1])["result"]["accounts"]
        assert {"number": number, "name": "anna", "current": "bob", "state": "other"} in listed, listed
        # The former account's data is still available to it.
        PASSWD.write_text(before)
        assert as_number(number, "secret", "get", "diary").stdout == b"dear diary"
        PASSWD.write_text("\n".join([*lines, f"bob:x:{number}:{number}::/home/bob:/bin/sh", ""]))
        shell("whorl account remove anna", check=True)
        assert not pathlib.Path(f"/var/lib/whorl/{number}").exists()
        assert touched("right", "enroll", "left-thumb", user="bob", times=6)[0] == 0
        PASSWD.write_text(before)


@nightly("accounts are rarely renamed")
def test_y_renamed_account_keeps_its_things_and_its_fingers_are_trusted_when_root_confirms():
    with account("dora") as number:
        shell("usermod -l dora.smith dora", check=True)
        assert as_number(number, "secret", "get", "diary").stdout == b"dear diary"
        status, said, _ = touched("left", "evaluate", "--reason", "a test", user="dora.smith")
        assert status != 0 and said["error"]["code"] == "accountRenamed", said
        assert "whorl account renamed" in said["error"]["recovery"], said
        shell("whorl account renamed dora.smith", check=True)
        assert touched("left", "evaluate", "--reason", "a test", user="dora.smith")[0] == 0


@nightly("accounts are rarely renamed")
def test_y_fingers_of_a_renamed_account_are_trusted_again_after_its_passcode():
    clear_lockout()
    with account("dora") as number:
        shell("echo 2468 >/run/right; chmod 644 /run/right")
        process = subprocess.Popen(
            ["runuser", "-u", "dora", "--", "bash", "-c", "whorl passcode set --passcode-fd 3 3</run/right"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        lay("left", asking=process)
        assert process.wait(240) == 0, process.communicate()
        shell("usermod -l dora.smith dora", check=True)
        assert touched("left", "evaluate", "--reason", "a test", user="dora.smith")[0] != 0
        verified = shell("runuser -u dora.smith -- bash -c 'whorl passcode verify --passcode-fd 3 3</run/right'")
        assert verified.returncode == 0, verified
        assert touched("left", "evaluate", "--reason", "a test", user="dora.smith")[0] == 0


@nightly("waits for half a minute")
def test_y_user_database_that_does_not_answer_changes_nothing():
    with account("anna") as number:
        shutil.copy2(PASSWD, "/root/passwd")
        try:
            shell("systemctl stop whorld.service; sed -i '/^anna:/d' /etc/passwd; systemctl start whorld.service")
            assert as_number(number, "secret", "get", "diary").returncode != 0
            PASSWD.unlink()  # getpwuid_r(3) then fails, and finds nothing.
            assert as_number(number, "enroll", "left-thumb").returncode != 0
        finally:
            shutil.copy2("/root/passwd", PASSWD)
        # The refusal of a connection without an account is remembered for half a minute.
        deadline = time.monotonic() + 90
        while (got := as_number(number, "secret", "get", "diary")).returncode != 0 and time.monotonic() < deadline:
            time.sleep(3)
        assert got.stdout == b"dear diary", got
        refused = shell("whorl account remove anna")
        assert refused.returncode != 0 and "still exists" in refused.stderr, refused
