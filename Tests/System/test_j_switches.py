# SPDX-License-Identifier: Apache-2.0
# Docs/Security.md: S57
"""The switches of the settings for all users: pkexec runs their helper as root after an administrator's password."""

import contextlib
import pathlib
import subprocess

from people import act, profiles
from run import allow, nightly
from test_j_logins import PASSWORD
from test_j_polkit import shell, type_password

HELPER = "/usr/libexec/whorl/whorl-settings-helper"
FILE = pathlib.Path("/etc/pam.d/sudo")
# polkit's agent for terminals, and then a request.
AGENT = "set +m; pkttyagent --process $$ & sleep 3; "


def accepts():
    return "pam_whorl.so" in FILE.read_text()


def pkexec(user, *words, **variables):
    """Runs the helper as a user without an agent, and returns the status."""

    def body():
        command = ["pkexec", "--disable-internal-agent", HELPER, *words]
        environment = {"PATH": "/usr/bin:/bin", "SHELL": "/bin/sh", **variables}
        return subprocess.run(command, env=environment, capture_output=True, timeout=60).returncode

    return act(user, body)


@contextlib.contextmanager
def asking():
    """The rules of the installed policy, without those of the other tests."""
    subprocess.run(["whorl", "pam", "remove", "sudo"], check=True)
    allow("false")
    try:
        yield
    finally:
        allow("subject.user == 'owner'")
        subprocess.run(["whorl", "pam", "remove", "sudo"], check=True)


def test_switch_is_moved_only_after_an_administrators_password():
    with asking():
        for user in ("mallory", "owner"):
            assert pkexec(user, "sudo", "on", "sudo") == 127 and not accepts(), user
        for password, moved in (("wrong", False), (PASSWORD, True)):
            with shell() as child:
                child.sendline(f"{AGENT}pkexec --disable-internal-agent {HELPER} sudo on sudo; echo ended-$?")
                child.expect("change whether sudo accepts fingerprints")
                child.expect("Password: ")
                type_password(child, password)
                assert child.expect(["AUTHENTICATION FAILED", "ended-0"]) == moved, child.before
            assert accepts() == moved, password
        with shell() as child:
            child.sendline(f"{AGENT}pkexec --disable-internal-agent {HELPER} sudo off sudo; echo ended-$?")
            child.expect("Password: ")
            type_password(child, PASSWORD)
            child.expect("ended-0")
        assert not accepts()


def test_each_switch_has_its_own_permission_and_no_other_command_has_any():
    with asking():
        allow("subject.user == 'owner' && action.id == 'io.whorl.settings.sudo'")
        assert pkexec("mallory", "sudo", "on", "sudo") == 127 and not accepts()
        for words in (
            ("all", "on"), ("keyring", "on"), ("login", "on", "login"), ("administrator", "on", "polkit-1"), ("su", "on", "su"),
            ("--help",), (),
        ):
            assert pkexec("owner", *words) == 127, words
        for words in (
            ("sudo",), ("sudo", "on"), ("sudo", "on", "su"), ("sudo", "on", "../../tmp/x"), ("sudo", "on", "sudo", "--folder", "/tmp"),
            ("sudo", "add", "sudo"), ("sudo", "on", ""), ("sudo", "on", "--folder=/tmp"),
        ):
            assert pkexec("owner", *words) == 64 and not accepts(), words


def test_surroundings_of_the_user_do_not_reach_the_command():
    evil = pathlib.Path("/tmp/evil")
    evil.mkdir(exist_ok=True)
    for name in ("whorl", "sh", "perl"):
        (evil / name).write_text("#!/bin/sh\ntouch /run/evil\n")
        (evil / name).chmod(0o755)
    hostile = {
        "PATH": f"{evil}:/usr/bin", "IFS": "/", "ENV": "/tmp/evil/whorl", "PERL5LIB": "/tmp/evil",
        "WHORL_STATE_DIR": "/tmp/evil", "HOME": "/tmp/evil", "TMPDIR": "/tmp/evil",
    }
    with asking():
        allow("subject.user == 'owner'")
        assert pkexec("owner", "sudo", "on", "sudo", **hostile) == 0 and accepts()
        assert pkexec("owner", "sudo", "off", "sudo", **hostile) == 0 and not accepts()
        # pkexec itself refuses some values.
        assert pkexec("owner", "sudo", "on", "sudo", LANG="../../tmp") == 127 and not accepts()
    assert not pathlib.Path("/run/evil").exists()


@nightly("the switch of one service is by day")
def test_profiles_are_switched_for_all_services():
    profiles()
    with asking():
        allow("subject.user == 'owner'")
        for kind, file in (("all", "common-auth"), ("keyring", "common-session")):
            text = pathlib.Path("/etc/pam.d") / file
            before = text.read_text()
            assert pkexec("owner", kind, "on") == 0 and "pam_whorl.so" in text.read_text(), kind
            assert pkexec("owner", kind, "off") == 0 and text.read_text() == before, kind
