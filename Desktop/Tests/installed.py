# SPDX-License-Identifier: Apache-2.0
"""The settings as they are installed, on a computer with its own PAM files, which nothing outside of this namespace sees.

whorl, the helper and pam-auth-update are the real ones; pkexec and pkcheck are not.
"""

import pathlib
import shutil
import subprocess

from desk import REPOSITORY, SETTINGS, WHORL

STACK = "#%PAM-1.0\n@include common-auth\n@include common-account\n@include common-session-noninteractive\n"
FILES = {
    "sudo": STACK,
    "gdm-password": STACK,
    # The touch would skip a second factor.
    "lightdm": STACK + "auth required pam_google_authenticator.so\n",
    "polkit-1": STACK,
}
# Asks no one: permission is granted unless a file says otherwise.
PKEXEC = """#!/bin/sh
echo "$*" >>FOLDER/asked
[ ! -e FOLDER/answer ] || exit "$(cat FOLDER/answer)"
[ "$1" = --disable-internal-agent ] && shift
exec env -i "$@"
"""
PKCHECK = """#!/bin/sh
grep -qxF "$2" FOLDER/forbidden 2>/dev/null && exit 1
exit 2
"""
# The user's service manager: the agent is installed if a file says whether it is enabled.
SYSTEMCTL = """#!/bin/sh
cat FOLDER/agent 2>/dev/null || echo not-found
"""
# The module is not installed here, so that whorl must not look for it, as in another system's folder.
WHORL_COMMAND = """#!/bin/sh
case "$1 $2" in
"pam add") exec WHORL "$@" --folder /etc/pam.d/ ;;
"ssh enable" | "ssh disable") [ -e FOLDER/stuck ] || { echo "$2d" >FOLDER/agent; echo '{"result":{}}'; exit; } ;;
esac
exec WHORL "$@"
"""


class Computer:
    """The folders, which are mounted until `close`."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.mounts = []
        self.asked = self.folder / "asked"
        self.answer = self.folder / "answer"
        self.forbidden = self.folder / "forbidden"
        self.pam = self.replace("/etc/pam.d")
        for service in [*FILES, "login", "su", "su-l", "kde", "swaylock"]:
            (self.pam / service).unlink(missing_ok=True)
        for name, text in FILES.items():
            (self.pam / name).write_text(text)
        profiles = self.replace("/usr/share/pam-configs")
        for name in ("whorl", "whorl-keyring"):
            shutil.copy(REPOSITORY / f"PAM/deploy/{name}.pam-config", profiles / name)
        for state in ("/var/lib/pam", "/var/cache/debconf"):
            self.replace(state)
        self.program = self.install()

    def replace(self, path):
        """Mounts a copy of a folder over it, and returns the copy."""
        copy = self.folder / path.strip("/").replace("/", "-")
        shutil.copytree(path, copy, symlinks=True)
        subprocess.run(["mount", "--bind", copy, path], check=True)
        self.mounts.append(path)
        return copy

    def install(self):
        prefix = self.folder / "usr"
        (prefix / "bin").mkdir(parents=True)
        (prefix / "libexec/whorl").mkdir(parents=True)
        (self.folder / "path").mkdir()
        shutil.copy(pathlib.Path(SETTINGS).with_name("whorl-settings-helper"), prefix / "libexec/whorl")
        # Translations are looked up next to the folder of the program.
        (prefix / "share").symlink_to(pathlib.Path(SETTINGS).parent.parent / "share")
        for path, text in {"usr/bin/whorl": WHORL_COMMAND, "path/pkexec": PKEXEC, "path/pkcheck": PKCHECK, "path/systemctl": SYSTEMCTL}.items():
            (self.folder / path).write_text(text.replace("FOLDER", str(self.folder)).replace("WHORL", WHORL))
            (self.folder / path).chmod(0o755)
        return shutil.copy(SETTINGS, prefix / "bin")

    def accepts(self, service):
        return "pam_whorl.so" in (self.pam / service).read_text()

    def requests(self):
        """Returns what the window asked pkexec for, without the path."""
        lines = self.asked.read_text().splitlines() if self.asked.exists() else []
        helper = f"--disable-internal-agent {self.folder}/usr/libexec/whorl/whorl-settings-helper "
        assert all(line.startswith(helper) for line in lines), lines
        return [line.removeprefix(helper) for line in lines]

    def close(self):
        for path in reversed(self.mounts):
            # Also if a program that the window started still uses it.
            subprocess.run(["umount", "--lazy", path], check=True)
