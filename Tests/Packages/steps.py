# SPDX-License-Identifier: Apache-2.0
"""Installs, changes, removes and purges the Debian packages in a throw-away system, step by step.

Runs as root, beside the folders older/ and newer/ with the same packages in two versions, debian/ with packages of Debian that
are installed here too, and system/ with Tests/System.
Each step goes on from the one before, and the first that fails ends the run.
"""

import glob
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE / "system"))

import run as system
from people import command, forgive, lay, service_pid, sit, start, touching, whorl
from test_d_switched_off import says_that_it_is_switched_off
from test_j_logins import PASSWORD, PROMPT, ended, sudo

PACKAGES = ("libpam-whorl", "whorl-desktop", "whorld", "whorl", "whorl-login-server", "libwhorl1", "libwhorl-dev", "whorl-simulate", "whorl-ssh")
FPRINTD = "whorld-fprintd"
KIOSK = "whorl-kiosk"
# The files that give a program fprintd's place on the bus.
PLACE = (
    "/usr/share/dbus-1/system-services/net.reactivated.Fprint.service",
    "/usr/share/dbus-1/system.d/net.reactivated.Fprint.conf",
    "/usr/share/polkit-1/actions/net.reactivated.fprint.device.policy",
)
RULES = pathlib.Path("/usr/lib/udev/rules.d")
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


def files_of(version, *names):
    return [file for name in names for file in glob.glob(f"{HERE}/{version}/{name}_*.deb")]


def unpack(version, *names):
    files = files_of(version, *(names or PACKAGES))
    assert len(files) == len(names or PACKAGES), files
    return output("dpkg", "--install", *files)


def debian(*names):
    """Installs packages of Debian in the version that is installed already, or was."""
    return output("dpkg", "--install", *files_of("debian", *names))


def is_installed(package):
    found = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status}", package], capture_output=True, text=True)
    return found.stdout == "installed"


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


def fprintds_daemon(environment):
    """Gives fprintd's own daemon a reader, or none but real ones."""
    drop_in = pathlib.Path("/etc/systemd/system/fprintd.service.d/reader.conf")
    drop_in.parent.mkdir(exist_ok=True)
    drop_in.write_text(f"[Service]\nRuntimeDirectory=fprintd-reader\nEnvironment={environment}\n")
    output("systemctl", "daemon-reload")
    output("systemctl", "stop", "fprintd.service")


def enroll_with_fprintd(user, finger, touch):
    """Enrolls a finger with fprintd's program, as root."""
    process = subprocess.Popen(["fprintd-enroll", "-f", finger, user], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while process.poll() is None:
        touch(process)
        time.sleep(0.3)
    said = process.communicate()[0]
    assert "enroll-completed" in said, said


def touch_fprintds_reader(process):
    try:
        with socket.socket(socket.AF_UNIX) as reader:
            reader.connect("/run/fprintd-reader/socket")
            reader.sendall(b"SCAN thumb")
    except OSError:
        pass  # It waits for no touch yet, or no more.


def fprintds_fingers(user):
    return subprocess.run(["fprintd-list", user], capture_output=True, text=True).stdout


def step_fprintd_has_fingers_of_its_own():
    for user, finger, driver in ("berta", "left-thumb", "DEVICE"), ("carla", "right-thumb", "DEVICE_STORAGE"):
        output("useradd", "-m", user)
        fprintds_daemon(f"FP_VIRTUAL_{driver}=/run/fprintd-reader/socket")
        enroll_with_fprintd(user, finger, touch_fprintds_reader)
    fprintds_daemon("FP_VIRTUAL_DEVICE=/run/fprintd-reader/socket")
    assert "left-thumb" in fprintds_fingers("berta")


def each_file_has_its_owner():
    """Sees that fprintd's files are where they belong, with fprintd and our package for its place installed or not."""
    has_ours, has_fprintd = is_installed(FPRINTD), is_installed("fprintd")
    for name in PLACE:
        file, aside = pathlib.Path(name), pathlib.Path(name + ".fprintd")
        fprintds = pathlib.Path("/tmp/fprintd" + name).read_bytes()
        diverted = output("dpkg-divert", "--listpackage", name).strip()
        owners = subprocess.run(["dpkg-query", "--search", name], capture_output=True, text=True).stdout.splitlines()
        owners = {
            owner for line in owners if not line.startswith("diversion by ") for owner in line.removesuffix(": " + name).split(", ")
        }
        if has_ours:
            assert diverted == FPRINTD and b"whorl" in file.read_bytes(), (name, diverted)
            assert FPRINTD in owners, (name, owners)
            assert aside.exists() == has_fprintd, (name, has_fprintd)
            assert not has_fprintd or aside.read_bytes() == fprintds, name
        else:
            assert diverted == "" and not aside.exists(), (name, diverted)
            assert file.exists() == has_fprintd and owners == ({"fprintd"} if has_fprintd else set()), (name, owners)
            assert not has_fprintd or file.read_bytes() == fprintds, name


def touch_reader_with_chip(finger):
    """Lays a finger on the reader that matches on its chip, where it waits for one."""
    with socket.socket(socket.AF_UNIX) as reader:
        reader.connect("/run/moc")
        reader.sendall(finger.encode())
        reader.recv(100)


def step_packages_are_installed_and_only_the_service_is_started():
    for folder, _, files in os.walk(HERE / "system/root"):  # a debug build's libraries
        place = pathlib.Path("/") / pathlib.Path(folder).relative_to(HERE / "system/root")
        place.mkdir(parents=True, exist_ok=True)
        for file in files:
            shutil.copy2(pathlib.Path(folder) / file, place / file)
    output("dpkg-deb", "--extract", *files_of("debian", "fprintd"), "/tmp/fprintd")
    each_file_has_its_owner()
    # A reader that keeps prints inside, which fprintd uses too.
    output("modprobe", "vhci-hcd")
    log = open("/tmp/moc.log", "w")
    subprocess.Popen([sys.executable, str(HERE / "system/moc_reader.py")], stdout=log, stderr=log)
    until(lambda: os.path.exists("/run/moc"))
    fprintds_daemon("NO=reader")
    said = unpack("older", *PACKAGES)
    assert "fprintd keeps its place on the bus" in said and "sudo apt install whorld-fprintd" in said, said
    assert "can delete Whorl's fingers from it" in said, said
    each_file_has_its_owner()
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


def step_fprintd_serves_its_users_as_before():
    assert answering() == "fprintd"
    enroll_with_fprintd("berta", "left-index-finger", lambda _: touch_reader_with_chip("bertas-finger"))
    assert "left-index-finger" in fprintds_fingers("berta")
    fprintds_daemon("FP_VIRTUAL_DEVICE=/run/fprintd-reader/socket")
    assert "left-thumb" in fprintds_fingers("berta")
    fprintds_daemon("NO=reader")


def asked_to_enroll(*options):
    """Returns the status of an enrollment that no one touches the reader for, and what it printed."""
    process = start("enroll", "right-thumb", "--json", "--timeout", "5", *options)
    out, err = process.communicate(timeout=120)
    return process.returncode, [json.loads(line) for line in out.decode().splitlines()], err


def step_reader_that_fprintd_uses_too_is_named_and_enrolled_in_only_by_an_explicit_yes():
    system.allow("subject.user == 'owner'")
    assert "! shared reader: fprintd also uses " in whorl("doctor", check=False).stdout.decode()
    status, said, err = asked_to_enroll()
    assert status == 64 and not any("event" in line for line in said), (status, said, err)
    assert said[-1]["error"]["code"] == "sharedReader" and "--share-reader" in said[-1]["error"]["recovery"], said
    outcome = whorl("enroll", "right-thumb", check=False)
    assert outcome.returncode == 64 and b"whorld-fprintd" in outcome.stderr, outcome
    status, said, err = asked_to_enroll("--share-reader")
    assert status != 64 and any("event" in line for line in said), (status, said, err)
    unpack("older", FPRINTD)
    assert "shared reader" not in whorl("doctor", check=False).stdout.decode()
    status, said, err = asked_to_enroll()
    assert status != 64 and any("event" in line for line in said), (status, said, err)
    output("dpkg", "--purge", FPRINTD)
    subprocess.run(["pkill", "-f", "moc_reader.py"], check=True)


def step_place_changes_hands_with_its_package_and_the_import_is_offered():
    system.configure(idle=600)
    output("systemctl", "restart", "whorld.service")
    said = unpack("older", FPRINTD)
    assert "To import them: sudo whorl import-fprintd" in said, said
    assert re.search("berta: left thumb .*: would be enrolled", said), said
    assert re.search("carla: right thumb .*: skipped; the print is stored in the reader", said), said
    each_file_has_its_owner()
    assert answering() == "whorld"
    output("dpkg", "--remove", FPRINTD)
    each_file_has_its_owner()
    assert answering() == "fprintd"
    unpack("older", FPRINTD)
    assert answering() == "whorld"
    said = unpack("older", FPRINTD)
    assert "import" not in said, said
    output("dpkg", "--purge", FPRINTD)


def step_fprintd_and_its_place_come_and_go_in_any_order():
    changes = {
        "F": lambda: debian("fprintd", "libpam-fprintd"),
        "f": lambda: output("dpkg", "--remove", "libpam-fprintd", "fprintd"),
        "W": lambda: unpack("older", FPRINTD),
        "w": lambda: output("dpkg", "--remove", FPRINTD),
        "p": lambda: output("dpkg", "--purge", FPRINTD),
    }
    # A capital letter that follows itself is an upgrade.
    for change in "WFWfw" "WFFwf" "WFfp" "FWwf" "WfF" "wF":
        if change == "f" and not is_installed("fprintd"):
            continue
        changes[change]()
        each_file_has_its_owner()
    assert is_installed("fprintd") and is_installed("libpam-fprintd") and not is_installed(FPRINTD)
    assert answering() == "fprintd"
    unpack("older", FPRINTD)


def step_rules_follow_a_newer_libfprint():
    rules, more = RULES / "99-whorl.rules", RULES / "99-whorl-libfprint.rules"
    text = rules.read_text()
    made = re.search(r"^# Made by .* libfprint ([0-9.]+)\. ", text, re.MULTILINE)[1]
    assert made == output("dpkg-query", "-W", "-f", "${source:Upstream-Version}", "libfprint-2-2"), made
    assert not more.exists()
    # As if the package was built with an earlier one that knows one reader less.
    reader = 'ATTR{idVendor}=="04f3", ATTR{idProduct}=="0c88", GOTO="whorl_reader"\n'
    assert reader in text
    rules.write_text(text.replace(f"libfprint {made}.", "libfprint 1.90.1.").replace(reader, ""))
    debian("libfprint-2-2")
    assert reader in more.read_text() and f"libfprint {made}." in more.read_text()
    # The reader is the service's by these rules alone.
    log = open("/tmp/moc.log", "a")
    moc = subprocess.Popen([sys.executable, str(HERE / "system/moc_reader.py")], stdout=log, stderr=log)
    until(lambda: "/bus/usb/" in output("find", "/dev/bus/usb", "-user", "whorl"))
    moc.kill()
    unpack("older", "whorl", "whorld")
    assert rules.read_text() == text and not more.exists()


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
    assert "Exec=/usr/bin/whorl-settings\n" in pathlib.Path("/usr/share/applications/whorl-settings.desktop").read_text()
    helper = "/usr/libexec/whorl/whorl-settings-helper"
    assert f">{helper}<" in pathlib.Path("/usr/share/polkit-1/actions/io.whorl.settings.policy").read_text()
    assert os.access(helper, os.X_OK) and subprocess.run([helper, "sudo", "on", "su"], stderr=subprocess.DEVNULL).returncode == 64
    screen = subprocess.Popen(["Xvfb", ":7", "-nolisten", "tcp", "-noreset"], stderr=subprocess.DEVNULL)
    pathlib.Path("/tmp/agent").touch()
    spy = subprocess.Popen(command("owner", "python3", "-c", SPYING))
    agent = subprocess.Popen(
        command("owner", "DISPLAY=:7", "/usr/libexec/whorl/whorl-prompt", "--idle", "2"),
        preexec_fn=lambda: sit("owner"), stderr=subprocess.PIPE, text=True,
    )
    try:
        assert any("Showing this session's prompts" in line for line in agent.stderr)
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
    assert is_installed(FPRINTD) and answering() == "whorld"
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
    unpack(version, *PACKAGES, FPRINTD)
    each_file_has_its_owner()
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
    unpack("newer", *PACKAGES, FPRINTD)
    assert not is_unit("whorld.socket", "enabled") and not is_unit("whorld.socket", "active")
    unpack("older", *PACKAGES, FPRINTD)
    assert not is_unit("whorld.socket", "enabled") and not is_unit("whorld.socket", "active")
    says_that_it_is_switched_off()
    subprocess.run(command("owner", "fprintd-list", "owner"), preexec_fn=lambda: sit("owner"))  # the bus starts nothing
    says_that_it_is_switched_off()
    output("systemctl", "enable", "--now", "whorld.socket")
    opened()


def step_kiosk_keeps_its_settings_and_a_purge_leaves_nothing():
    debian("greetd")
    said = unpack("older", KIOSK)
    assert "when it next starts" in said, said
    files = [pathlib.Path(line) for line in output("dpkg", "--listfiles", KIOSK).splitlines()]
    files = [file for file in files if not file.is_dir()]
    settings = pathlib.Path("/etc/whorl/kiosk.conf")
    assert settings in files
    settings.write_text("Command=our-app\n")
    for version in ("newer", "older"):
        said = unpack(version, *PACKAGES, FPRINTD, KIOSK)
        assert "when it next starts" not in said, said
        assert settings.read_text() == "Command=our-app\n"
        for file, mode in ((settings, "640"), (settings.with_name("badges"), "640"), (pathlib.Path("/usr/libexec/whorl/kiosk-greeter"), "750")):
            assert output("stat", "-c", "%a %U %G", file).split() == [mode, "root", "_greetd"], file
    # The person who installs it may sit at a console, and another display manager may run.
    assert is_unit("getty@tty1.service", "active") and not is_unit("greetd.service", "active")
    output("dpkg", "--remove", KIOSK)
    assert [file for file in files if file.exists()] == [file for file in files if str(file).startswith("/etc/")]
    said = output("dpkg", "--purge", KIOSK, "greetd")
    assert not [file for file in files if file.exists()]
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
    assert not is_installed(FPRINTD)
    each_file_has_its_owner()
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
    unpack("older", *PACKAGES, FPRINTD)
    output("pam-auth-update", "--enable", "whorl")
    before = files_of_state()
    said = output("apt-get", "--yes", "purge", *PACKAGES, FPRINTD)
    each_file_has_its_owner()
    assert "rm -r /var/lib/whorl\n" in said and "rm -r /var/lib/whorl-login-server\n" in said, said
    assert files_of_state() == before and DATABASE.exists()
    assert not CONFIGURATION.exists() and not pathlib.Path("/etc/whorl-login-server.conf").exists()
    assert "pam_whorl" not in COMMON.read_text()
    assert not pathlib.Path("/etc/systemd/system/sockets.target.wants/whorld.socket").is_symlink()
    password_works("password for owner: ")


def step_state_is_deleted_by_a_purge_that_is_told_to():
    unpack("older", *PACKAGES)
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
