# SPDX-License-Identifier: Apache-2.0
# Docs/Security.md: S62
"""SSH, git and age with the desktop's prompt program in a session of logind's.

What SYSTEM_DESKTOP and SYSTEM_PACKAGES must be is said in test_l_keyring_prompter.py, whose display these tests use. What the
window says is tested in Desktop/Tests/test_ssh.py.
"""

import pathlib
import shutil
import time

from people import forgive, lay, lock, reader_waits
from test_l_keyring_on_demand import wait
from test_l_keyring_prompter import PATIENCE, begin_screen, desktop, gone, manager, press, window, windows
from test_s_ssh import HOME, SOCKET, WORDS, owner, server, test_s_user_enables_the_agent_and_creates_a_key as enable

REPOSITORY, KEY, FILE = f"{HOME}/repository", f"{HOME}/age-desktop", f"{HOME}/desktop.age"
screen = None


def start_prompt():
    """Starts the prompt program, and waits until the service shows prompts with it."""
    manager("start", "whorl-prompt.service")
    deadline = time.monotonic() + PATIENCE
    while True:
        login = owner(*WORDS, wait=False)
        wait(lambda: windows() or login.poll() is not None, PATIENCE)
        ended = login.poll() is not None
        if not ended:
            press("whorl-prompt", "key", "Escape")
        said = login.communicate(timeout=PATIENCE)
        if not ended:
            return
        assert time.monotonic() < deadline, said
        time.sleep(1)


def answered(process, act):
    """Sees the prompt's window, answers it, and returns what the program then prints."""
    wait(lambda: windows() or process.poll() is not None, PATIENCE)
    assert process.poll() is None, process.communicate()
    act(process)
    out, err = process.communicate(timeout=PATIENCE)
    gone()
    return process.returncode, out, err


def touch(process):
    lay("right", asking=process)


@desktop
def test_s_login_with_the_desktops_prompt_succeeds_after_a_touch():
    global screen
    enable()
    screen = begin_screen()
    with server():
        start_prompt()
        _, out, err = answered(owner(*WORDS, wait=False), touch)
        assert out == "arrived\n", err


@desktop
def test_s_wrong_finger_and_a_dismissed_prompt_sign_nothing():
    with server():
        _, out, _ = answered(owner(*WORDS, wait=False), lambda process: lay("left", 3, asking=process))
        assert "arrived" not in out
        begun = time.monotonic()
        _, out, _ = answered(owner(*WORDS, wait=False), lambda _: press("whorl-prompt", "key", "Escape"))
        assert "arrived" not in out and time.monotonic() - begun < 60 and not reader_waits()
    forgive()


@desktop
def test_s_commit_with_the_desktops_prompt_is_signed():
    for name, value in (("email", "owner@example.org"), ("name", "Owner")):
        assert owner("git", "config", "--global", f"user.{name}", value).returncode == 0
    assert owner("whorl", "ssh", "git-setup", "laptop", "--global", "--yes").returncode == 0
    assert owner("sh", "-c", f"rm -rf {REPOSITORY}; git init -q {REPOSITORY}").returncode == 0
    words = ["git", "-C", REPOSITORY, "commit", "-q", "--allow-empty", "-m", "change"]
    status, _, err = answered(owner(*words, wait=False), touch)
    assert status == 0, err
    verified = owner("git", "-C", REPOSITORY, "verify-commit", "HEAD")
    assert verified.returncode == 0 and "Good" in verified.stderr, verified
    assert owner("whorl", "ssh", "git-setup", "--global", "--undo", "--yes").returncode == 0


@desktop
def test_s_file_is_decrypted_with_the_desktops_prompt():
    pathlib.Path(KEY).unlink(missing_ok=True)
    created = owner("whorl", "age", "create", "--output", KEY)
    assert created.returncode == 0, created
    assert owner("sh", "-c", f"printf 'meet at noon' | age -e -i {KEY} -o {FILE}").returncode == 0
    status, out, err = answered(owner("age", "-d", "-i", KEY, FILE, wait=False), touch)
    assert status == 0 and out == "meet at noon", err


@desktop
def test_s_prompt_program_that_is_killed_or_a_locked_screen_signs_nothing():
    with server():
        login = owner(*WORDS, wait=False)
        window()
        manager("kill", "--signal", "SIGKILL", "whorl-prompt.service")
        assert "arrived" not in login.communicate(timeout=PATIENCE)[0] and not reader_waits()
        manager("reset-failed", "whorl-prompt.service")
        start_prompt()
        lock(True)
        try:
            assert "arrived" not in owner(*WORDS).stdout and not windows() and not reader_waits()
        finally:
            lock(False)
        _, out, err = answered(owner(*WORDS, wait=False), touch)
        assert out == "arrived\n", err


@desktop
def test_s_agent_is_turned_off_after_the_desktops_tests():
    removing = owner("whorl", "ssh", "remove", "laptop", wait=False)
    status, _, err = answered(removing, touch)
    assert status == 0, err
    assert owner("whorl", "ssh", "disable").returncode == 0 and not pathlib.Path(SOCKET).exists()
    shutil.rmtree(HOME / ".ssh")
    manager("stop", "whorl-prompt.service")
    screen.terminate()
    screen.wait(60)
