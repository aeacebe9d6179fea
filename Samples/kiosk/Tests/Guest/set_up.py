# SPDX-License-Identifier: Apache-2.0
"""Makes a kiosk of a bare Debian by the lines of the page Docs/Kiosk.md, one by one.

Runs as root in a booted system. The lines are run by its user, who sits at the machine. Two lines are run in another
way, since the system has no network and is switched off from outside: the one with apt, whose packages the image has or lie
beside this file, and the reboot.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

import run
from people import SEAT, lay, start

USER = "owner"
PAM = pathlib.Path("/etc/pam.d/whorl-kiosk")
PASSCODE = "2468hunter"
HOME = pathlib.Path("/home") / USER


def blocks(part):
    """Returns the command lines of a part of the page, block by block."""
    text = (HERE / "Kiosk.md").read_text().split(f"## {part}\n", 1)[1].split("\n## ", 1)[0]
    found = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [[line.split("  #")[0].rstrip() for line in block.splitlines() if line] for block in found]


def follow(line):
    print(f"kiosk: $ {line}", flush=True)
    if line.startswith("sudo apt install"):
        packages = [word for word in line.split()[3:] if not word.startswith(("-", "./"))]
        for package in packages:
            if package == "greetd":
                run.run("dpkg", "--install", *map(str, HERE.glob("greetd_*.deb")))
            run.run("dpkg-query", "--show", package)
        return
    if line == "sudo systemctl reboot":
        return
    if line == "whorl passcode set":
        process = start("passcode", "set", "--passcode-fd", "0", secret=PASSCODE.encode() + b"\n")
        lay("right", asking=process)
        assert process.wait(240) == 0, process.communicate()
        return
    variables = ["PATH=/usr/local/bin:/usr/bin:/bin", f"HOME={HOME}", f"USER={USER}", "LANG=C.UTF-8"]
    process = subprocess.Popen(
        ["runuser", "-u", USER, "--", "env", "-i", *variables, "sh", "-ec", line],
        cwd=HOME,
        stdin=subprocess.DEVNULL,
        preexec_fn=lambda: pathlib.Path(SEAT).write_text(str(os.getpid())),
    )
    if line.startswith("whorl enroll"):
        lay("right", 6, asking=process)
    assert process.wait(300) == 0, line


def prepare():
    """Does what a person at a real machine has done before, or need not do there."""
    run.install()
    pathlib.Path("/etc/sudoers.d/test").write_text(f"{USER} ALL=(ALL) NOPASSWD: ALL\n")
    # The image has fprintd's module.
    run.run("pam-auth-update", "--package", "--remove", "fprintd")
    # There is no graphics card: the screen is in memory, and the keyboard is the kernel's. WLR_LIBINPUT_NO_DEVICES is not set,
    # since with it wlroots 0.15 notices a keyboard at its first key only, which is lost then.
    pathlib.Path("/etc/environment").write_text("WLR_BACKENDS=headless,libinput\nWLR_RENDERER=pixman\n")
    for program in ("our-app", "drawer"):
        shutil.copy(HERE / program, f"/usr/local/bin/{program}")
    for file in HERE.glob("whorl-kiosk.tar*"):
        shutil.copy(file, HOME)


def enroll_others():
    """Enrolls a finger of further people, who do not sit at the machine."""
    run.run("useradd", "-m", "ada")
    choices = pathlib.Path("/etc/whorl/whorld.conf")
    before = choices.read_text()
    choices.write_text("[Sessions]\nTouch=any\n")
    run.allow("true")
    run.run("systemctl", "stop", "whorld.service")
    for user, finger in (("mallory", "left"), ("ada", "third")):
        process = start("enroll", "left-thumb", "--json", user=user)
        lay(finger, 6, asking=process)
        out, err = process.communicate(timeout=240)
        assert process.returncode == 0, (out, err)
    choices.write_text(before)
    run.allow(f"subject.user == '{USER}'")
    run.run("systemctl", "stop", "whorld.service")


def main():
    prepare()
    begin = time.monotonic()
    for line in sum(blocks("On the kiosk"), []):
        follow(line)
    # On an emulated processor a touch takes longer.
    PAM.write_text(PAM.read_text().replace("timeout=10", "timeout=30"))
    print(f"kiosk: set up in {time.monotonic() - begin:.0f} s", flush=True)
    # The part of it that a person does, while he sits at the machine.
    for line in blocks("A members' counter")[0]:
        follow(line)
    enroll_others()


if __name__ == "__main__":
    main()
