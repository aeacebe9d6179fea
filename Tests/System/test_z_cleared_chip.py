# SPDX-License-Identifier: Apache-2.0
"""The TPM is cleared during a call (B12). This test runs last, because nothing can be unlocked afterwards."""

import json
import pathlib
import subprocess
import time

from people import lay, start, whorl

STATE = pathlib.Path("/var/lib/whorl/1000")
CAUSES = ("chipCleared", "chipUnavailable", "counterLost", "enrollmentRolledBack")


def test_b12_chip_that_is_cleared_in_the_middle_of_a_call_opens_nothing_and_nothing_is_deleted():
    whorl("secret", "add", "last", "--access", "biometry-any", secret=b"geheim")
    files = sorted(path.name for path in STATE.iterdir() if path.is_file() and "-" not in path.name)
    process = start("secret", "get", "last", "--json")
    time.sleep(3)
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
