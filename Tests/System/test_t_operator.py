# SPDX-License-Identifier: Apache-2.0
# Docs/Security.md: A2d
"""An administrator who enrolls other people's first fingers, and people who have everything deleted."""

import json
import os
import pathlib
import pwd
import signal
import subprocess
import threading

import pexpect

from people import act, command, lay, sit, start, whorl
from run import allow
from whorl_client import Refused, call

PEOPLE = [f"visitor{number}" for number in range(10)]
STATE = pathlib.Path("/var/lib/whorl")


def nowhere(_):
    """The place of a process in no session."""


def state(user):
    return STATE / str(pwd.getpwnam(user).pw_uid)


def enroll(user, finger, *words):
    """Enrolls for someone, who touches the reader, and returns the exit status and the output."""
    process = start("enroll", "right-index", "--for", user, "--json", *words)
    lay(finger, 8, asking=process)
    out, err = process.communicate(timeout=240)
    return process.returncode, out + err


def verify(asked):
    try:
        assert call("io.whorl.Login.Verify", asked, update=lambda _: None)["matched"]
        return "matched"
    except Refused as error:
        return error.parameters["reason"]


def login(user, finger, expected):
    """Touches the reader for a login of the user, which must be matched, or refused for this reason."""
    outcome = touch_for_login(user, finger)
    assert outcome == expected, (user, finger, outcome)


def touch_for_login(user, finger):
    """As su(1) at the seat."""
    asked = {"user": pwd.getpwnam(user).pw_uid, "service": "su", "timeoutMilliseconds": 20_000, "mostTries": 1}
    ended = threading.Event()
    toucher = threading.Thread(target=lay, args=(finger, 1, Running(lambda: not ended.is_set())))
    toucher.start()
    try:
        return act("root", verify, asked, place=lambda _: sit("owner"))
    finally:
        ended.set()
        toucher.join()


class Running:
    """Something that may have ended, with the method of subprocess."""

    def __init__(self, is_running):
        self.is_running = is_running

    def poll(self):
        return None if self.is_running() else 0


def test_t_first_finger_of_another_user_requires_an_administrators_password():
    for user in (*PEOPLE, "keeper"):
        subprocess.run(["useradd", "-m", user], check=True)
    allow("false")
    try:
        # Without the rule: auth_admin_keep, asked by polkit's agent on the terminal.
        for password, is_good in (("wrong", False), ("owner", True)):
            program, *words = command("owner", "TERM=dumb", "whorl", "enroll", "right-index", "--for", PEOPLE[0], "--no-guided")
            child = pexpect.spawn(program, words, encoding="utf-8", timeout=120, preexec_fn=lambda: sit("owner"))
            child.expect("Password:")
            child.sendline(password)
            if is_good:
                # The screen says for whom.
                child.expect(f"finger of {PEOPLE[0]}")
                lay(PEOPLE[0], 8, asking=Running(child.isalive))
            child.expect(pexpect.EOF)
            child.close()
            assert (child.exitstatus == 0) == is_good, (password, child.exitstatus, child.before)
        # The password was for that process.
        outcome = whorl("enroll", "right-index", "--for", PEOPLE[1], check=False)
        assert outcome.returncode == 36, outcome
    finally:
        allow("subject.user == 'owner'")
    login(PEOPLE[0], PEOPLE[0], "matched")
    login(PEOPLE[0], "stranger", "notMatched")


def test_t_list_of_people_is_enrolled_also_after_the_power_was_cut():
    names = pathlib.Path("/home/owner/people")
    names.write_text("# visitors\n" + "\n".join(PEOPLE) + "\n")
    process = start("enroll", "right-index", "--from", str(names), "--json")
    for user in PEOPLE[1:4]:
        for line in process.stdout:
            if b'"event":"user"' in line and user.encode() in line:
                break
        lay(user, 6)
    # The service and its client end at once, in the middle of someone's touches.
    lay(PEOPLE[4], 2)
    subprocess.run(["systemctl", "kill", "--signal=KILL", "whorld.service"], check=True)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process = start("enroll", "right-index", "--from", str(names), "--json")
    done = []
    for line in process.stdout:
        if b'"event":"user"' not in line:
            last = line
            continue
        user = next(user for user in reversed(PEOPLE) if f'"{user}"'.encode() in line)
        if not enrolled(user):
            lay(user, 6)
            done.append(user)
    assert process.wait() == 0, (last, process.stderr.read())
    assert done[-1] == PEOPLE[9] and PEOPLE[0] not in done, done
    for user in PEOPLE:
        login(user, user, "matched")
    login(PEOPLE[9], PEOPLE[8], "notMatched")


def enrolled(user):
    """The user's enrolled fingers."""
    return act(user, call, "io.whorl.Fingers.List", place=nowhere)["value"]


def test_t_nobody_is_enrolled_who_has_something_or_by_those_who_may_not():
    status, text = enroll(PEOPLE[3], "stranger")
    assert status == 10 and b"ownerNeeded" in text, (status, text)
    whorl("secret", "add", "safe", "--access", "biometry-any", user="keeper", secret=b"mine", place=nowhere)
    status, text = enroll("keeper", "stranger")
    assert status == 10 and b"ownerNeeded" in text and enrolled("keeper") == [], (status, text)
    # A user without the right, one in no session, and names of no one.
    for user, place in (("mallory", nowhere), ("owner", nowhere)):
        outcome = whorl("enroll", "right-index", "--for", PEOPLE[1], user=user, check=False, place=place)
        assert outcome.returncode in (20, 36), outcome
    assert enroll("no-such-user", "stranger")[0] == 64
    for user in ("root", "nobody", "whorl"):
        assert enroll(user, "stranger")[0] == 64, user
    assert subprocess.run(["whorl", "forget-me", "--yes"], capture_output=True, check=False).returncode == 36


def test_t_operator_and_person_both_find_it_in_their_logs():
    log = act(PEOPLE[0], call, "io.whorl.Maintenance.Log", {"value": 50}, place=nowhere)["value"]
    assert any(line["outcome"] == "fingerEnrolled" and line.get("asker", {}).get("user") == 1000 for line in log), log
    mine = act("owner", call, "io.whorl.Maintenance.Log", {"value": 50})["value"]
    assert any(line["outcome"] == "fingerEnrolledFor" for line in mine), mine


def test_t_operator_who_has_stored_nothing_finds_it_in_the_log_too():
    aside = STATE.parent / "whorl-owner-aside"
    subprocess.run(["systemctl", "stop", "whorld.service"], check=True)
    state("owner").rename(aside)
    try:
        subprocess.run(["whorl", "account", "remove", PEOPLE[2], "--existing"], capture_output=True, check=True)
        status, text = enroll(PEOPLE[2], PEOPLE[2])
        assert status == 0, (status, text)
        mine = act("owner", call, "io.whorl.Maintenance.Log", {"value": 50})["value"]
        assert any(line["outcome"] == "fingerEnrolledFor" for line in mine), mine
    finally:
        subprocess.run(["systemctl", "stop", "whorld.service"], check=True)
        subprocess.run(["rm", "-rf", str(state("owner"))], check=True)
        aside.rename(state("owner"))


def test_t_enrollment_fails_if_everything_of_the_person_is_deleted_meanwhile():
    subprocess.run(["whorl", "account", "remove", PEOPLE[2], "--existing"], capture_output=True, check=True)
    process = start("enroll", "right-index", "--for", PEOPLE[2], "--json")
    lay(PEOPLE[2], 3, asking=process)
    subprocess.run(["whorl", "account", "remove", PEOPLE[2], "--existing"], capture_output=True, check=True)
    lay(PEOPLE[2], 5, asking=process)
    out, err = process.communicate(timeout=240)
    assert enrolled(PEOPLE[2]) == [] and process.returncode == 13, (process.returncode, out, err)
    status, text = enroll(PEOPLE[2], PEOPLE[2])
    assert status == 0, (status, text)


def test_t_list_goes_on_after_a_name_that_cannot_be_enrolled():
    names = pathlib.Path("/home/owner/names")
    names.write_text("root\nwhorl\nno-such-user\n" + PEOPLE[3] + "\n")
    outcome = whorl("enroll", "right-index", "--from", str(names), "--json", check=False)
    result = json.loads(outcome.stdout.splitlines()[-1]).get("result", {})
    assert outcome.returncode == 1 and result.get("there") == [PEOPLE[3]], outcome
    assert [entry["user"] for entry in result["failed"]] == ["root", "whorl", "no-such-user"], outcome
    names.unlink()


def test_t_everything_of_a_person_is_deleted_by_the_person_and_by_root():
    assert state("keeper").exists()
    refused = whorl("forget-me", "--yes", user="keeper", check=False, place=nowhere)
    assert refused.returncode == 36 and state("keeper").exists(), refused
    allow("subject.user == 'keeper' || subject.user == 'owner'")
    try:
        whorl("forget-me", "--yes", user="keeper", place=nowhere)
    finally:
        allow("subject.user == 'owner'")
    assert not state("keeper").exists()
    assert whorl("secret", "list", user="keeper", place=nowhere).stdout == b"No secrets.\n"
    # A person with a finger alone must touch the reader, and cannot from another place.
    refused = whorl("forget-me", "--yes", user=PEOPLE[1], check=False, place=nowhere)
    assert refused.returncode == 20 and state(PEOPLE[1]).exists(), refused
    refused = subprocess.run(["whorl", "account", "remove", PEOPLE[1]], capture_output=True, check=False)
    assert refused.returncode != 0 and state(PEOPLE[1]).exists(), refused
    subprocess.run(["whorl", "account", "remove", PEOPLE[1], "--existing"], capture_output=True, check=True)
    assert not state(PEOPLE[1]).exists()
    login(PEOPLE[1], PEOPLE[1], "noFingers")
    # The person begins again.
    status, text = enroll(PEOPLE[1], "new")
    assert status == 0, (status, text)
    login(PEOPLE[1], "new", "matched")


def test_t_deletion_that_could_not_be_completed_continues_at_the_next_start():
    folder = state(PEOPLE[1])
    record = STATE / f"removed-{folder.name}"
    restart = ["systemctl", "restart", "whorld.service"]
    # A mount point cannot be moved aside.
    subprocess.run(["mount", "--bind", folder, folder], check=True)
    try:
        subprocess.run(restart, check=True)
        failed = subprocess.run(["whorl", "account", "remove", PEOPLE[1], "--existing"], capture_output=True, check=False)
        assert failed.returncode != 0 and folder.exists() and record.is_symlink(), failed
    finally:
        subprocess.run(["umount", folder], check=True)
    subprocess.run(restart, check=True)
    whorl("fingers", "--json")
    assert not folder.exists() and not record.is_symlink()
    status, text = enroll(PEOPLE[1], "new")
    assert status == 0, (status, text)


def test_t_people_are_removed_with_their_accounts():
    for user in (*PEOPLE, "keeper"):
        number = pwd.getpwnam(user).pw_uid
        subprocess.run(["userdel", "--remove", user], check=True, capture_output=True)
        assert not (STATE / str(number)).exists(), user
    os.unlink("/home/owner/people")
