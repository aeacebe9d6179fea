# SPDX-License-Identifier: Apache-2.0
"""Uses the kiosk that set_up.py has made, after a reboot: names, badges, fingers, and what goes wrong.

usage: use.py [TEST...]     WHORL_KIOSK_ROUNDS is the number of rounds; pictures go to out/
"""

import os
import pathlib
import subprocess
import sys
import time
import traceback

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

import attack
from people import lay
from screen import F2
from set_up import PASSCODE, blocks
from test_g_hotplug import Port
from visits import LEAVE, arrives, asks, asks_again, begins, kiosk, leaves, no_one_is_in, restart, wakes

ROUNDS = int(os.environ.get("WHORL_KIOSK_ROUNDS", "10"))


def test_machine_boots_to_the_screen():
    asks_again()
    kiosk.picture("1-screen")
    front = pathlib.Path("/sys/class/tty/tty0/active").read_text().strip()
    assert front == "tty7", front


def test_badge_and_a_touch_open_the_session_of_its_owner_and_the_screen_comes_back():
    begins("1001")
    kiosk.picture("2-touch")
    lay("right")
    kiosk.sees("page=farewell")
    arrives("owner")
    leaves("owner")


def test_name_and_a_touch_open_the_session_of_another_person():
    begins("mallory")
    lay("left")
    arrives("mallory")
    leaves("mallory")


def test_finger_of_another_person_opens_nothing():
    for name, finger, own in (("owner", "left", "right"), ("mallory", "right", "left")):
        begins(name)
        lay(finger)
        kiosk.sees("Not recognized")
        kiosk.picture("3-not-recognized")
        lay(finger, 2)
        asks("reason=You were not let in.")
        kiosk.picture("4-not-let-in")
        no_one_is_in()
        begins(name)
        lay(own)
        arrives(name)
        leaves(name)


def test_unknown_badge_and_no_name_are_told_at_once():
    for typed, reason in (("4711", "Unknown badge"), ("-x", "Not a name or a badge")):
        kiosk.forget()
        kiosk.types(f"{typed}\n")
        asks(reason)


def test_unknown_name_is_answered_as_a_person_without_a_finger():
    kiosk.forget()
    kiosk.types("grace\n")
    asks("Touch is not available")
    no_one_is_in()


def test_service_that_is_killed_while_it_waits_is_a_reason_and_the_next_touch_counts():
    begins("owner")
    subprocess.run(["systemctl", "kill", "--signal", "SIGKILL", "whorld.service"], check=True)
    asks("the fingerprint service stopped")
    kiosk.picture("5-service-stopped")
    no_one_is_in()
    wakes()
    begins("owner")
    lay("right")
    arrives("owner")
    leaves("owner")


def test_service_that_is_away_is_a_reason():
    subprocess.run(["systemctl", "stop", "whorld.socket", "whorld.service"], check=True)
    try:
        kiosk.forget()
        kiosk.types("owner\n")
        asks("Touch is not available")
    finally:
        subprocess.run(["systemctl", "start", "whorld.socket"], check=True)
        wakes()


def test_touch_after_escape_opens_nothing():
    begins("owner")
    kiosk.types("\x1b")
    kiosk.sees("page=leaving")
    kiosk.picture("6-leaving")
    lay("right")
    asks()
    no_one_is_in()


def test_reader_that_is_away_is_a_reason_and_counts_when_it_is_back():
    restart(reader=False)
    try:
        kiosk.forget()
        kiosk.types("owner\n")
        asks("Touch is not available")
    finally:
        restart()
    begins("owner")
    lay("right")
    arrives("owner")
    leaves("owner")


def test_another_reader_that_is_plugged_in_and_pulled_leaves_the_screen_in_order():
    port = Port()
    try:
        begins("owner")
        # While the first one waits.
        port.plug()
        time.sleep(2)
        lay("right")
        arrives("owner")
        leaves("owner")
        # No one has chosen between the two.
        kiosk.forget()
        kiosk.types("owner\n")
        asks("Touch is not available")
        port.unplug()
        time.sleep(2)
        begins("owner")
        lay("right")
        arrives("owner")
        leaves("owner")
    finally:
        port.remove()


def test_greeter_that_is_killed_is_started_again():
    kiosk.forget()
    subprocess.run(["pkill", "-KILL", "-x", "kiosk-greeter"], check=True)
    asks_again()
    begins("owner")
    lay("right")
    arrives("owner")
    leaves("owner")


def at_the_till(name, finger):
    """Checks a person in, opens the till, and returns what the drawer was given."""
    drawer = pathlib.Path("/tmp/drawer")
    drawer.unlink(missing_ok=True)
    begins(name)
    lay(finger)
    kiosk.sees("page=arrived")
    kiosk.forget()
    kiosk.types(F2)
    kiosk.sees("page=farewell")
    if name == "owner":
        lay("right")
        # The terminal in cage has the keys by now, and prompts for the passcode.
        time.sleep(10)
        kiosk.types(f"{PASSCODE}\n")
    deadline = time.monotonic() + 60
    while not drawer.exists():
        assert time.monotonic() < deadline, "the drawer was not told anything"
        time.sleep(0.1)
    asks_again()
    return drawer.read_text().split()


def test_counter_checks_people_in_and_its_till_takes_the_passcode_too():
    choices = pathlib.Path("/etc/whorl/kiosk.conf")
    before = choices.read_text()
    try:
        kiosk.forget()
        for line in blocks("A members' counter")[1]:
            subprocess.run(["sh", "-ec", line], check=True)
        asks_again()
        for name, finger, person in (("1001", "right", "owner"), ("mallory", "left", "mallory")):
            begins(name)
            lay(finger)
            kiosk.sees("page=arrived")
            assert f"checked in: {person}\n" in kiosk.log.read_text()
        kiosk.picture("7-checked-in")
        begins("owner")
        lay("left", 3)
        asks("reason=You were not let in.")
        no_one_is_in()
        sessions = subprocess.check_output(["loginctl", "list-sessions", "--no-legend"], text=True)
        assert "mallory" not in sessions and "tty7" not in sessions.replace("_greetd seat0 tty7", ""), sessions
        # Mallory has no secret that opens it.
        assert at_the_till("mallory", "left") == ["mallory", "0"]
        assert at_the_till("owner", "right") == ["owner", "32"]
    finally:
        choices.write_text(before)
        kiosk.forget()
        subprocess.run(["systemctl", "restart", "greetd.service"], check=True)
        asks_again()


def left():
    """Returns what rounds may leave behind: processes of the screen, open files, sessions, memory in KiB."""
    pid = subprocess.check_output(["systemctl", "show", "-P", "MainPID", "greetd.service"], text=True).strip()
    service = subprocess.check_output(["systemctl", "show", "-P", "MainPID", "whorld.service"], text=True).strip()
    files = [len(os.listdir(f"/proc/{process}/fd")) for process in (pid, service)]
    memory = [
        int(line.split()[1]) for process in (pid, service) for line in open(f"/proc/{process}/status") if line.startswith("VmRSS")
    ]
    screen = len(subprocess.check_output(["ps", "-o", "pid=", "-u", "_greetd"], text=True).split())
    sessions = len(subprocess.check_output(["loginctl", "list-sessions", "--no-legend"], text=True).splitlines())
    greeters = len(subprocess.check_output(["ps", "-C", "greetd", "-o", "pid="], text=True).split())
    return {"greetd's files": files[0], "whorld's files": files[1], "processes": screen, "greetd": greeters, "sessions": sessions}, memory


def test_many_rounds_leave_nothing_behind():
    before = memory = None
    began = time.monotonic()
    for round in range(ROUNDS):
        name, finger = (("1001", "right"), ("mallory", "left"))[round % 2]
        if round % 5 == 4:
            begins("owner")
            lay("left", 3)
            asks("reason=You were not let in.")
        begins(name)
        lay(finger)
        user = "owner" if name == "1001" else name
        arrives(user)
        leaves(user)
        if round == 1:
            before, memory = left()
    deadline = time.monotonic() + 60
    while True:
        after, now = left()
        if all(after[name] <= before[name] for name in before):
            break
        assert time.monotonic() < deadline, (before, after)
        time.sleep(1)
    print(f"kiosk: {ROUNDS} rounds in {time.monotonic() - began:.0f} s: {after}; greetd {memory[0]} to {now[0]} KiB, whorld {memory[1]} to {now[1]}")
    assert now[0] - memory[0] < 2048, (memory, now)


def main():
    failed = count = 0
    wakes()
    for name, test in [*globals().items(), *vars(attack).items()]:
        if not name.startswith("test_") or (sys.argv[1:] and name not in sys.argv[1:]):
            continue
        count += 1
        begin = time.monotonic()
        try:
            test()
            print(f"ok      {name} ({time.monotonic() - begin:.1f} s)", flush=True)
        except Exception:
            failed += 1
            print(f"FAILED  {name}\n{traceback.format_exc()}", flush=True)
            LEAVE.unlink(missing_ok=True)
    print(f"kiosk: {count - failed} of {count} passed", flush=True)
    if failed or not count:
        subprocess.run(["journalctl", "--boot", "-u", "greetd", "-t", "kiosk", "-t", "greetd", "-u", "whorld", "--no-pager", "-n", "80"])
        sys.exit(1)


if __name__ == "__main__":
    main()
