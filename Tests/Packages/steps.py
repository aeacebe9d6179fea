# SPDX-License-Identifier: Apache-2.0
"""Installs, changes, removes and purges the Debian packages in a throw-away system, step by step.

Runs as root, beside the folders older/ and newer/ with the same packages in two versions, and system/ with Tests/System.
Each step goes on from the one before, and the first that fails ends the run.
"""

import glob
import os
import pathlib
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE / "system"))

import run as system
from people import command, forgive, lay, service_pid, sit, start, touching, whorl
from test_d_switched_off import says_that_it_is_switched_off
from test_j_logins import PASSWORD, PROMPT, ended, sudo

PACKAGES = ("libpam-whorl", "whorl-prompt", "whorld", "whorl", "whorl-login-server", "libwhorl1", "libwhorl-dev", "whorl-simulate")
STATE = pathlib.Path("/var/lib/whorl")
DATABASE = pathlib.Path("/var/lib/whorl-login-server/login.sqlite")
CONFIGURATION = pathlib.Path("/etc/whorl/whorld.conf")
SOCKET = pathlib.Path("/run/whorl/io.whorl")
COMMON = pathlib.Path("/etc/pam.d/common-auth")
SUDO = pathlib.Path("/etc/pam.d/sudo")


def output(*command, **options):
    """Runs a command that must succeed, and returns all that it says."""
    outcome = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    assert outcome.returncode == 0, (command, outcome.returncode, outcome.stdout)
    return outcome.stdout


def unpack(version, *names):
    files = [file for name in names or PACKAGES for file in glob.glob(f"{HERE}/{version}/{name}_*.deb")]
    assert len(files) == len(names or PACKAGES), files
    return output("dpkg", "--install", *files)


def until(condition):
    """Waits until something holds."""
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, condition
        time.sleep(0.2)


def is_unit(unit, word):
    """Whether a unit is what systemctl calls active or enabled."""
    return subprocess.run(["systemctl", "--quiet", f"is-{word}", unit]).returncode == 0


def shown(unit, property):
    return output("systemctl", "show", "-P", property, unit).strip()


def files_of_state():
    return sorted(str(path.relative_to(STATE)) for path in STATE.rglob("*"))


def opened():
    process = start("secret", "get", "wifi")
    lay("right")
    out, err = process.communicate(timeout=240)
    assert (process.returncode, out) == (0, b"geheim"), (process.returncode, out, err)


def password_works(prompt):
    child = sudo()
    child.expect_exact(prompt)
    child.send(f"{PASSWORD}\r")
    assert ended(child) == (0, "\r\n0\r\n")


def step_packages_are_installed_and_only_the_service_is_started():
    for folder, _, files in os.walk(HERE / "system/root"):  # a debug build's libraries
        place = pathlib.Path("/") / pathlib.Path(folder).relative_to(HERE / "system/root")
        place.mkdir(parents=True, exist_ok=True)
        for file in files:
            shutil.copy2(pathlib.Path(folder) / file, place / file)
    unpack("older")
    assert is_unit("whorld.socket", "enabled") and is_unit("whorld.socket", "active")
    assert not is_unit("whorl-login-server.service", "enabled")
    assert not is_unit("whorl-login-server.service", "active")
    groups = output("id", "-nG", "whorl").split()
    assert set(groups) == {"whorl", "tss"}, groups
    assert "whorld" in output("dpkg-query", "-W", "-f", "${Recommends}", "whorl")
    assert pathlib.Path("/usr/lib/udev/rules.d/99-whorl.rules").exists()
    assert "uaccess" not in output("sh", "-c", "grep -l 'TAG+=\"uaccess\"' /usr/lib/udev/rules.d/*whorl* /etc/udev/rules.d/*whorl* 2>/dev/null || true")
    assert "/var/lib/whorl-login-server" in output("getent", "passwd", "whorl-login")
    assert "pam_whorl" not in COMMON.read_text()
    password_works("password for owner: ")


def step_program_and_server_run():
    package = output("dpkg-query", "-W", "-f", "${Version}", "whorl")
    assert package.startswith(output("whorl", "--version").strip()), package
    assert "USAGE: whorl-login-server" in output("whorl-login-server", "--help")
    DATABASE.parent.mkdir(mode=0o700)
    DATABASE.write_text("what users have registered")


def step_library_for_c_is_found_and_its_header_names_it():
    version = output("whorl", "--version").strip()
    script = "import ctypes; l = ctypes.CDLL('libwhorl.so.1'); l.whorl_version.restype = ctypes.c_char_p; print(l.whorl_version().decode())"
    assert output("python3", "-c", script).strip() == version
    assert "whorl_version" in pathlib.Path("/usr/include/whorl.h").read_text()
    found, = pathlib.Path("/usr/lib").glob("*/pkgconfig/whorl.pc")
    assert f"Version: {version}" in found.read_text() and "-lwhorl" in found.read_text()


def step_doctor_finds_the_service_in_order():
    system.configure(idle=600)
    system.allow("subject.user == 'owner'")
    said = whorl("doctor", check=False)
    text = (said.stdout + said.stderr).decode()
    assert "✓ service" in text and "✓ configuration" in text and "✗" not in text, text


def step_finger_is_enrolled_and_a_secret_opens():
    touching("right", 6, "enroll", "right-index-finger")
    whorl("secret", "add", "wifi", "--access", "biometry-any", secret=b"geheim")
    opened()


# Tries again and again to open the memory of the user's programs for prompts; ends with 1 once that worked.
SPYING = """
import glob, os, sys
while os.path.exists("/tmp/agent"):
    for name in glob.glob("/proc/[0-9]*/comm"):
        try:
            if open(name).read().startswith("whorl-prompt"):
                open(os.path.join(os.path.dirname(name), "mem"), "rb")
                sys.exit(1)
        except OSError:
            pass
"""


def step_window_asks_for_the_touch_and_leaves_memory_afterwards():
    assert "Exec=/usr/libexec/whorl/whorl-prompt\n" in pathlib.Path("/etc/xdg/autostart/whorl-prompt.desktop").read_text()
    screen = subprocess.Popen(["Xvfb", ":7", "-nolisten", "tcp", "-noreset"], stderr=subprocess.DEVNULL)
    pathlib.Path("/tmp/agent").touch()
    spy = subprocess.Popen(command("owner", "python3", "-c", SPYING))
    agent = subprocess.Popen(
        command("owner", "DISPLAY=:7", "/usr/libexec/whorl/whorl-prompt", "--idle", "2"),
        preexec_fn=lambda: sit("owner"), stderr=subprocess.PIPE, text=True,
    )
    try:
        assert any("shown here" in line for line in agent.stderr)
        until(lambda: subprocess.run(["pgrep", "-x", "whorl-prompt-wa"]).returncode == 0)
        asking = start("secret", "get", "wifi")
        until(lambda: subprocess.run(["xdotool", "search", "--onlyvisible", "--class", "whorl-prompt"], env={"DISPLAY": ":7"}).returncode == 0)
        lay("right")
        assert asking.communicate(timeout=240)[0] == b"geheim"
        until(lambda: subprocess.run(["pgrep", "-x", "whorl-prompt-wa"]).returncode == 0)
        os.unlink("/tmp/agent")
        assert spy.wait(60) == 0, "another program of the user has opened the agent's memory"
    finally:
        subprocess.run(["pkill", "whorl-prompt"])
        agent.wait(60)
        screen.kill()
        screen.wait()


def answering():
    """Returns the program that answers on the bus in fprintd's place."""
    output("busctl", "call", "net.reactivated.Fprint", "/net/reactivated/Fprint/Manager", "net.reactivated.Fprint.Manager", "GetDevices")
    words = ("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetConnectionUnixProcessID", "s", "net.reactivated.Fprint")
    number = output("busctl", "call", *words).split()[1]
    return os.path.basename(os.readlink(f"/proc/{number}/exe"))


def step_fprintds_programs_reach_the_service():
    assert answering() == "whorld"
    listed = subprocess.run(command("owner", "fprintd-list", "owner"), capture_output=True, text=True, preexec_fn=lambda: sit("owner"))
    assert "right-index-finger" in listed.stdout, listed


def step_profile_comes_into_the_login_when_it_is_enabled():
    output("pam-auth-update", "--package", "--remove", "fprintd")
    output("pam-auth-update", "--enable", "whorl")
    assert "pam_whorl.so" in COMMON.read_text()
    password_works(PROMPT)
    child = sudo()
    child.expect_exact(PROMPT)
    lay("right")
    assert ended(child) == (0, "\r\n0\r\n")


def change(version):
    """Installs another version while the service runs, and looks that everything was kept."""
    CONFIGURATION.write_text("[Timeout]\nLongestSeconds=100\n")
    forgive()
    before, since, stack = service_pid(), shown("whorld.socket", "ActiveEnterTimestampMonotonic"), COMMON.read_text()
    unpack(version)
    wanted = output("dpkg-deb", "--field", *glob.glob(f"{HERE}/{version}/whorld_*.deb"), "Version").strip()
    assert output("dpkg-query", "-W", "-f", "${Version}", "whorld") == wanted
    assert service_pid() != before, "the service of the old version still runs"
    assert shown("whorld.socket", "ActiveEnterTimestampMonotonic") == since, "the socket was away"
    assert COMMON.read_text() == stack
    assert "LongestSeconds=100" in CONFIGURATION.read_text()
    assert not is_unit("whorl-login-server.service", "enabled")
    opened()
    password_works(PROMPT)


def step_upgrade_keeps_everything():
    change("newer")


def step_downgrade_keeps_everything():
    change("older")


def step_service_that_was_switched_off_stays_off_after_an_upgrade():
    output("systemctl", "disable", "--now", "whorld.socket")
    says_that_it_is_switched_off()
    unpack("newer")
    assert not is_unit("whorld.socket", "enabled") and not is_unit("whorld.socket", "active")
    unpack("older")
    assert not is_unit("whorld.socket", "enabled") and not is_unit("whorld.socket", "active")
    says_that_it_is_switched_off()
    subprocess.run(command("owner", "fprintd-list", "owner"), preexec_fn=lambda: sit("owner"))  # the bus starts nothing
    says_that_it_is_switched_off()
    output("systemctl", "enable", "--now", "whorld.socket")
    opened()


def step_removed_module_leaves_the_login_and_the_password_works():
    output("pam-auth-update", "--package", "--remove", "whorl")
    output("whorl", "pam", "add", "sudo", "--no-try")
    output("pam-auth-update", "--enable", "whorl")
    kept = SUDO.read_text()
    assert "pam_whorl" in COMMON.read_text()
    assert "pam_whorl.so" in kept
    said = output("apt-get", "--yes", "remove", "libpam-whorl")
    assert "whorl pam remove sudo" in said, said
    assert "pam_whorl" not in COMMON.read_text()
    assert SUDO.read_text() == kept
    password_works("password for owner: ")
    output("whorl", "pam", "remove", "sudo")
    password_works("password for owner: ")


def step_removed_service_leaves_the_state_and_no_socket():
    before = files_of_state()
    assert before
    output("apt-get", "--yes", "remove", "whorld")
    assert files_of_state() == before
    assert not SOCKET.exists() and subprocess.run(["pgrep", "-x", "whorld"]).returncode == 1
    assert answering() == "fprintd"
    assert CONFIGURATION.exists()
    # The program takes the directory of its user again, in which no finger is.
    outcome = whorl("fingers", "--json", check=False)
    assert b"right-index-finger" not in outcome.stdout and outcome.returncode != 74, outcome


def step_service_that_is_installed_again_finds_fingers_and_secrets():
    unpack("older", "whorld")
    system.configure(idle=600)
    opened()


def step_purge_keeps_what_users_have_and_says_so():
    unpack("older")
    output("pam-auth-update", "--enable", "whorl")
    before = files_of_state()
    said = output("apt-get", "--yes", "purge", *PACKAGES)
    assert "rm -r /var/lib/whorl\n" in said and "rm -r /var/lib/whorl-login-server\n" in said, said
    assert files_of_state() == before and DATABASE.exists()
    assert not CONFIGURATION.exists() and not pathlib.Path("/etc/whorl-login-server.conf").exists()
    assert "pam_whorl" not in COMMON.read_text()
    assert not pathlib.Path("/etc/systemd/system/sockets.target.wants/whorld.socket").is_symlink()
    password_works("password for owner: ")


def step_state_is_deleted_by_a_purge_that_is_told_to():
    unpack("older")
    system.configure(idle=600)
    opened()
    output("apt-get", "--yes", "purge", *PACKAGES, env={**os.environ, "WHORL_PURGE": "delete-everything"})
    assert not STATE.exists() and not DATABASE.parent.exists()


def main():
    steps = [(name, step) for name, step in globals().items() if name.startswith("step_")]
    for name, step in steps:
        begun = time.monotonic()
        try:
            step()
        except BaseException:
            print(f"FAILED  {name}", flush=True)
            subprocess.run(["journalctl", "-u", "whorld*", "--no-pager", "-n", "40"])
            raise
        print(f"ok      {name} ({time.monotonic() - begun:.1f} s)", flush=True)
    print(f"test-deb: {len(steps)} of {len(steps)} passed", flush=True)


if __name__ == "__main__":
    main()
