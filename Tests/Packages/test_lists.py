#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the packages' lists of files (packaging/debian/*.install) with that of `make install` (scripts/installed.mk).

It builds nothing. A package build would find the same differences, after it has compiled everything.
"""

import fnmatch
import pathlib
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MULTIARCH = "x86_64-linux-gnu"
# The components of the list, and the packages that have their files.
COMPONENTS = {
    "program": {"whorl", "whorl-simulate"},
    "service": {"whorld"},
    "pam": {"libpam-whorl"},
    "lib": {"libwhorl1", "libwhorl-dev"},
    "ssh": {"whorl-ssh"},
    "desktop": {"whorl-desktop"},
    "server": {"whorl-login-server"},
    "kiosk": {"whorl-kiosk"},
}
# Installed by other lines of the Makefile and of packaging/debian/rules: files that exist only once, and fprintd's place.
OTHERS = {
    "etc/whorl/whorld.conf", "etc/whorl/kiosk.conf", "etc/whorl/badges", "etc/whorl-login-server.conf",
    "usr/libexec/whorl/generate-udev-rules",
    "usr/share/dbus-1/system-services/net.reactivated.Fprint.service",
    "usr/share/dbus-1/system.d/net.reactivated.Fprint.conf",
    "usr/share/polkit-1/actions/net.reactivated.fprint.device.policy",
}


def installed():
    """The component and the path of each file of `make install`, as packaging/debian/rules calls it."""
    script = "include Makefile\nlist-installed: ; @printf '%s\\n' \"$$INSTALLED\"\n"
    folder = f"/usr/lib/{MULTIARCH}"
    command = ["make", "--no-print-directory", "--silent", "-f", "-", "list-installed", "PREFIX=/usr", f"LIBDIR={folder}",
               f"PAMDIR={folder}/security", "ZSHDIR=/usr/share/zsh/vendor-completions"]
    listed = subprocess.run(command, cwd=ROOT, input=script, capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        if line.strip() and not line.startswith("#"):
            component, _, _, path = line.split()
            yield component, path.lstrip("/").replace("*", "ANY")


def packaged():
    """The package and the pattern of each line of the packages' lists."""
    for file in sorted((ROOT / "packaging/debian").glob("*.install")):
        for line in file.read_text().split():
            yield file.stem, line.replace("${env:WHORL_UNITS}", "usr/lib/systemd/system")


def matches(path, pattern):
    """Whether dh_install would take the file: the pattern names it, or a folder that it is in."""
    parts, wanted = path.split("/"), pattern.split("/")
    return len(parts) >= len(wanted) and all(map(fnmatch.fnmatchcase, parts, wanted))


class ListTests(unittest.TestCase):
    def test_each_installed_file_is_in_one_package_of_its_component(self):
        lists = list(packaged())
        for component, path in installed():
            owners = [package for package, pattern in lists if matches(path, pattern)]
            self.assertEqual(len(owners), 1, f"{path} is in the packages {owners}")
            self.assertIn(owners[0], COMPONENTS[component], path)

    def test_each_line_of_a_package_names_an_installed_file(self):
        paths = {path for _, path in installed()} | OTHERS
        for package, pattern in packaged():
            self.assertTrue(any(matches(path, pattern) for path in paths), f"{package}: nothing installs {pattern}")


if __name__ == "__main__":
    unittest.main()
