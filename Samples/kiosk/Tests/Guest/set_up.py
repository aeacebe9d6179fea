# SPDX-License-Identifier: Apache-2.0
"""Makes a kiosk of a bare Debian by the lines of the page Docs/Kiosk.md, one by one.

Runs as root in a booted system. The lines are run by its user, who sits at the machine. The reboot alone is done from
outside.
"""

import os
import pathlib
import pwd
import re
import shutil
import subprocess
import sys
import time

import pexpect

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

import run
from people import act, lay, reader_waits, sit, start
from whorl_client import call

USER = "owner"
OPERATOR = "anna"
PAM = pathlib.Path("/etc/pam.d/whorl-kiosk")
PASSCODE = "2468hunter"
HOME = pathlib.Path("/home") / USER
# Whom the page's command enrolls, and their fingers.
PEOPLE = {OPERATOR: "operator", USER: "right", "mallory": "left", "ada": "third"}
# Whom the operator enrolls later, at the kiosk.
VISITORS = [f"visitor{letter}" for letter in "abcdefghij"]
READY = re.compile(r"Next: (\w+), \d+ of \d+\. Ready\?")


def blocks(part):
    """Returns the command lines of a part of the page, block by block."""
    text = (HERE / "Kiosk.md").read_text().split(f"## {part}\n", 1)[1].split("\n## ", 1)[0]
    found = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [[line.split("  #")[0].rstrip() for line in block.splitlines() if line] for block in found]


def enrolled(user):
    """The user's enrolled fingers."""
    return act(user, call, "io.whorl.Fingers.List", place=lambda _: None)["value"]


def words(line):
    variables = ["PATH=/usr/local/bin:/usr/bin:/bin", f"HOME={HOME}", f"USER={USER}", "LANG=C.UTF-8", "TERM=dumb"]
    return ["runuser", "-u", USER, "--", "env", "-i", *variables, "sh", "-ec", line]


def follow(line):
    print(f"kiosk: $ {line}", flush=True)
    if line == "sudo systemctl reboot":
        return
    if line == "whorl passcode set":
        process = start("passcode", "set", "--passcode-fd", "0", secret=PASSCODE.encode() + b"\n")
        lay("right", asking=process)
        assert process.wait(240) == 0, process.communicate()
        return
    subprocess.run(words(line), cwd=HOME, stdin=subprocess.DEVNULL, preexec_fn=lambda: sit(USER), timeout=300, check=True)


def set_up(line):
    """Runs the page's command on a terminal, and touches the reader for each person whom it names."""
    print(f"kiosk: $ {line}", flush=True)
    program, *arguments = words(line)
    options = {"encoding": "utf-8", "timeout": 600, "cwd": str(HOME / "packages"), "preexec_fn": lambda: sit(USER)}
    child = pexpect.spawn(program, arguments, **options)
    child.logfile_read = sys.stdout
    child.expect_exact("Continue? [y/N] ")
    child.sendline("y")
    finger = None
    while True:
        # The touches that the prompts ask for differ between readers.
        seen = child.expect([READY, "kiosk-setup: done", pexpect.EOF, pexpect.TIMEOUT], timeout=0.5 if finger else 600)
        if seen == 0:
            finger = PEOPLE[child.match[1]]
            child.sendline("y")
        elif seen == 1:
            break
        else:
            assert seen == 3 and finger, child.before
            if reader_waits():
                lay(finger)
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0 and "restart: sudo systemctl reboot" in child.before, child.before
    for user in PEOPLE:
        assert enrolled(user), user


def prepare():
    """Does what a person at a real machine has done before, or need not do there."""
    for folder, _, files in os.walk(HERE / "root"):  # a debug build's libraries
        place = pathlib.Path("/") / pathlib.Path(folder).relative_to(HERE / "root")
        place.mkdir(parents=True, exist_ok=True)
        for file in files:
            shutil.copy2(pathlib.Path(folder) / file, place / file)
    pathlib.Path("/etc/sudoers.d/test").write_text(f"{USER} ALL=(ALL) NOPASSWD: ALL\n")
    # Debian's packages, as from its servers.
    for file in (pathlib.Path("/etc/apt/sources.list"), *pathlib.Path("/etc/apt/sources.list.d").glob("*")):
        file.unlink(missing_ok=True)
    shutil.copytree(HERE / "debian", "/var/local/debian")
    pathlib.Path("/etc/apt/sources.list").write_text("deb [trusted=yes] file:/var/local/debian ./\n")
    run.run("apt-get", "-qq", "update")
    # The image has fprintd's module.
    run.run("pam-auth-update", "--package", "--remove", "fprintd")
    # There is no graphics card: the screen is in memory, and the keyboard is the kernel's. WLR_LIBINPUT_NO_DEVICES is not set,
    # since with it wlroots 0.15 notices a keyboard at its first key only, which is lost then.
    pathlib.Path("/etc/environment").write_text("WLR_BACKENDS=headless,libinput\nWLR_RENDERER=pixman\n")
    # The kiosk's package must lead to the screen all the same.
    other = pathlib.Path("/etc/systemd/system/other-screen.service")
    other.write_text("[Service]\nExecStart=sleep infinity\n[Install]\nAlias=display-manager.service\n")
    run.run("systemctl", "--quiet", "enable", other.name)
    run.run("systemctl", "--quiet", "set-default", "multi-user.target")
    for program in ("our-app", "drawer"):
        shutil.copy(HERE / program, f"/usr/local/bin/{program}")
    run.run("useradd", "--create-home", "--groups", "sudo", "--shell", "/bin/bash", OPERATOR)
    run.run("chpasswd", input=f"{OPERATOR}:{OPERATOR}\n", text=True)
    shutil.copytree(HERE / "packages", HOME / "packages")
    (HOME / "packages/people").write_text("# the staff\n" + "\n".join(PEOPLE) + "\n")
    (HOME / "packages/badges").write_text(f"# numbers\n1001 {USER}\n")
    run.configure(idle=600)


def main():
    prepare()
    begin = time.monotonic()
    first, *others = sum(blocks("Setting it up"), [])
    set_up(first)
    for line in others:
        follow(line)
    assert pwd.getpwnam("ada").pw_shell == "/bin/bash"
    # On an emulated processor a touch takes longer.
    PAM.write_text(PAM.read_text().replace("timeout=10", "timeout=30"))
    print(f"kiosk: set up in {time.monotonic() - begin:.0f} s", flush=True)
    # What a person does with a terminal at the machine.
    for line in blocks("A members' counter")[0]:
        follow(line)


if __name__ == "__main__":
    main()
