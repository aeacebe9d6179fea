# SPDX-License-Identifier: Apache-2.0
# Docs/Security.md: C8, C9b
"""A touch counts for the purpose that its prompt named, in the process that asked, and a locked session asks nothing."""

import os
import subprocess
import threading
import time

from people import act, lay, lock, sit, start, touching, whorl
from run import nightly
from test_e_agents import Agent
from whorl_client import PRESENTER, Client, Refused, call, name, request

STORED = {"kind": "storedByProgram"}


def session():
    """Begins a session; returns its connection, which keeps it, and its id."""
    client = Client()
    client.send("io.whorl.Owner.Session", more=True)
    return client, client.receive()["parameters"]["value"]


def code(error):
    """Returns the code of an error, or its name where it has none."""
    return error.parameters.get("code", error.name)


def ask(method, parameters, secrets=(), presenter=PRESENTER):
    """Calls a method on a connection of its own; returns its value, or the error's code, and the prompts before it."""
    prompts = []
    with Client() as client:
        try:
            reply = client.call(
                method,
                {"call": parameters, "presenter": presenter},
                secrets=secrets,
                update=lambda update: prompts.append(update) if "prompt" in update else None,
            )
            return reply.get("value", {}), prompts
        except Refused as error:
            return code(error), prompts


def evaluate(purpose, held=None):
    return ask("io.whorl.Owner.Evaluate", {"request": request("play a game", purpose=purpose), "session": held})


def use(item, held=None, asks=False, **more):
    call = {
        "asking": {"request": request("open", interactionAllowed=asks, purpose=STORED, **more), "session": held},
        "use": {"secret": {}},
        **item,
    }
    return ask("io.whorl.Items.Use", call)


def set_passcode(held):
    try:
        with Client() as client:
            consent = {"application": "test", "timeoutMilliseconds": 60_000}
            client.call(
                "io.whorl.Passcode.Set",
                {"passcode": 0, "request": consent, "session": held},
                secrets=[b"2468 hunter"],
            )
        return "set"
    except Refused as error:
        return error.parameters.get("code")


def touched(body, *arguments, place=sit):
    """Runs a function as the owner, who lays the right finger meanwhile."""
    finger = threading.Thread(target=lay, args=("right",))
    finger.start()
    try:
        return act("owner", body, *arguments, place=place)
    finally:
        finger.join()


NAMED = {"id": name("secret", "purpose-bank")}


def test_a_there_is_a_secret_to_steal():
    whorl("secret", "delete", "purpose-bank", check=False)
    whorl("secret", "add", "purpose-bank", "--access", "biometry-any", secret=b"geheim")


# A presenter that shows nothing: what needs a prompt of its own ends at once.
UNSEEN = {"isInteractive": False, "takesPasscode": False}
CONSENT = {"application": "test", "timeoutMilliseconds": 1_000}


def changes():
    """Tries what changes the owner's things, and a login; returns the code with which each was refused, or "done"."""
    tried = {
        "io.whorl.Fingers.Enroll": {"finger": {"finger": "left-thumb"}, "request": CONSENT},
        "io.whorl.Fingers.Remove": {"selection": {"all": {}}, "force": True, "request": CONSENT},
        "io.whorl.Passcode.AskForFinger": {"request": CONSENT},
        "io.whorl.Passcode.Change": {"new": 0, "request": CONSENT},
        "io.whorl.Passcode.Remove": {"force": True, "request": CONSENT},
        "io.whorl.Maintenance.Reseal": {"request": CONSENT},
        "io.whorl.Keyring.TurnOn": {"request": CONSENT},
        "io.whorl.Items.Delete": {**NAMED, "request": CONSENT},
        "io.whorl.Owner.SetOptedOut": {"application": "another", "isOptedOut": True, "request": CONSENT},
        "io.whorl.Login.Verify": {"user": os.getuid(), "service": "sudo", "request": CONSENT},
    }
    codes = {}
    for method, parameters in tried.items():
        secrets = [b"1357 hunter"] if "new" in parameters else ()
        answer = ask(method, parameters, secrets, UNSEEN)[0]
        codes[method.removeprefix("io.whorl.")] = answer if isinstance(answer, str) else "done"
    return codes


def all_are_refused(codes, has_passcode=False):
    """Whether each change was refused for want of a finger or a prompt, and not for another reason."""
    reasons = {method: {"systemCancel", "timedOut", "notInteractive"} for method in codes}
    if not has_passcode:
        reasons.update(dict.fromkeys(("Passcode.Change", "Passcode.Remove", "Maintenance.Reseal"), {"passcodeNotSet"}))
    reasons["Login.Verify"] = {codes["Login.Verify"]} - {"done"}  # root's alone
    return all(code in reasons[method] for method, code in codes.items())


def game():
    """One touch for a yes, and then everything is tried with its session, by this process and by a child."""
    client, held = session()
    value, prompts = evaluate({"kind": "yes"}, held)
    assert value["method"] == "biometry", value
    assert prompts[0]["prompt"]["prompt"]["purpose"] == {"kind": "yes"}, prompts
    tried = [use(NAMED, held)[0], set_passcode(held), changes()]
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.write(writer, repr([use(NAMED, held)[0], set_passcode(held), changes()]).encode())
        os._exit(0)
    os.close(writer)
    tried += eval(os.read(reader, 4096))
    client.close()
    return tried


def test_after_a_yes_nothing_opens_and_no_passcode_is_set_by_the_same_process_or_another():
    tried = touched(game)
    assert tried[0::3] == ["notInteractive"] * 2 and tried[1::3] == ["accessDenied"] * 2, tried
    assert all(all_are_refused(codes) for codes in tried[2::3]), tried
    assert "right" in whorl("fingers", "--json").stdout.decode()


@nightly("right after it, in the same session, is by day")
def test_after_a_yes_nothing_changes_in_another_session_or_later():
    answer, _ = touched(evaluate, {"kind": "yes"})
    assert answer["method"] == "biometry", answer
    # From where no finger may be asked for, and with a reader on which nothing lies.
    for place in (lambda user: None, sit):
        codes = act("owner", changes, place=place)
        assert all_are_refused(codes), codes
    assert "right" in whorl("fingers", "--json").stdout.decode()


def yes_and_changes():
    client, held = session()
    evaluate({"kind": "yes"}, held)
    codes = changes()
    client.close()
    return codes


@nightly("the same without a passcode is by day")
def test_after_a_yes_the_passcode_stays_as_it_is():
    process = start("passcode", "set", "--passcode-fd", "0", secret=b"2468 hunter\n")
    lay("right", asking=process)
    assert process.wait(120) == 0, process.communicate()
    try:
        codes = touched(yes_and_changes)
        del codes["Passcode.AskForFinger"]  # there is a passcode
        assert all_are_refused(codes, has_passcode=True), codes
    finally:
        whorl("passcode", "remove", "--passcode-fd", "0", secret=b"2468 hunter")


def reserved():
    return [evaluate({"kind": kind, "name": "x"})[0] for kind in ("item", "setPasscode", "changeFingers", "logIn")]


def test_a_program_cannot_name_a_purpose_of_the_services_own():
    answers = act("owner", reserved)
    assert answers == ["org.varlink.service.InvalidParameter"] * 4, answers


def unnamed():
    bare = request("play a game")
    del bare["purpose"]
    return ask("io.whorl.Owner.Evaluate", {"request": bare})[0]


def test_a_call_without_a_purpose_is_refused():
    assert act("owner", unnamed) == "org.varlink.service.InvalidParameter"


# The lock of the screen

def test_a_locked_session_asks_for_nothing():
    lock(True)
    try:
        answer, prompts = act("owner", evaluate, {"kind": "yes"})
        assert answer == "notInteractive" and not prompts, (answer, prompts)
        answer, prompts = act("owner", use, NAMED, None, True)
        assert answer == "notInteractive" and not prompts, (answer, prompts)
    finally:
        lock(False)
    answer, prompts = touched(evaluate, {"kind": "yes"})
    assert answer["method"] == "biometry", answer


def test_a_lock_ends_an_open_prompt_and_its_reader_is_free():
    process = start("evaluate", "--reason", "wait for the lock", "--json")
    assert b'"event"' in process.stdout.readline()
    began = time.monotonic()
    lock(True)
    try:
        out, err = process.communicate(timeout=60)
        assert process.returncode != 0 and b"locked" in out + err, (out, err)
        print(f"        ended {time.monotonic() - began:.2f} s after the lock")
    finally:
        lock(False)


def test_a_lock_that_the_login_manager_forgot_ends_when_the_screen_is_told_to_unlock():
    lock(True)
    try:
        subprocess.run(["systemctl", "restart", "systemd-logind"], check=True)
        answer, prompts = act("owner", evaluate, {"kind": "yes"})
        assert answer == "notInteractive" and not prompts, "a restart of the login manager unlocked the session"
    finally:
        # It forgot the hint, so that this changes nothing, and is not announced.
        lock(False)
    subprocess.run(["loginctl", "unlock-session", "1"], check=True)
    deadline = time.monotonic() + 20
    while True:
        answer, prompts = touched(evaluate, {"kind": "yes"})
        if isinstance(answer, dict) or time.monotonic() > deadline:
            break
    assert isinstance(answer, dict) and answer["method"] == "biometry", answer


def behind_the_lock():
    """Keeps a proof for what this program stored, and tries it before, during and after a lock."""
    with Client() as client:
        made = client.call(
            "io.whorl.Items.Make", {"kind": "secret", "secret": 0, "access": "biometry-any"}, secrets=[b"stored"]
        )
    client, held = session()

    def opens():
        answer = use({"sealed": made}, held)[0]
        return "opened" if isinstance(answer, dict) else answer

    evaluate(STORED, held)
    tried = [opens(), opens(), use(NAMED, held)[0]]
    lock(True)
    time.sleep(1)
    tried.append(opens())
    lock(False)
    time.sleep(1)
    tried.append(opens())
    client.close()
    return tried


def test_what_a_program_stored_opens_until_the_lock_and_not_after_it():
    tried = touched(behind_the_lock)
    assert tried == ["opened", "opened"] + ["notInteractive"] * 3, tried


def test_a_match_is_not_reused_after_the_lock():
    again = ("evaluate", "--reason", "again", "--allow-reuse", "120", "--no-interaction", "--json")
    touching("right", 1, "evaluate", "--reason", "first")
    assert whorl(*again).returncode == 0
    lock(True)
    try:
        assert b"locked" in whorl(*again, check=False).stdout
    finally:
        lock(False)
    time.sleep(1)
    refused = whorl(*again, check=False)
    assert refused.returncode != 0 and b"notInteractive" in refused.stdout, refused


# Whoever shows the prompt

def with_a_passcode_of_its_own():
    call = {"asking": {"request": request("steal", purpose=STORED)}, "use": {"secret": {}}, **NAMED}
    return ask("io.whorl.Items.Use", call, presenter={**PRESENTER, "hasPasscode": True})


def test_the_registered_agent_shows_a_prompt_for_a_finger_whatever_the_caller_says():
    agent = Agent()
    try:
        answer, prompts = touched(with_a_passcode_of_its_own)
        assert isinstance(answer, dict) and not prompts, (answer, prompts)
        shown = [update["prompt"]["prompt"] for update in agent.updates() if "prompt" in update]
        assert [prompt["reason"] for prompt in shown] == ["steal"], shown
        assert shown[0]["purpose"] == {"kind": "item", "name": "purpose-bank"}, shown
    finally:
        agent.stop()


def test_each_release_is_in_the_owners_log_and_the_journal():
    lines = act("owner", call, "io.whorl.Maintenance.Log", {"value": 20})["value"]
    found = [line for line in lines if line["event"] == "release"]
    assert found and found[0]["outcome"] == "released" and "purpose-bank" in found[0]["detail"], lines
    journal = subprocess.run(
        ["journalctl", "-o", "cat", "-u", "whorld.service", "-t", "whorld"], capture_output=True, text=True, check=True
    ).stdout
    assert "steal" in journal, journal[-2000:]
