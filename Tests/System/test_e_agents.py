# SPDX-License-Identifier: Apache-2.0
"""Programs that show the prompts of other programs, and the configuration that allows them to."""

import multiprocessing
import os
import pathlib
import pty
import select
import subprocess
import time

from people import act, forgive, lay, sit, start, whorl
from run import nightly
from whorl_client import PRESENTER, Client, HungUp, Refused, call, request

CONFIGURATION = pathlib.Path("/etc/whorl/whorld.conf")
PASSCODE = "2468 hunter"


class Agent:
    """An agent in a user's process, written in Python, that calls `answer` for each prompt."""

    def __init__(self, user="owner", answer=None):
        context = multiprocessing.get_context("fork")
        self.seen = context.Queue()
        self.process = context.Process(target=lambda: act(user, self.serve, answer))
        self.process.start()
        first = self.seen.get(timeout=60)
        if first != {"isRegistered": True}:
            raise AssertionError(first)

    def serve(self, answer):
        with Client(timeout=600) as client:
            try:
                client.call("io.whorl.Agent.Register", {"presenter": PRESENTER}, update=lambda u: self.take(u, answer))
            except (Refused, HungUp) as error:
                self.seen.put(repr(error))

    def take(self, update, answer):
        self.seen.put(update)
        if answer and "prompt" in update:
            answer(update["prompt"]["id"], update["prompt"]["prompt"])
        if "end" in update:
            try:
                call("io.whorl.Prompt.Ended", {"prompt": update["end"], "presenter": PRESENTER})
            except Refused:
                pass

    def prompt(self):
        """Waits for the next prompt, and returns its ID."""
        deadline = time.monotonic() + 120
        while True:
            update = self.seen.get(timeout=max(1, deadline - time.monotonic()))
            if "prompt" in update:
                return update["prompt"]["id"]

    def updates(self, wait=3):
        """Returns the messages to the agent, until none arrives for this long."""
        updates = []
        while True:
            try:
                updates.append(self.seen.get(timeout=wait))
            except Exception:
                return updates

    def stop(self):
        # The process of `act` is a child of this one's.
        subprocess.run(["pkill", "-9", "-P", str(self.process.pid)], check=False)
        self.process.kill()
        self.process.join()
        time.sleep(1)


class Terminal:
    """A program on a separate terminal; owner is at the machine's seat."""

    def __init__(self, *arguments, user="owner"):
        self.text = b""
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            sit(user)
            os.execvp("runuser", ["runuser", "-u", user, "--", "env", "-i", "PATH=/usr/bin:/bin", "TERM=xterm",
                                  f"HOME=/home/{user}", "LANG=C.UTF-8", *arguments])

    def wait_for(self, text, seconds=60):
        deadline = time.monotonic() + seconds
        while text not in self.text:
            assert time.monotonic() < deadline, self.text
            if select.select([self.terminal], [], [], 0.5)[0]:
                self.text += os.read(self.terminal, 65536)

    def type(self, text):
        os.write(self.terminal, text)

    def end(self):
        self.type(b"\x03")
        deadline = time.monotonic() + 30
        while True:
            try:
                if select.select([self.terminal], [], [], 0.5)[0]:
                    self.text += os.read(self.terminal, 65536)
            except OSError:
                pass
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            assert time.monotonic() < deadline, self.text


def configure(text):
    CONFIGURATION.write_text(text)
    subprocess.run(["systemctl", "reset-failed", "whorld.service", "whorld.socket"], check=False)
    subprocess.run(["systemctl", "stop", "whorld.service"], check=True)
    subprocess.run(["systemctl", "restart", "whorld.socket"], check=True)


def error_of(outcome):
    import json

    return json.loads(outcome.stdout.decode().splitlines()[-1])["error"]


def test_another_program_shows_the_prompts_of_the_owners_programs():
    agent = Agent()
    try:
        process = start("evaluate", "--reason", "sign the release")
        lay("right")
        out, err = process.communicate(timeout=240)
        assert process.returncode == 0 and b"matched: right-index-finger" in out, (out, err)
        # The calling program does not show anything.
        assert b"sign the release" not in err, err
        updates = agent.updates()
        prompts = [update["prompt"] for update in updates if "prompt" in update]
        assert [one["prompt"]["reason"] for one in prompts] == ["sign the release"], updates
        changes = [update["change"] for update in updates if "change" in update]
        assert changes[-1]["update"] == {"event": "matched", "finger": "right-index-finger"}, changes
        assert all(change["prompt"] == prompts[0]["id"] for change in changes)
    finally:
        agent.stop()


def set_passcode():
    """Sets the owner's passcode, with consent given by the enrolled finger."""
    process = start("passcode", "set", "--passcode-fd", "0", secret=PASSCODE.encode() + b"\n")
    lay("right")
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, (out, err)


def test_terminal_agent_shows_a_prompt_and_takes_the_passcode():
    set_passcode()
    agent = Terminal("whorl", "agent")
    agent.wait_for(b"authentication prompts")
    process = start("evaluate", "--reason", "open the door")
    agent.wait_for(b"open the door", 120)
    lay("right")
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0 and b"right-index-finger" in out, (out, err)
    agent.wait_for(b"Matched")
    process = start("evaluate", "--reason", "type it", "--policy", "device-owner")
    agent.wait_for(b"type it")
    # Input typed before the prompt is discarded.
    time.sleep(3)
    agent.type(b"\t")
    agent.wait_for(b"Passcode")
    agent.type(PASSCODE.encode() + b"\r")
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0 and b"correct passcode" in out, (out, err, agent.text)
    assert PASSCODE.encode() not in agent.text, "the passcode was shown"
    assert agent.end() == 0, agent.text


def yes(identity, _):
    """Answers a prompt with everything that an attacker can send."""
    for method in ("Ended", "Submit", "Typing", "Close", "Matched", "Update"):
        for message in (
            {"prompt": identity, "update": {"event": "matched", "finger": "right-index-finger"}},
            {"prompt": identity, "value": True},
        ):
            try:
                call(f"io.whorl.Prompt.{method}", message)
            except (Refused, HungUp):
                pass
    call("io.whorl.Prompt.Submit", {"prompt": identity, "passcode": 0}, secrets=[b"guessed!"])


def test_b3_agent_that_says_yes_to_everything_gets_no_success():
    agent = Agent(answer=yes)
    try:
        process = start("secret", "get", "wifi", "--json")
        lay("left", 3)
        out, err = process.communicate(timeout=240)
        assert process.returncode == 10 and b"geheim" not in out, (out, err)
    finally:
        agent.stop()
    forgive()


def answer_others(identity):
    answers = []
    for method, more in (("Typing", {}), ("Close", {}), ("Ended", {"presenter": PRESENTER, "action": "cancel"})):
        answers.append(call(f"io.whorl.Prompt.{method}", {"prompt": identity, **more}))
    answers.append(call("io.whorl.Prompt.Submit", {"prompt": identity, "passcode": 0}, secrets=[b"guessed!"]))
    return answers


def test_b3_prompt_of_an_agent_is_answered_by_its_process_alone():
    agent = Agent()
    try:
        process = start("evaluate", "--reason", "a test")
        identity = agent.prompt()
        for user in ("owner", "mallory", "root"):
            answers = act(user, answer_others, identity)
            assert answers == [{"value": False}] * 4, (user, answers)
        lay("right")
        out, err = process.communicate(timeout=240)
        assert process.returncode == 0, (out, err)
    finally:
        agent.stop()


def register():
    try:
        call("io.whorl.Agent.Register", {"presenter": PRESENTER}, update=lambda _: None)
    except Refused as error:
        return error.name, error.parameters["code"]
    return None


def test_second_agent_is_refused_and_another_users_shows_other_prompts():
    agent = Agent()
    other = None
    try:
        assert act("owner", register) == ("io.whorl.Failed", "agentTaken")
        other = Agent(user="mallory")
        process = start("evaluate", "--reason", "a test")
        agent.prompt()
        lay("right")
        out, err = process.communicate(timeout=240)
        assert process.returncode == 0, (out, err)
        assert not [update for update in other.updates() if "prompt" in update]
    finally:
        agent.stop()
        if other:
            other.stop()


def test_agent_that_dies_ends_the_request_and_frees_the_reader():
    agent = Agent()
    process = start("evaluate", "--reason", "a test", "--json")
    agent.prompt()
    agent.stop()
    out, err = process.communicate(timeout=240)
    assert process.returncode == 13 and b"agent" in out, (process.returncode, out, err)
    forgive()


def test_configuration_can_demand_an_agent_or_forbid_one():
    before = CONFIGURATION.read_text()
    try:
        configure("[Prompt]\nAgent=required\n")
        outcome = whorl("evaluate", "--reason", "a test", "--json", check=False)
        error = error_of(outcome)
        assert outcome.returncode == 20 and "whorl agent" in error["recovery"], error
        configure("[Prompt]\nAgent=never\n")
        assert act("owner", register) == ("io.whorl.Failed", "agentNotAllowed")
        forgive()
    finally:
        configure(before)


def test_configuration_names_the_only_reader():
    before = CONFIGURATION.read_text()
    try:
        configure("[Reader]\nId=another-reader\n")
        outcome = whorl("evaluate", "--reason", "a test", "--json", check=False)
        error = error_of(outcome)
        assert error["code"] == "readerNotChosen" and "another-reader" in error["message"], error
        assert str(CONFIGURATION) in error["recovery"], error
    finally:
        configure(before)
    forgive()


@nightly("five failures are by day")
def test_configuration_locks_fingers_after_one_failure():
    before = CONFIGURATION.read_text()
    if verified().returncode != 0:
        set_passcode()
    try:
        configure("[Tries]\nFingers=1\n")
        process = start("evaluate", "--reason", "a test", "--json")
        lay("left")
        out, err = process.communicate(timeout=240)
        assert process.returncode == 17 and b"biometryLockout" in out, (process.returncode, out, err)
    finally:
        configure(before)
        assert verified().returncode == 0
    forgive()


def verified():
    """Verifies the owner's passcode, which ends a lockout of the fingers."""
    return whorl("passcode", "verify", "--passcode-fd", "0", secret=PASSCODE.encode(), check=False)


def test_configuration_that_is_wrong_keeps_the_service_from_starting_and_doctor_says_why():
    before = CONFIGURATION.read_text()
    sentence = "invalid value “sometimes” for [Prompt] Agent. Allowed: required, preferred, never."
    try:
        configure("[Prompt]\nAgent=sometimes\n")
        outcome = whorl("doctor", check=False)
        assert outcome.returncode == 1 and sentence in outcome.stdout.decode(), outcome
        journal = subprocess.run(["journalctl", "-u", "whorld", "--no-pager"], capture_output=True, text=True).stdout
        assert sentence in journal, journal[-2000:]
        configure("[Prompts]\nAgent=never\n")
        assert "unknown section [Prompts]" in whorl("doctor", check=False).stdout.decode()
        forgive()
    finally:
        configure(before)


def ask_for_long():
    began = time.monotonic()
    parameters = {"call": {"request": request(timeoutMilliseconds=86_400_000)}, "presenter": PRESENTER}
    try:
        call("io.whorl.Owner.Evaluate", parameters, update=lambda _: None)
    except Refused as error:
        return error.parameters["code"], time.monotonic() - began
    return None


@nightly("waits for time limits")
def test_program_keeps_the_reader_no_longer_than_the_configuration_says():
    before = CONFIGURATION.read_text()
    try:
        configure("[Timeout]\nLongestSeconds=10\n")
        code, seconds = act("owner", ask_for_long)
        assert code == "timedOut" and seconds < 30, (code, seconds)
    finally:
        configure(before)
