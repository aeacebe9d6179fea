# SPDX-License-Identifier: Apache-2.0
"""Looks at what an upgrade from Debian 12 to 13 leaves of the packages and of what their users have.

Runs as root, beside the folders packages-12/ and packages-13/ and system/ with Tests/System, each time in the same system with the same TPM:
`before` on Debian 12, `after` when apt has made it Debian 13, with the packages of 12, and `renewed` with those of 13.
"""

import glob
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE / "system"))

import run as system
from people import command, forgive, lay, sit, touching, whorl
from test_b_attacks import wake
from test_e_agents import PASSCODE, set_passcode
from test_j_logins import PROMPT, ended, sudo
from test_l_keyring import LOCKED, STACK, LINES, login, status, touched, typed

COMMON = pathlib.Path("/etc/pam.d/common-auth")
SECRETS = {"wifi": ("biometry-any", b"geheim"), "bank": ("biometry-current-set", b"geheimer")}
PACKAGES = ("whorl", "whorld", "libpam-whorl", "whorld-fprintd", "libwhorl1", "whorl-simulate")


def output(*words):
    """Runs a command that must succeed, and returns all that it says."""
    outcome = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert outcome.returncode == 0, (words, outcome.returncode, outcome.stdout)
    return outcome.stdout


def install(release):
    files = [file for name in PACKAGES for file in glob.glob(f"{HERE}/packages-{release}/{name}_*.deb")]
    assert len(files) == len(PACKAGES), files
    print(output("dpkg", "--install", *files), flush=True)


def versions():
    return output("dpkg-query", "-W", "-f", "${db:Status-Status} ${Package} ${Version}\n", *PACKAGES)


def read_all():
    """Reads each secret by a touch, and sees that it is what was kept."""
    for item, (_, text) in SECRETS.items():
        process = subprocess.Popen(
            command("owner", "whorl", "secret", "get", item), preexec_fn=lambda: sit("owner"),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        lay("right")
        out, err = process.communicate(timeout=240)
        assert (process.returncode, out) == (0, text), (item, process.returncode, out, err)


def everything_works():
    """Fingers, items, passcode, login, keyring and fprintd's place are as they were left."""
    wake()
    forgive()
    read_all()
    whorl("passcode", "verify", "--passcode-fd", "0", secret=PASSCODE.encode())
    assert "pam_whorl.so" in COMMON.read_text()
    child = sudo()
    child.expect_exact(PROMPT)
    lay("right")
    assert ended(child) == (0, "\r\n0\r\n")
    assert status() == "ready"
    assert "b false" in login(touched, LOCKED), "the keyring is shut after a touch"
    listed = subprocess.run(command("owner", "fprintd-list", "owner"), capture_output=True, text=True, preexec_fn=lambda: sit("owner"))
    assert "right-index-finger" in listed.stdout, listed
    said = whorl("doctor", check=False)
    assert "✗" not in said.stdout.decode() + said.stderr.decode(), said


def before():
    install("12")
    system.configure(idle=600)
    system.allow("subject.user == 'owner'")
    touching("right", 6, "enroll", "right-index-finger")
    for item, (access, text) in SECRETS.items():
        whorl("secret", "add", item, "--access", access, secret=text)
    set_passcode()
    output("pam-auth-update", "--package", "--remove", "fprintd")
    output("pam-auth-update", "--enable", "whorl", "whorl-keyring")
    STACK.write_text(STACK.read_text() + LINES)
    login(typed)  # makes the keyring
    assert touching("right", 1, "keyring", "on")["keyring"] == "waiting"
    said = login(typed, LOCKED)
    assert "b false" in said, said
    everything_works()
    output("systemctl", "stop", "whorld.service")


def after():
    release = pathlib.Path("/etc/debian_version").read_text().strip()
    assert release.startswith("13."), release
    found = versions()
    assert found.count("installed ") == len(PACKAGES) and "deb12" in found and "deb13" not in found, found
    everything_works()
    output("systemctl", "stop", "whorld.service")


def renewed():
    install("13")
    found = versions()
    assert found.count("installed ") == found.count("deb13") == len(PACKAGES), found
    system.run("systemctl", "daemon-reload")
    everything_works()


if __name__ == "__main__":
    begun = time.monotonic()
    try:
        {"before": before, "after": after, "renewed": renewed}[sys.argv[1]]()
    except BaseException:
        print(f"FAILED  {sys.argv[1]}", flush=True)
        subprocess.run(["journalctl", "-u", "whorld*", "--no-pager", "-n", "40"])
        raise
    print(f"ok      {sys.argv[1]} ({time.monotonic() - begun:.1f} s)\n{versions()}", flush=True)
