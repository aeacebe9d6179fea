# SPDX-License-Identifier: Apache-2.0
# Docs/Security.md: S6
"""`whorl pam add` along with other modules, in stacks that consist of several files."""

import os
import pathlib
import subprocess
import time

import pexpect

from cases import enrolled, shell
from people import lay, profiles, sit
from test_j_logins import PASSWORD, PROMPT, ended, sudo


def add(service):
    return subprocess.run(["whorl", "pam", "add", service, "--no-try"], capture_output=True, text=True)


def test_y_pam_fprintd_in_an_included_file_is_refused_and_named():
    enrolled()
    profiles("fprintd")
    try:
        added = add("sudo")
        assert added.returncode == 1 and "pam_fprintd.so in common-auth" in added.stderr, added
    finally:
        shell("whorl pam remove sudo")
        profiles()


def test_y_second_factor_in_an_included_file_is_never_skipped_by_a_touch():
    enrolled()
    profiles()
    common = pathlib.Path("/etc/pam.d/common-auth")
    old = common.read_text()
    common.write_text(
        "auth\trequisite\tpam_unix.so nullok try_first_pass\nauth\t[success=1 default=ignore]\tpam_exec.so quiet /bin/false\n"
        "auth\trequisite\tpam_deny.so\nauth\trequired\tpam_permit.so\n"
    )
    try:
        added = add("sudo")
        assert added.returncode == 1 and "pam_exec.so in common-auth" in added.stderr, added
    finally:
        subprocess.run(["whorl", "pam", "remove", "sudo"])
        common.write_text(old)
    # It works with the system's file, by touch and by password; the password does not wait for a touch.
    assert add("sudo").returncode == 0
    try:
        for way in (lambda child: lay("right"), lambda child: child.send(f"{PASSWORD}\r")):
            child = sudo()
            child.expect_exact(PROMPT)
            began = time.monotonic()
            way(child)
            status, text = ended(child)
            assert status == 0 and time.monotonic() - began < 10, (status, text)
    finally:
        subprocess.run(["whorl", "pam", "remove", "sudo"], check=True)


def test_y_service_whose_file_comes_with_the_system_gets_a_copy_with_the_line_and_loses_it_again():
    profiles()
    vendor, own = pathlib.Path("/usr/lib/pam.d/polkit-1"), pathlib.Path("/etc/pam.d/polkit-1")
    text, folder = vendor.read_text(), sorted(os.listdir("/etc/pam.d"))
    assert not own.exists()

    def status():
        said = subprocess.run(["whorl", "pam", "status", "polkit-1"], capture_output=True, text=True)
        assert said.returncode == 0, said
        return said.stdout

    assert "does not accept a touch" in status()
    tried = subprocess.run(["whorl", "pam", "add", "polkit-1", "--dry-run"], capture_output=True, text=True)
    assert tried.returncode == 0 and f"a copy of {vendor}" in tried.stdout and not own.exists(), tried
    added = add("polkit-1")
    assert added.returncode == 0 and f"{own} is a copy of {vendor}" in added.stdout, added
    try:
        lines = [line for line in own.read_text().splitlines() if "pam_whorl.so" in line]
        assert len(lines) == 1 and own.read_text().replace(lines[0] + "\n", "") == text == vendor.read_text()
        assert (own.stat().st_mode & 0o7777, own.stat().st_uid) == (0o644, 0), own.stat()
        assert "in its own file" in status() and "which has changed" not in status(), status()
        # libpam uses the copy.
        child = pexpect.spawn(
            "pamtester", ["polkit-1", "owner", "authenticate"], encoding="utf-8", timeout=60, preexec_fn=lambda: sit("owner")
        )
        child.expect("finger across the reader|finger on the reader")
        lay("right")
        assert ended(child)[0] == 0
        vendor.write_text(text + "# newer\n")
        assert f"{own} is a copy of {vendor}, which has changed" in status(), status()
    finally:
        vendor.write_text(text)
        subprocess.run(["whorl", "pam", "remove", "polkit-1"], check=True)
    assert sorted(os.listdir("/etc/pam.d")) == folder and "does not accept a touch" in status(), status()
