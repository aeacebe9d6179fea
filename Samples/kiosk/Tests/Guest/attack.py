# SPDX-License-Identifier: Apache-2.0
"""Attacks on the kiosk: K1 to K8 of Docs/Security.md."""

import contextlib
import pathlib
import pwd
import re
import subprocess
import time

import run
import screen
from people import lay
from set_up import PAM
from visits import HERE, UNABLE, arrived, arrives, asks, asks_again, begins, begins_again, kiosk, leaves, lets_in, no_one_is_in
from whorl_client import Client

CHOICES = pathlib.Path("/etc/whorl/kiosk.conf")
BEGIN = pathlib.Path("/run/begin")
RESTS = "Too many fingers were not recognized here."
LOCKED = "fingerprints are locked"


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@contextlib.contextmanager
def changed(file, text):
    """Gives a file another content, and gives it back."""
    before = file.read_text()
    file.write_text(text)
    try:
        yield
    finally:
        file.write_text(before)


def session_does(script):
    """Lets the next sessions do this first."""
    BEGIN.write_text(f"#!/bin/sh\n{script}\n")
    BEGIN.chmod(0o755)


def running(*words):
    return subprocess.run(["pgrep", "-af", " ".join(words)], capture_output=True, text=True).stdout


def pid(unit):
    return output("systemctl", "show", "-P", "MainPID", unit).strip()


def front():
    return pathlib.Path("/sys/class/tty/tty0/active").read_text().strip()


def standing():
    """Returns what no key may change: the console in front, the services, the consoles, and jobs that end the system."""
    jobs = [line for line in output("systemctl", "list-jobs", "--no-legend", "--plain").splitlines() if "start" in line]
    return {
        "front": front(),
        "greetd": pid("greetd.service"),
        "logind": pid("systemd-logind.service"),
        "screen": output("pgrep", "-c", "-x", "kiosk-greeter|our-app").strip(),
        "gettys": subprocess.run(["pgrep", "-c", "-x", "agetty|login|sulogin"], capture_output=True, text=True).stdout.strip(),
        "jobs": jobs,
        "state": output("systemctl", "show", "-P", "SystemState").strip() == "stopping",
    }


def presses_every_key():
    """Presses what could lead away from the screen or end the system; nothing may change.

    The keys that would restart the machine or stop its kernel come last, so that the others are compared before.
    """
    press = kiosk.keyboard.press
    before = standing()
    assert before["front"] == "tty7" and before["gettys"] == "0", before

    def switches_consoles():
        for key in (*screen.FUNCTIONS, screen.UP, screen.LEFT, screen.RIGHT):
            for modifiers in ((screen.CTRL, screen.ALT), (screen.ALT,)):
                press(*modifiers, key)
                assert front() == "tty7", (modifiers, key, front())
        assert standing() == before, (before, standing())

    def requests(*letters):
        for letter in letters:
            press(screen.ALT, screen.SYSRQ, screen.KEYS[letter])

    switches_consoles()
    requests("r")
    switches_consoles()
    requests(*sorted(set(screen.LETTERS) - set("rbcou")))
    for _ in range(8):
        press(screen.CTRL, screen.ALT, screen.DELETE, seconds=0)
    for key in screen.POWER_KEYS:
        press(key)
        press(key, seconds=6)
    time.sleep(3)
    assert standing() == before, (before, standing())
    requests("u", "o", "b", "c")
    time.sleep(3)
    assert standing() == before, (before, standing())


# Docs/Security.md: K1
def test_no_key_restarts_the_machine_or_leads_away_from_the_screen():
    presses_every_key()
    kiosk.types("\x1b")
    lets_in("owner", "right")


# Docs/Security.md: K1
def test_no_key_restarts_the_machine_or_leads_away_from_a_session():
    begins("owner")
    lay("right")
    arrives("owner")
    presses_every_key()
    assert arrived("owner")
    leaves("owner")


# Docs/Security.md: K1
def test_session_may_not_switch_the_machine_off_or_outlive_itself():
    session_does(
        "for what in poweroff reboot suspend halt; do systemctl $what --no-ask-password && echo $what; done >/tmp/allowed 2>&1\n"
        "loginctl enable-linger >>/tmp/allowed 2>&1 && echo linger >>/tmp/allowed"
    )
    try:
        lets_in("owner", "right")
    finally:
        BEGIN.unlink()
    said = pathlib.Path("/tmp/allowed").read_text().splitlines()
    assert not {"poweroff", "reboot", "suspend", "halt", "linger"} & set(said), said
    assert not pathlib.Path("/var/lib/systemd/linger/owner").exists()


# Docs/Security.md: K3b
def test_nothing_that_a_person_leaves_running_outlives_the_session():
    session_does(
        "setsid --fork sh -c 'trap \"\" HUP TERM; exec sleep 47110' </dev/null >/dev/null 2>&1\n"
        "systemd-run --user --quiet --collect sleep 47111\n"
        "loginctl enable-linger 2>/dev/null"
    )
    try:
        begins("owner")
        lay("right")
        arrives("owner")
        assert "47110" in running("sleep 4711"), "nothing was left running"
        leaves("owner")
    finally:
        BEGIN.unlink()
    deadline = time.monotonic() + 30
    while running("sleep 4711"):
        assert time.monotonic() < deadline, running("sleep 4711")
        time.sleep(0.2)


def misses(name, finger, count):
    """A stranger names somebody, and touches until the screen is back; returns what it says then."""
    begins(name)
    lay(finger, count)
    kiosk.sees("page=ask", "You were not let in.")
    no_one_is_in()
    return kiosk.pages()[kiosk.seen - 1]


def unlock(name, user="root"):
    return subprocess.run(
        ["runuser", "-u", user, "--", "whorl", "unlock", "--for", name], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )


def service_says_resting():
    """Asks the service itself, whose first word about a person can take longer on an emulated processor than a login waits."""
    asked = {"user": pwd.getpwnam("ada").pw_uid, "service": "greetd", "terminal": "/dev/tty7", "timeoutMilliseconds": 60000}
    with Client() as client:
        client.send("io.whorl.Login.Verify", asked, more=True)
        answer = client.receive()
    assert answer["parameters"].get("reason") == "resting", answer


def refuses(name, reason):
    """Types a name, for which no touch is asked for; again where the service's first word comes too late, as in begins()."""
    deadline = time.monotonic() + 300
    while True:
        kiosk.forget()
        kiosk.types(f"{name}\n")
        if reason in kiosk.sees_one(("page=ask", reason), ("page=ask", UNABLE)):
            return no_one_is_in()
        assert time.monotonic() < deadline, f"no reason was shown: {reason}"


# Docs/Security.md: K2
def test_screen_rests_after_five_misses_whoever_was_named_and_takes_people_again():
    assert unlock("root").returncode == 0
    assert RESTS not in misses("owner", "left", 3)
    assert RESTS in misses("mallory", "right", 2)
    begin = time.monotonic()
    service_says_resting()
    refuses("ada", RESTS)
    time.sleep(max(0, 61 - (time.monotonic() - begin)))
    # The next miss makes it rest for two minutes, also after a restart of the service.
    assert RESTS in misses("ada", "right", 1)
    begin = time.monotonic()
    subprocess.run(["systemctl", "restart", "whorld.service"], check=True)
    service_says_resting()
    refuses("ada", RESTS)
    time.sleep(max(0, 61 - (time.monotonic() - begin)))
    service_says_resting()
    time.sleep(max(0, 121 - (time.monotonic() - begin)))
    for name, finger in (("ada", "third"), ("owner", "right"), ("mallory", "left")):
        lets_in(name, finger)


# Docs/Security.md: K2
def test_three_people_whom_a_stranger_has_locked_out_are_told_so_and_have_a_way_back():
    people = (("owner", "right"), ("mallory", "left"), ("ada", "third"))
    assert unlock("root").returncode == 0
    for name, own in people:
        misses(name, "stranger", 3)
        # The fifth makes the screen rest before the person is locked out.
        assert RESTS in misses(name, "stranger", 2)
        assert unlock("root").returncode == 0
        assert LOCKED in misses(name, "stranger", 1)
        assert unlock("root").returncode == 0
    kiosk.picture("9-locked")
    for name, own in people:
        refuses(name, LOCKED)
    # Neither the person nor any other account lifts it; the rule with which set_up.py let people enroll ends here.
    run.allow("false")
    for user in ("owner", "mallory"):
        refused = unlock("owner", user)
        assert refused.returncode != 0, refused
    run.allow("action.id == 'io.whorl.unlock' && subject.user == 'mallory'")
    try:
        for name, own in people:
            done = unlock(name, "mallory")
            assert done.returncode == 0 and "unlocked" in done.stdout, done
    finally:
        run.allow("false")
    for name, own in people:
        lets_in(name, own)
    journal = output("journalctl", "-o", "cat", "_SYSTEMD_UNIT=whorld.service", "WHORL_METHOD=io.whorl.Login.Unlock")
    assert journal.count("mallory: ") >= 3 and "unlock the fingers of user 1000" in journal, journal


# Docs/Security.md: K3b
def test_greeter_has_no_group_that_could_open_the_reader():
    groups = output("id", "-Gn", "_greetd").split()
    assert groups == ["_greetd"], groups


# Docs/Security.md: K4
def test_account_with_an_empty_password_opens_nothing():
    subprocess.run(["useradd", "-m", "grace"], check=False)
    for user in ("grace", "root"):
        subprocess.run(["passwd", "--quiet", "--delete", user], check=True)
    try:
        for user in ("grace", "root"):
            kiosk.forget()
            kiosk.types(f"{user}\n")
            asks("reason=")
            no_one_is_in()
        takes_passwords = pathlib.Path("/usr/share/whorl-kiosk/pam-passwords").read_text()
        with changed(PAM, takes_passwords), changed(CHOICES, CHOICES.read_text() + "Passwords=yes\n"):
            begins_again()
            asks_again()
            for user in ("grace", "root"):
                kiosk.forget()
                kiosk.types(f"{user}\n")
                kiosk.sees("page=password")
                kiosk.types("\n")
                asks("You were not let in.")
                no_one_is_in()
    finally:
        subprocess.run(["passwd", "--quiet", "--lock", "root"], check=True)
        begins_again()
        asks_again()
    # The account's own finger opens it, whatever its password is.
    lets_in("owner", "right")


# Docs/Security.md: K4
def test_missing_or_misspelled_configuration_lets_no_one_in():
    for text in (None, "Comand=/usr/local/bin/our-app\n", "Title=Hello\n"):
        before = CHOICES.read_text()
        try:
            CHOICES.unlink() if text is None else CHOICES.write_text(text)
            begins_again()
            kiosk.sees("page=broken", "kiosk.conf")
            kiosk.types("owner\n")
            time.sleep(2)
            no_one_is_in()
            assert "page=wait" not in "".join(kiosk.pages()[kiosk.seen:])
        finally:
            CHOICES.write_text(before)
            closes_files()
    folder = CHOICES.parent
    folder.chmod(0o777)
    try:
        begins_again()
        kiosk.sees("page=broken", "users other than root can change it")
    finally:
        folder.chmod(0o755)
    begins_again()
    asks_again()
    lets_in("owner", "right")


# Docs/Security.md: K4
def test_module_that_is_missing_lets_no_one_in():
    module = next(pathlib.Path("/").glob("*/lib/*/security/pam_whorl.so"))
    away = module.with_suffix(".away")
    module.rename(away)
    try:
        kiosk.forget()
        kiosk.types("owner\n")
        asks("reason=")
        no_one_is_in()
    finally:
        away.rename(module)
    lets_in("owner", "right")


# Docs/Security.md: K5
def test_files_in_a_home_start_nothing_before_the_command():
    home = pathlib.Path("/home/owner")
    ran = pathlib.Path("/tmp/ran")
    line = "echo ran >>/tmp/ran\n"
    unit = "[Service]\nType=oneshot\nExecStart=/bin/sh -c 'echo unit >>/tmp/ran'\n"
    files = {
        ".profile": line, ".bash_profile": line, ".bashrc": line, ".xsession": line, ".xsessionrc": line,
        ".config/environment.d/kiosk.conf": "LD_PRELOAD=/tmp/ran.so\nKIOSK_OWN=1\n",
        ".pam_environment": "KIOSK_OWN DEFAULT=1\n",
        ".config/systemd/user/kiosk.service": unit,
        ".config/systemd/user/default.target.wants/kiosk.service": unit,
    }
    for name, text in files.items():
        file = home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    subprocess.run(["chown", "-R", "owner:", str(home)], check=True)
    session_does("env >/tmp/environment; systemctl --user show-environment >>/tmp/environment")
    try:
        lets_in("owner", "right")
        assert not ran.exists(), ran.read_text()
        assert "KIOSK_OWN" not in pathlib.Path("/tmp/environment").read_text()
    finally:
        BEGIN.unlink()
        for name in files:
            (home / name).unlink()


def closes_files():
    """Gives the screen and its files to its user alone, as each start of the machine does."""
    subprocess.run(["systemd-tmpfiles", "--create", "whorl-kiosk.conf"], check=True)


# Docs/Security.md: K6
def test_screen_and_its_files_can_be_run_and_read_by_its_user_only():
    program = "/usr/libexec/whorl/kiosk-greeter"
    for file, how in ((program, "-x"), (program, "-r"), (str(CHOICES), "-r"), (str(CHOICES.parent / "badges"), "-r")):
        for user, status in (("_greetd", 0), ("mallory", 1)):
            tried = subprocess.run(["runuser", "-u", user, "--", "test", how, file])
            assert tried.returncode == status, (user, how, file)


# Docs/Security.md: K6
def test_session_ends_at_its_time_limit_whatever_it_does():
    session_does("trap '' TERM HUP INT; systemctl stop --no-ask-password 'kiosk-limit-*.timer' 2>/dev/null || true")
    try:
        with changed(PAM, re.sub(r"kiosk-limit \d+", "kiosk-limit 20", PAM.read_text())):
            begins("mallory")
            lay("left")
            arrives("mallory")
            kiosk.forget()
            begin = time.monotonic()
            asks_again()
            assert 5 < time.monotonic() - begin < 90, time.monotonic() - begin
    finally:
        BEGIN.unlink()
        pathlib.Path("/tmp/arrived.mallory").unlink(missing_ok=True)
    assert subprocess.run(["pgrep", "-u", "mallory", "our-app"]).returncode == 1
    lets_in("owner", "right")


def check_ins():
    """Returns the lines that the page tells an administrator to look for."""
    text = (HERE / "Kiosk.md").read_text()
    command = re.search(r"^journalctl _SYSTEMD_UNIT.*$", text, re.MULTILINE)[0]
    own = re.search(r"^`(journalctl -t kiosk .*)`;", text, re.MULTILINE)[1]
    lines = []
    for line in (command, own):
        found = subprocess.run(["sh", "-c", line], capture_output=True, text=True).stdout
        lines.append([line for line in found.splitlines() if not line.startswith("--")])
    return lines


# Docs/Security.md: K7
def test_line_of_a_check_in_cannot_be_written_by_another_account():
    try:
        with changed(CHOICES, "Mode=counter\n"):
            begins_again()
            asks_again()
            before = check_ins()
            forging = (
                "import socket; s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.sendto("
                "b'MESSAGE=checked in: owner\\nSYSLOG_IDENTIFIER=kiosk\\nWHORL_METHOD=io.whorl.Login.Verify\\nWHORL_OUTCOME=done\\n"
                "WHORL_APPLICATION=greetd\\n_SYSTEMD_UNIT=whorld.service\\n_UID=0\\n', '/run/systemd/journal/socket')"
            )
            for command in (
                ["systemd-cat", "-t", "kiosk", "echo", "kiosk-greeter: checked in: owner"],
                ["python3", "-c", forging],
            ):
                subprocess.run(["runuser", "-u", "mallory", "--", *command], check=True)
            subprocess.run(["journalctl", "--sync"], check=True)
            assert "checked in: owner" in output("journalctl", "-t", "kiosk", "_UID=" + output("id", "-u", "mallory").strip())
            assert check_ins() == before, check_ins()
            begins("owner")
            lay("right")
            kiosk.sees("page=arrived")
            subprocess.run(["journalctl", "--sync"], check=True)
            after = check_ins()
            assert [len(lines) for lines in after] == [len(lines) + 1 for lines in before], (before, after)
            assert re.search(r"asked: .* user 1000\b", after[0][-1]), after
    finally:
        begins_again()
        asks_again()


# Docs/Security.md: K8
def test_numbers_that_are_tried_out_are_slow_and_show_no_name():
    kiosk.forget()
    first = len(kiosk.pages())
    for count in (1, 2, 3, 4):
        begin = time.monotonic()
        # What is typed during a pause is not taken.
        kiosk.types(f"{47000 + count}\n" + ("1001\n" if count == 4 else ""))
        kiosk.sees("page=pause")
        asks("Unknown badge")
        assert time.monotonic() - begin > count - 0.5, count
    begins("1001")
    kiosk.picture("8-badge")
    shown = "\n".join(kiosk.pages()[first:])
    assert "owner" not in shown, shown
    lay("right")
    arrives("owner")
    leaves("owner")
