# SPDX-License-Identifier: Apache-2.0
"""The operator's list at the kiosk that set_up.py has made, over two boots.

usage: enroll.py cut         enrolls a few people, and cuts the power in the middle of someone's touches
       enroll.py continue    enrolls the others; all sign in, one is removed, and one with an item is refused
"""

import pathlib
import re
import shlex
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

from people import lay, reader_waits, whorl
from set_up import OPERATOR, PEOPLE, READY, VISITORS, enrolled
from visits import UNABLE, asks, asks_again, begins, kiosk, lets_in, no_one_is_in, wakes

SHOWN, STATUS = pathlib.Path("/tmp/terminal"), pathlib.Path("/tmp/status")
QUESTION = re.compile(rf"(?P<identity>Choose identity [^:]*: )|Password: |password for \w+: |{READY.pattern.replace('(', '(?P<next>', 1)}")
# The one in the middle of whose touches the power is cut.
LAST = VISITORS[4]


def program(name, command):
    """Gives a line of the page a name that the test's keyboard has keys for, and records what the terminal shows."""
    file = pathlib.Path("/usr/local/bin") / name
    file.write_text(f"#!/bin/sh\nscript -qefc {shlex.quote(command)} {SHOWN}\necho $? >{STATUS}\n")
    file.chmod(0o755)


def signs_in():
    begins(OPERATOR)
    lay(PEOPLE[OPERATOR])
    kiosk.sees("page=farewell")
    deadline = time.monotonic() + 90
    while subprocess.run(["pgrep", "-u", OPERATOR, "-x", "bash"], stdout=subprocess.DEVNULL).returncode != 0:
        assert time.monotonic() < deadline, "the operator got no terminal"
        time.sleep(0.5)
    # The window takes the keys once it is drawn.
    time.sleep(10)


def leaves_the_terminal():
    kiosk.forget()
    kiosk.types("exit\n")
    asks_again()


def answers(name, cut=None):
    """Runs a program in the terminal, answers what it asks, and touches the reader; returns what it showed and its status."""
    for file in (SHOWN, STATUS):
        file.unlink(missing_ok=True)
    kiosk.types(f"{name}\n")
    seen, finger, touches = 0, None, 0
    deadline = time.monotonic() + 900
    while not STATUS.exists():
        assert time.monotonic() < deadline, SHOWN.read_text(errors="replace")[-2000:]
        shown = SHOWN.read_text(errors="replace") if SHOWN.exists() else ""
        found = QUESTION.search(shown, seen)
        if found:
            if found["next"]:
                finger, touches, answer = found["next"], 0, "y"
            elif found["identity"]:
                # polkit accepts each administrator.
                answer = re.findall(rf"^ *(\d+)\. .*\b{OPERATOR}\b", shown[seen:found.start()], re.MULTILINE)[-1]
            else:
                answer = OPERATOR
            seen = found.end()
            time.sleep(1)
            kiosk.types(f"{answer}\n")
        elif finger and reader_waits():
            if finger == cut and touches == 2:
                return shown, None
            lay(finger)
            touches += 1
        time.sleep(0.3)
    return SHOWN.read_text(errors="replace"), int(STATUS.read_text())


def cut():
    people = pathlib.Path(f"/home/{OPERATOR}/people")
    people.write_text("# visitors\n" + "\n".join(VISITORS) + "\n")
    for user in (*VISITORS, "keeper"):
        subprocess.run(["useradd", "--create-home", "--shell", "/bin/bash", user], check=True)
    program("enroll-people", f"whorl enroll right-index-finger --from {people}")
    program("enroll-keeper", "whorl enroll right-index-finger --for keeper")
    program("remove-visitor", f"sudo userdel --remove {VISITORS[9]}")
    subprocess.run(["sync"], check=True)
    signs_in()
    shown, _ = answers("enroll-people", cut=LAST)
    assert "Password:" in shown, shown
    print(f"kiosk: cutting the power during the touches of {LAST}", flush=True)
    time.sleep(1)
    pathlib.Path("/proc/sysrq-trigger").write_text("b")
    time.sleep(60)


def go_on():
    there = [user for user in VISITORS if enrolled(user)]
    assert there == VISITORS[:4], there
    whorl("secret", "add", "safe", "--access", "biometry-any", user="keeper", secret=b"mine", place=lambda _: None)
    signs_in()
    shown, status = answers("enroll-people")
    assert status == 0 and all(enrolled(user) for user in VISITORS), (status, shown)
    assert f"enrolled: {', '.join(VISITORS[4:])}" in shown and f": {', '.join(VISITORS[:4])}" in shown, shown
    kiosk.picture("0-operator", OPERATOR)
    shown, status = answers("enroll-keeper")
    assert status == 10 and not enrolled("keeper"), (status, shown)
    state = pathlib.Path("/var/lib/whorl") / subprocess.check_output(["id", "-u", VISITORS[9]], text=True).strip()
    assert state.exists()
    shown, status = answers("remove-visitor")
    assert status == 0 and not state.exists(), (status, shown)
    leaves_the_terminal()
    begin = time.monotonic()
    for user in VISITORS[:9]:
        lets_in(user, user)
    print(f"kiosk: {len(VISITORS) - 1} people signed in, in {time.monotonic() - begin:.0f} s", flush=True)
    for user in (VISITORS[9], "keeper"):
        kiosk.forget()
        kiosk.types(f"{user}\n")
        asks(UNABLE)
        no_one_is_in()


def main():
    asks_again()
    wakes()
    if sys.argv[1] == "cut":
        cut()
    else:
        go_on()
        print("kiosk: the list was continued after the power was cut", flush=True)


if __name__ == "__main__":
    main()
