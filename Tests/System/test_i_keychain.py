# SPDX-License-Identifier: Apache-2.0
"""The keychain as programs for Apple's systems use it, in the system's service."""

import subprocess

from people import command, sit
from run import nightly

PROBE = "/usr/local/bin/IdiomProbe"


def probe(*arguments, user="owner"):
    """Runs the program of the idioms as a user, and returns its lines."""
    outcome = subprocess.run(
        command(user, PROBE, *arguments), capture_output=True, timeout=600, preexec_fn=lambda: sit(user)
    )
    assert outcome.returncode == 0, outcome
    return outcome.stdout.decode().splitlines()


@nightly("scripts/test has the same idioms by day, in process and with a service")
def test_every_idiom_does_what_programs_expect():
    done, of, count = probe("idioms")[-1].split()
    assert done == count and int(count) >= 50, (done, of, count)


def test_persistent_references_survive_a_restart_of_the_service_and_are_the_users_own():
    references = probe("keep", "one")
    assert len(references) == 3, references
    assert probe("find", *references) == ["kept by one"] * 3
    subprocess.run(["systemctl", "restart", "whorld.service"], check=True)
    assert probe("find", *references) == ["kept by one"] * 3
    assert probe("find", *references, user="mallory") == ["-25300"] * 3
