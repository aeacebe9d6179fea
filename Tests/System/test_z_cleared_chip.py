# SPDX-License-Identifier: Apache-2.0
# Docs/Security.md: S56
"""The TPM is cleared during a call (B12). These tests run last, because only the recovery sheet unlocks anything afterwards."""

import json
import pathlib
import subprocess

from people import forgive, lay, reader_waits, start, whorl
from run import nightly
from test_j_logins import PASSWORD, PROMPT, ended
from test_l_keyring import LOCKED, end_keyring, login, status, typed
from test_l_keyring_on_demand import is_locked, on_a_terminal, turn_on, wait, with_keyrings_module

STATE = pathlib.Path("/var/lib/whorl/1000")
CAUSES = ("chipCleared", "chipUnavailable", "counterLost", "enrollmentRolledBack")
sheet = None


@nightly("three logins")
def test_keyring_gets_its_own_password_before_the_chip_is_cleared():
    global sheet
    with_keyrings_module()
    forgive()
    # There may be no keyring yet; the first login makes one.
    login(typed)
    assert "b false" in login(typed, LOCKED)
    child = on_a_terminal("on", "--on-demand", "--sheet")
    sheet = turn_on(child)
    code, text = ended(child)
    assert code == 0, text


def test_b12_chip_that_is_cleared_in_the_middle_of_a_call_opens_nothing_and_nothing_is_deleted():
    whorl("secret", "add", "last", "--access", "biometry-any", secret=b"geheim")
    files = sorted(path.name for path in STATE.iterdir() if path.is_file() and "-" not in path.name)
    process = start("secret", "get", "last", "--json")
    wait(reader_waits)
    subprocess.run(["tpm2_clear", "-c", "l", "-T", "device:/dev/tpmrm0"], check=True)
    lay("right")
    out, err = process.communicate(timeout=240)
    said = json.loads(out.decode().splitlines()[-1])
    assert process.returncode != 0 and b"geheim" not in out and b"Z2VoZWlt" not in out, (out, err)
    # The kernel drops a connection whose loaded objects the TPM no longer accepts; the next one reports the cause.
    assert said["error"]["code"] in (*CAUSES, "chipBusy"), said
    assert said["error"]["recovery"], said
    again = refused()
    assert again["error"]["code"] in CAUSES, again
    subprocess.run(["systemctl", "restart", "whorld.service"], check=True)
    again = refused()
    assert again["error"]["code"] in CAUSES, again
    left = sorted(path.name for path in STATE.iterdir() if path.is_file() and "-" not in path.name)
    assert set(files) <= set(left), (files, left)


def refused():
    """Returns the error of a program that requests the item."""
    process = start("secret", "get", "last", "--json")
    lay("right", asking=process)
    out, err = process.communicate(timeout=240)
    assert process.returncode != 0 and b"geheim" not in out and b"Z2VoZWlt" not in out, (out, err)
    return json.loads(out.decode().splitlines()[-1])


@nightly("three logins")
def test_recovery_sheet_opens_the_keyring_after_the_chip_was_cleared():
    end_keyring()
    assert is_locked()
    process = start("keyring", "unlock", "--json")
    lay("right", asking=process)
    out, err = process.communicate(timeout=240)
    assert process.returncode != 0 and is_locked(), (out, err)
    child = on_a_terminal("off", "--from-sheet")
    for prompt, answer in (("Login password: ", PASSWORD), ("Repeat the login password: ", PASSWORD), ("recovery sheet: ", sheet)):
        child.expect_exact(prompt)
        child.send(f"{answer}\r")
    code, text = ended(child)
    assert code == 0 and "was not deleted" in text, text
    assert not is_locked()
    end_keyring()
    # Without its TPM, the service may refuse before a touch is offered.
    seen = login(typed, LOCKED, prompt=[PROMPT, "Password: "])
    assert "b false" in seen, "the keyring does not have the login password again"
    whorl("vault", "reset", "--force")
    assert status() == "off"
