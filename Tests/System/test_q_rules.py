# SPDX-License-Identifier: Apache-2.0
# Docs/Security.md: C12, C14a
"""The rules that restrict callers: passcodes, deletions, the logs, and readers tested from elsewhere."""

import json
import subprocess
import time

from people import act, forgive, lay, start, touching, whorl
from run import nightly
from test_e_askers import NO_PLACE, PROFILE, confined, error_of, open_directory, remotely
from whorl_client import PRESENTER, Refused, call, name, request

GUESS = """
CONSENT = {"application": "test", "timeoutMilliseconds": 60_000}
for method, parameters in (
    ("io.whorl.Passcode.Verify", {"value": 0}),
    ("io.whorl.Passcode.Change", {"call": {"new": 0, "request": CONSENT}, "presenter": PRESENTER}),
    ("io.whorl.Passcode.Remove", {"call": {"force": True, "request": CONSENT}, "presenter": PRESENTER}),
    ("io.whorl.Maintenance.Reseal", {"call": {"request": CONSENT}, "presenter": PRESENTER}),
):
    try:
        call(method, parameters, secrets=[b"0000"])
        print("answered", method)
    except Refused as error:
        print(error.name)
prompts = []
try:
    call(
        "io.whorl.Owner.Evaluate",
        {"call": {"request": request(policy="device-owner", passcodeAlone=True)}, "presenter": PRESENTER},
        update=prompts.append,
    )
    print("answered")
except Refused as error:
    print(error.parameters.get("code"), len(prompts))
"""


def lines(limit=1000):
    return json.loads(whorl("log", "--limit", str(limit), "--json").stdout.decode().splitlines()[-1])["result"]["entries"]


def test_c10_confined_program_has_no_passcode_compared():
    open_directory()
    subprocess.run(["apparmor_parser", "-r"], input=PROFILE.encode(), check=True)
    before = [line for line in lines() if line["event"] == "passcode"]
    status, out, err = confined("snap.vault.app", GUESS)
    verify, *others, evaluated = out.splitlines()
    assert verify == "org.varlink.service.MethodNotFound", (status, out, err)
    assert set(others) == {"io.whorl.Connection.Confined"}, (status, out, err)
    # There is no prompt if no passcode is set, or if its own prompt may not accept the passcode.
    assert evaluated.endswith(" 0"), (status, out, err)
    assert [line for line in lines() if line["event"] == "passcode"] == before


def deletion(text):
    consent = {"application": "test", "timeoutMilliseconds": 60_000}
    try:
        call(
            "io.whorl.Items.Delete",
            {"call": {"id": name("secret", text), "request": consent}, "presenter": PRESENTER},
            update=lambda _: None,
        )
    except Refused as error:
        return error.name
    return None


def test_c12_item_that_needs_its_owner_is_not_deleted_without_the_owner():
    whorl("secret", "add", "planted", "--access", "biometry-any", secret=b"mine")
    try:
        assert act("owner", deletion, "planted", place=NO_PLACE) == "io.whorl.Failed"
        again = whorl("secret", "add", "planted", "--access", "none", secret=b"theirs", check=False)
        assert again.returncode == 34, again
        process = start("secret", "delete", "planted")
        lay("left", 3, asking=process)
        status, text = error_of(process)
        assert status != 0, (status, text)
        assert "planted" in whorl("secret", "list").stdout.decode()
    finally:
        forgive()
        touching("right", 1, "secret", "delete", "planted")
    assert "planted" not in whorl("secret", "list").stdout.decode()
    changes = [line for line in lines(20) if line["event"] == "change"]
    assert any(line["outcome"] == "itemDeleted" and "planted" in line["detail"] for line in changes), changes


def ask_in_vain(count):
    for number in range(count):
        try:
            call(
                "io.whorl.Owner.Evaluate",
                {"call": {"request": request(reason=f"flood {number}")}, "presenter": PRESENTER},
                update=lambda _: None,
            )
        except Refused:
            pass


@nightly("300 refusals")
def test_c14_refusals_push_neither_successes_nor_changes_out():
    whorl("secret", "add", "before", "--access", "none", secret=b"x")
    forgive()
    since = time.strftime("%Y-%m-%d %H:%M:%S")
    act("owner", ask_in_vain, 300, place=NO_PLACE)
    whorl("secret", "delete", "before")
    outcomes = [(line["event"], line["outcome"]) for line in lines()]
    for wanted in (("evaluation", "matched"), ("change", "itemAdded"), ("change", "itemDeleted")):
        assert wanted in outcomes, wanted
    written = subprocess.run(
        ["journalctl", "-u", "whorld", "--since", since, "-o", "json", "WHORL_UID=1000"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    methods = [(entry.get("WHORL_METHOD"), entry.get("WHORL_OUTCOME")) for entry in map(json.loads, written)]
    refusals = methods.count(("io.whorl.Owner.Evaluate", "notInteractive"))
    assert 20 <= refusals < 300, refusals
    assert ("io.whorl.Items.Delete", "done") in methods, methods[-20:]
    print(f"        300 refusals, {refusals} of them in the journal; the deletion after them is there")


def readers():
    """Returns the result of each call that opens or resets the reader."""
    chosen = call("io.whorl.Readers.Chosen")["id"]
    answers = []
    for method, parameters in (
        ("io.whorl.Readers.TryOut", {"value": chosen}),
        ("io.whorl.Readers.Prints", {"value": chosen}),
        ("io.whorl.Fingers.Reconcile", {}),
    ):
        try:
            call(method, parameters)
            answers.append("done")
        except Refused as error:
            answers.append(error.name)
    return answers


def test_c16_reader_is_opened_at_the_seat_alone():
    refused = ["io.whorl.Connection.NotAtReader"] * 3
    assert act("owner", readers, place=NO_PLACE) == refused
    assert act("mallory", readers) == refused
    assert act("owner", readers)[0] == "done"
    status, text = remotely("whorl doctor")
    assert "Could not open" in text, (status, text)
