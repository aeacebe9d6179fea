# SPDX-License-Identifier: Apache-2.0
# Docs/Security.md: S45
"""Logins by a finger: sudo and su with the installed module, and a service that is away, stuck or killed."""

import os
import pathlib
import shutil
import signal
import subprocess
import time

import pexpect

from people import Terminal, act, forgive, lay, profiles, service_pid, sit
from run import nightly
from test_e_askers import remotely
from whorl_client import Refused, call

PROMPT = "Password or touch: "
PASSWORD = "owner"


def sudo(*arguments, user="owner", place=sit, text="id -u"):
    """Starts sudo as a user on a terminal of its own."""
    words = ["-u", user, "--", "env", "-i", "PATH=/usr/bin:/bin", "sudo", "-k", *arguments, *text.split()]
    return pexpect.spawn("runuser", words, encoding="utf-8", timeout=60, preexec_fn=lambda: place(user))


def ended(child):
    """Waits for the end, and returns the status and what was shown since the last question."""
    child.expect(pexpect.EOF)
    child.close()
    return child.exitstatus if child.exitstatus is not None else -child.signalstatus, child.before


def descriptors():
    return len(os.listdir(f"/proc/{service_pid()}/fd"))


def hosts():
    found = subprocess.run(["pgrep", "-x", "sudo|su"], capture_output=True, text=True)
    return found.stdout.split()


def journal():
    subprocess.run(["journalctl", "--sync"], check=True)
    return subprocess.run(
        ["journalctl", "-o", "cat", "WHORL_METHOD=io.whorl.Login.Verify"], capture_output=True, text=True, check=True
    ).stdout


def adding(service):
    """Starts whorl pam add as root, as owner's sudo does at the machine's seat."""
    surroundings = {"PATH": "/usr/bin:/bin", "SUDO_UID": "1000"}
    return pexpect.spawn(
        "whorl", ["pam", "add", service], encoding="utf-8", timeout=60, env=surroundings, preexec_fn=lambda: sit("owner")
    )


def test_new_file_is_in_force_only_after_a_person_came_through_it():
    profiles()
    for service in ("sudo", "su"):
        file, folder = pathlib.Path(f"/etc/pam.d/{service}"), sorted(os.listdir("/etc/pam.d"))
        before = file.read_bytes()
        for keys in ("wrong\r", "\x03"):
            child = adding(service)
            child.expect_exact(PROMPT)
            child.send(keys)
            status, text = ended(child)
            assert status == 1 and "nothing was changed" in text, (status, text)
            assert file.read_bytes() == before and sorted(os.listdir("/etc/pam.d")) == folder
        for act_ in (lambda child: lay("right"), lambda child: child.send(f"{PASSWORD}\r")):
            child = adding(service)
            child.expect_exact(PROMPT)
            assert file.read_bytes() == before
            act_(child)
            status, text = ended(child)
            assert status == 0 and PASSWORD not in text and "pam_whorl" in file.read_text(), (status, text)
            subprocess.run(["whorl", "pam", "remove", service], check=True)
            assert file.read_bytes() == before and sorted(os.listdir("/etc/pam.d")) == folder
        refused = subprocess.run(["whorl", "pam", "add", service], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert refused.returncode == 1 and "--no-try" in refused.stderr and file.read_bytes() == before, refused
    assert not [name for name in os.listdir("/run") if name.startswith("whorl-pam-")]


def test_one_program_alone_takes_a_finger_after_whorl_pam_add():
    file = pathlib.Path("/etc/pam.d/sudo")
    before, rights = file.read_text(), file.stat().st_mode
    profiles()
    subprocess.run(["whorl", "pam", "add", "sudo", "--no-try"], check=True)
    try:
        child = sudo()
        child.expect_exact(PROMPT)
        lay("right")
        assert ended(child) == (0, "\r\n0\r\n")
        child = sudo()
        child.expect_exact(PROMPT)
        child.send(f"{PASSWORD}\r")
        assert ended(child) == (0, "\r\n0\r\n")
        words = ["-u", "owner", "--", "su", "owner", "-c", "id -un"]
        child = pexpect.spawn("runuser", words, encoding="utf-8", timeout=60, preexec_fn=lambda: sit("owner"))
        assert child.expect_exact([PROMPT, "Password: "]) == 1
        child.close(force=True)
    finally:
        subprocess.run(["whorl", "pam", "remove", "sudo"], check=True)
    assert (file.read_text(), file.stat().st_mode) == (before, rights)
    child = sudo()
    assert child.expect_exact([PROMPT, "password for owner: "]) == 1
    child.close(force=True)


def test_module_is_asked_after_pam_auth_update_and_not_before():
    assert "pam_whorl" not in pathlib.Path("/etc/pam.d/common-auth").read_text()
    profiles("whorl")
    lines = [
        line.split() for line in pathlib.Path("/etc/pam.d/common-auth").read_text().splitlines()
        if line.startswith("auth")
    ]
    assert lines[0] == ["auth", "[success=2", "conv_err=die", "default=ignore]", "pam_whorl.so", "keyring"], lines
    assert lines[1][-1] == "try_first_pass" and lines[1][-2:][0] != "pam_permit.so", lines
    assert lines[2] == ["auth", "requisite", "pam_deny.so"], lines


def test_right_finger_is_root():
    child = sudo()
    child.expect_exact(PROMPT)
    lay("right")
    assert ended(child) == (0, "\r\n0\r\n")
    said = journal().splitlines()[-1]
    assert "(unverified name; sudo, process " in said and "asked: “log in as user 1000 on /dev/pts/" in said, said
    assert said.endswith(": done"), said


def test_prompt_is_in_the_language_of_the_person():
    # glibc 2.41 and later translate nothing in the locale C.UTF-8. A locale of another name with the same data is enough.
    german = pathlib.Path("/usr/lib/locale/de_DE.utf8")
    if not german.exists():
        shutil.copytree("/usr/lib/locale/C.utf8", german)
    words = ["-u", "owner", "--", "env", "-i", "PATH=/usr/bin:/bin", "LC_ALL=de_DE.UTF-8", "sudo", "-k", "id", "-u"]
    child = pexpect.spawn("runuser", words, encoding="utf-8", timeout=60, preexec_fn=lambda: sit("owner"))
    child.expect_exact("Passwort oder Berührung: ")
    lay("left")
    child.expect_exact("Nicht erkannt. Noch 2 Versuche.")
    lay("right")
    assert ended(child)[0] == 0


def test_wrong_finger_is_told_and_the_password_is_asked_for():
    child = sudo()
    child.expect_exact(PROMPT)
    lay("left")
    child.expect("Not recognized")
    child.expect_exact(PROMPT)
    child.send(f"{PASSWORD}\r")
    assert ended(child) == (0, "\r\n0\r\n")
    forgive()


def test_three_wrong_fingers_leave_the_password():
    child = sudo()
    child.expect_exact(PROMPT)
    lay("left", 3)
    child.expect("password for owner")
    child.send(f"{PASSWORD}\r")
    assert ended(child)[0] == 0
    forgive()


def test_password_is_taken_while_a_touch_is_waited_for_and_a_wrong_one_is_not():
    child = sudo()
    child.expect_exact(PROMPT)
    child.send(f"{PASSWORD}\r")
    assert ended(child) == (0, "\r\n0\r\n")
    child = sudo()
    for _ in range(3):
        child.expect_exact(PROMPT)
        child.send("wrong\r")
    status, text = ended(child)
    assert status == 1 and "0\r\n" != text[-3:], (status, text)


def test_touch_counts_while_half_a_password_is_typed():
    child = sudo(text="cat")
    child.expect_exact(PROMPT)
    child.send("own")
    time.sleep(1)
    lay("right")
    child.expect_exact("\r\n")
    time.sleep(2)
    child.sendeof()
    status, text = ended(child)
    assert status == 0 and "own" not in text, (status, text)


def test_su_asks_for_the_finger_of_the_other_account():
    words = ["-u", "owner", "--", "env", "-i", "PATH=/usr/bin:/bin", "su", "owner", "-c", "id -un"]
    child = pexpect.spawn("runuser", words, encoding="utf-8", timeout=60, preexec_fn=lambda: sit("owner"))
    child.expect_exact(PROMPT)
    lay("right")
    assert ended(child) == (0, "\r\nowner\r\n")


def test_login_on_a_terminal_takes_a_touch_and_a_password():
    for act_ in (lambda child: lay("right"), lambda child: child.send(f"{PASSWORD}\r")):
        child = Terminal("login", ["owner"], encoding="utf-8", timeout=60, env={"PATH": "/usr/bin:/bin"})
        child.expect_exact(PROMPT)
        act_(child)
        child.expect([r"\$ ", "# "])
        child.sendline("echo name-$(id -un)")
        child.expect_exact("name-owner")
        child.sendline("exit")
        child.close(force=True)


def polkit(place):
    """Asks as polkit's helper does: by its service's name, without a terminal of PAM's."""
    words = ["-v", "polkit-1", "owner", "authenticate"]
    return pexpect.spawn("pamtester", words, encoding="utf-8", timeout=60, preexec_fn=place)


def test_polkits_helper_is_answered_in_the_session_at_the_seat_alone():
    child = polkit(lambda: sit("owner"))
    child.expect("finger across the reader|finger on the reader")
    assert PROMPT not in child.before, child.before
    lay("right")
    status, text = ended(child)
    assert status == 0 and "successfully authenticated" in text, (status, text)
    child = polkit(None)
    assert child.expect(["finger", "Password: "]) == 1, child.before
    child.send(f"{PASSWORD}\r")
    status, text = ended(child)
    assert status == 0 and "successfully authenticated" in text, (status, text)


def test_other_user_at_the_prompt_and_outside_any_session_is_not_asked():
    """A program with root's rights that mallory has started far from the seat must get no touch of owner's."""
    words = ["-u", "mallory", "--", "env", "-i", "PATH=/usr/bin:/bin", "su", "owner", "-c", "id -un"]
    child = pexpect.spawn("runuser", words, encoding="utf-8", timeout=60)
    # The service may take longer to refuse than the prompt waits to be shown; nothing is asked of the reader.
    child.expect_exact("\r\nPassword: " if child.expect_exact([PROMPT, "Password: "]) == 0 else "")
    child.send("wrong\r")
    assert ended(child)[0] != 0
    assert journal().splitlines()[-1].endswith(": notInteractive"), journal().splitlines()[-1]


def test_user_may_not_ask_himself():
    asked = {"user": 1000, "service": "sudo", "timeoutMilliseconds": 1000}
    for user in ("owner", "mallory"):
        try:
            act(user, call, "io.whorl.Login.Verify", asked)
            raise AssertionError("was answered")
        except Refused as error:
            assert error.name == "io.whorl.Login.RootAlone", error.name


def test_interrupt_ends_sudo_and_su_and_shows_keys_again():
    for words in (["sudo", "-k", "id"], ["su", "owner", "-c", "id"]):
        shell = pexpect.spawn(
            "runuser", ["-u", "owner", "--", "env", "-i", "PATH=/usr/bin:/bin", "PS1=$ ", "sh", "-i"],
            encoding="utf-8", timeout=60, preexec_fn=lambda: sit("owner"),
        )
        shell.expect_exact("$ ")
        shell.sendline(" ".join(words))
        shell.expect_exact(PROMPT)
        shell.send("\x03")
        shell.expect_exact("$ ")
        shell.sendline("stty -a; echo st$?")
        shell.expect(r"st0\r\n")
        assert " echo " in shell.before and " icanon " in shell.before and "uid=0" not in shell.before, shell.before
        shell.sendline("exit")
        shell.close(force=True)
    assert hosts() == [], hosts()


def test_stopped_job_asks_again():
    shell = pexpect.spawn(
        "runuser", ["-u", "owner", "--", "env", "-i", "PATH=/usr/bin:/bin", "PS1=$ ", "bash", "--norc", "-i"],
        encoding="utf-8", timeout=60, preexec_fn=lambda: sit("owner"),
    )
    shell.expect_exact("$ ")
    shell.sendline("sudo -k id -u")
    shell.expect_exact(PROMPT)
    shell.send("\x1a")
    shell.expect("Stopped")
    shell.expect_exact("$ ")
    shell.sendline("fg")
    shell.expect_exact(PROMPT)
    lay("right")
    shell.expect_exact("\r\n0\r\n")
    shell.sendline("exit")
    shell.close(force=True)


def test_login_from_another_machine_is_not_asked_for_a_touch():
    status, text = remotely("sudo -k -S -p pass-word: id -u </dev/null")
    assert status != 0 and "uid=" not in text, (status, text)
    assert journal().splitlines()[-1].endswith(": notInteractive"), (text, journal().splitlines()[-1])


def test_service_that_is_stopped_or_masked_leaves_the_password_at_once():
    subprocess.run(["systemctl", "stop", "whorld.socket", "whorld.service"], check=True)
    try:
        begun = time.monotonic()
        child = sudo()
        found = child.expect_exact([PROMPT, "password for owner: "])
        took = time.monotonic() - begun
        assert found == 1, child.before
        child.send(f"{PASSWORD}\r")
        assert ended(child)[0] == 0
        print(f"      sudo's own prompt after {took * 1000:.0f} ms")
    finally:
        subprocess.run(["systemctl", "start", "whorld.socket"], check=True)


@nightly("a stopped, a masked and a killed service are by day")
def test_machine_with_a_broken_service_is_entered_by_password():
    folder = pathlib.Path("/etc/systemd/system/whorld.service.d")
    (folder / "broken.conf").write_text("[Service]\nExecStart=\nExecStart=/usr/libexec/whorl/whorld --nonsense\n")
    subprocess.run(["systemctl", "daemon-reload"], check=True)
    subprocess.run(["systemctl", "stop", "whorld.service"], check=True)
    try:
        for _ in range(3):
            child = sudo()
            found = child.expect_exact([PROMPT, "password for owner: "])
            child.send(f"{PASSWORD}\r")
            assert ended(child)[0] == 0, found
    finally:
        (folder / "broken.conf").unlink()
        subprocess.run(["systemctl", "daemon-reload"], check=True)
        subprocess.run(["systemctl", "reset-failed", "whorld.service", "whorld.socket"])
        subprocess.run(["systemctl", "restart", "whorld.socket"], check=True)


def test_service_that_is_killed_or_stuck_in_the_prompt_leaves_the_password():
    child = sudo()
    child.expect_exact(PROMPT)
    time.sleep(2)  # The service has begun to ask: one that starts again would go on with what waits in its socket.
    os.kill(service_pid(), signal.SIGKILL)
    child.expect_exact("password for owner: ")
    child.send(f"{PASSWORD}\r")
    assert ended(child)[0] == 0
    child = sudo()
    child.expect_exact(PROMPT)
    time.sleep(2)
    stuck = service_pid()
    os.kill(stuck, signal.SIGSTOP)
    try:
        child.send(f"{PASSWORD}\r")
        assert ended(child)[0] == 0
    finally:
        os.kill(stuck, signal.SIGCONT)


def test_variables_of_the_caller_have_no_effect():
    words = ["-u", "owner", "--", "env", "LD_PRELOAD=/nowhere.so", "LD_DEBUG=all", "SWIFT_DEBUG_HELP=YES",
             "SWIFT_BACKTRACE=enable=yes", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nowhere", "WHORL_SERVICE=private",
             "sudo", "-k", "id", "-u"]
    child = pexpect.spawn("runuser", words, encoding="utf-8", timeout=60, preexec_fn=lambda: sit("owner"))
    child.expect_exact(PROMPT)
    assert "SWIFT" not in child.before, child.before
    lay("right")
    assert ended(child) == (0, "\r\n0\r\n")


def test_module_is_taken_out_of_the_stacks_again():
    profiles()
    assert "pam_whorl" not in pathlib.Path("/etc/pam.d/common-auth").read_text()
    child = sudo()
    assert child.expect_exact([PROMPT, "password for owner: "]) == 1
    child.send(f"{PASSWORD}\r")
    assert ended(child)[0] == 0
