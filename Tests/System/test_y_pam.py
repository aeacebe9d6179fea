# SPDX-License-Identifier: Apache-2.0
"""`whorl pam add` beside other modules, in stacks that are made of several files."""

import pathlib
import subprocess
import time

from cases import enrolled, shell
from people import lay
from test_j_logins import PASSWORD, PROMPT, ended, sudo


def add(service):
    return subprocess.run(["whorl", "pam", "add", service, "--no-try"], capture_output=True, text=True)


def test_y_pam_fprintd_in_an_included_file_is_refused_and_named():
    enrolled()
    shell("pam-auth-update --enable fprintd")
    try:
        added = add("sudo")
        assert added.returncode == 1 and "pam_fprintd.so in common-auth" in added.stderr, added
    finally:
        shell("whorl pam remove sudo; pam-auth-update --package --remove fprintd")


def test_y_second_factor_in_an_included_file_is_never_skipped_by_a_touch():
    enrolled()
    shell("pam-auth-update --package --remove fprintd")
    common = pathlib.Path("/etc/pam.d/common-auth")
    old = common.read_text()
    common.write_text(
        "auth\trequisite\tpam_unix.so nullok try_first_pass\nauth\t[success=1 default=ignore]\tpam_exec.so quiet /bin/false\n"
        "auth\trequisite\tpam_deny.so\nauth\trequired\tpam_permit.so\n"
    )
    try:
        added = add("sudo")
        assert added.returncode == 1 and "pam_exec.so, which common-auth names" in added.stderr, added
    finally:
        subprocess.run(["whorl", "pam", "remove", "sudo"])
        common.write_text(old)
    # With the system's own file it works, by touch and by password, which waits for no touch.
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


def test_y_service_whose_file_comes_with_the_system_is_found_and_its_place_named():
    vendor = pathlib.Path("/usr/lib/pam.d/polkit-1")
    assert vendor.exists() and not pathlib.Path("/etc/pam.d/polkit-1").exists()
    said = subprocess.run(["whorl", "pam", "status", "polkit-1"], capture_output=True, text=True)
    assert said.returncode == 0 and "takes no finger" in said.stdout, said
    added = add("polkit-1")
    assert added.returncode == 1 and f"sudo cp {vendor} /etc/pam.d/polkit-1" in added.stderr, added
    assert not pathlib.Path("/etc/pam.d/polkit-1").exists()
