# SPDX-License-Identifier: Apache-2.0
"""Machines that demand more than one touch, and the question which of a few people is there."""

import json
import subprocess

from people import forgive, lay, start, touching, whorl
from run import nightly
from test_d_lifecycle import touching_two
from test_e_agents import CONFIGURATION, configure

ASKING = ["evaluate", "--reason", "a test"]


class Machine:
    """A machine with a configuration, which is as before in the end."""

    def __init__(self, text):
        self.text = text

    def __enter__(self):
        self.before = CONFIGURATION.read_text()
        configure(self.text)

    def __exit__(self, *_):
        configure(self.before)


def result(process):
    """Returns the status of a command with --json, and its last line."""
    out, err = process.communicate(timeout=240)
    return process.returncode, json.loads(out.decode().splitlines()[-1]), err


@nightly("many touches of a rare configuration")
def test_two_fingers_are_demanded_of_every_touch_of_a_machine():
    touching_two("right", 1, "left", 6, "enroll", "left-thumb")
    try:
        with Machine("[Touch]\nFingers=2\n"):
            matched = touching_two("right", 1, "left", 1, *ASKING)
            assert matched["touchStrength"].startswith("two-fingers+reader:"), matched
            # The same finger again and again is one finger.
            process = start(*ASKING, "--json")
            lay("right", 3)
            lay("other", 3, asking=process)
            status, line, err = result(process)
            assert status == 10 and line["error"]["code"] == "authenticationFailed", (status, line, err)
            # The reader compares with one print at a time: that of the finger that matched last.
            touching_two("right", 1, "left", 1, *ASKING)
    finally:
        touching("right", 1, "remove", "left-thumb")
    assert b"left-thumb" not in whorl("fingers", "--json").stdout


def test_reader_that_does_not_compare_by_itself_is_refused_where_match_on_chip_is_demanded():
    with Machine("[Touch]\nMatch=on-chip\n"):
        outcome = whorl("can-evaluate", "--json", check=False)
        line = json.loads(outcome.stdout.decode().splitlines()[-1])
        assert outcome.returncode != 0 and b"readerUnsupported" in outcome.stdout, (outcome, line)
    forgive()


def identify(*arguments):
    return subprocess.Popen(
        ["whorl", "identify", "--reason", "check in", "--json", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_question_who_of_a_few_people_is_there_is_roots_and_the_administrators():
    status, line, _ = result(identify("--among", "owner,mallory"))
    assert status != 0 and line["error"]["code"] == "invalidContext", line
    with Machine("[Identify]\nPeople=2\n"):
        status, line, _ = result(identify("--among", "owner,mallory,root"))
        assert status != 0 and line["error"]["code"] == "invalidContext", line
        # This virtual reader compares with one print at a time.
        status, line, _ = result(identify("--among", "owner,mallory"))
        assert status != 0 and line["error"]["code"] == "readerUnsupported", line
    refused = start("identify", "--among", "owner", "--reason", "x", "--json", user="mallory")
    status, line, _ = result(refused)
    assert status == 64, (status, line)
