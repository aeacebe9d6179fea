# SPDX-License-Identifier: Apache-2.0
# Docs/Security.md: C13m, C13n
"""fprintd's own programs and Debian's pam_fprintd.so with the installed service in fprintd's place on the bus."""

import json
import multiprocessing
import os
import pathlib
import select
import shutil
import signal
import subprocess
import time

import pexpect

from people import act, command, forgive, lay, lock, service_pid, shown, sit, start, touching, whorl
from raw_bus import Bus
from run import allow, nightly
from whorl_client import Refused, call

NAME = "net.reactivated.Fprint"
PASSCODE = b"2468 hunter"
DEVICE = "/net/reactivated/Fprint/Device/0"
STACK = pathlib.Path("/etc/pam.d/by-touch")


def fprintd(verb, *arguments, user="owner", finger=None, times=1):
    """Runs one of fprintd's programs as a user, lays a finger on the reader as often as it waits, and returns what it printed."""
    process = subprocess.Popen(
        command(user, f"fprintd-{verb}", *arguments),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=lambda: sit(user),
    )
    if finger:
        lay(finger, times, asking=process)
    return process.communicate(timeout=120)[0].decode()


def tell(*words, user="owner"):
    """Calls the bus as a user; returns what it answers, or the name and the message of the error."""
    outcome = subprocess.run(
        command(user, "busctl", "--system", "--timeout=60", *words), capture_output=True, text=True, preexec_fn=lambda: sit(user)
    )
    return outcome.stdout + outcome.stderr


def enrolled():
    found = subprocess.run(
        command("owner", "whorl", "fingers", "--json"), capture_output=True, check=True, preexec_fn=lambda: sit("owner")
    )
    return [finger["finger"] for finger in json.loads(found.stdout.decode().splitlines()[-1])["result"]["fingers"]]


def right_finger_alone():
    """Sees that the right index finger, and no other, is enrolled."""
    if "right-index-finger" not in enrolled():
        assert "enroll-completed" in fprintd("enroll", "-f", "right-index-finger", finger="right", times=6)
    for finger in enrolled():
        if finger != "right-index-finger":
            tell("call", NAME, DEVICE, NAME + ".Device", "Claim", "s", "")
            fprintd("delete", "owner", "-f", finger)
    assert enrolled() == ["right-index-finger"], enrolled()


def test_bus_starts_the_service_for_fprintds_name():
    subprocess.run(["systemctl", "stop", "whorld.service", "fprintd.service"], check=True)
    assert DEVICE in tell("call", NAME, "/net/reactivated/Fprint/Manager", NAME + ".Manager", "GetDevices")
    assert "use this service" in whorl("doctor", check=False).stdout.decode()
    owner = tell("call", "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetConnectionUnixProcessID", "s", NAME)
    assert owner.split() == ["u", str(service_pid())], owner


def test_message_with_a_descriptor_does_not_reach_the_service():
    manager = ("net.reactivated.Fprint", "/net/reactivated/Fprint/Manager", "net.reactivated.Fprint.Manager", "GetDefaultDevice")
    for user in "owner", "mallory":
        answer = act(user, lambda: Bus().call(*manager))
        assert b"/net/reactivated/Fprint/Device/" in answer, answer
        refused = act(user, lambda: Bus().call(*manager, descriptor=0))
        assert b"org.freedesktop.DBus.Error.AccessDenied" in refused, refused


MANAGER = (NAME, "/net/reactivated/Fprint/Manager", NAME + ".Manager", "GetDefaultDevice")


# A question without rules, and one that asks logind and polkit about its caller.
QUESTIONS = (MANAGER, (NAME, DEVICE, NAME + ".Device", "Release"))
REFUSED = b"has reached its limit of unanswered calls"


def flood(seconds, wants_reply):
    """Calls as fast as the bus takes it; returns how many calls were sent, and how many the service refused."""
    bus, sent, refused, rest, end = Bus(), 0, 0, b"", time.monotonic() + seconds
    bus.socket.setblocking(False)
    while time.monotonic() < end:
        readable, writable, _ = select.select([bus.socket], [bus.socket], [], 1)
        if readable:
            answer = bus.socket.recv(1 << 20)
            if not answer:
                break
            refused += answer.count(REFUSED)
        if writable:
            if not rest:
                rest = b"".join(bus.message(*call, wants_reply=wants_reply) for call in QUESTIONS * 25)
                sent += 50
            try:
                rest = rest[bus.socket.send(rest):]
            except BlockingIOError:
                pass
    return sent, refused


@nightly("a flood")
def test_c13_flood_of_calls_on_the_bus_leaves_the_others_their_answers():
    right_finger_alone()
    pid = service_pid()
    fork = multiprocessing.get_context("fork")
    results = fork.SimpleQueue()
    crowd = [
        fork.Process(target=lambda wants=wants: results.put(act("mallory", flood, 15, wants))) for wants in (True, False)
    ]
    for process in crowd:
        process.start()
    time.sleep(3)
    slowest, on_bus, count = 0, 0, 0
    try:
        while all(process.is_alive() for process in crowd):
            begun = time.monotonic()
            # It asks logind where its caller is.
            act("owner", call, "io.whorl.Owner.Preflight", {"policy": "biometrics", "application": "test"})
            slowest, begun = max(slowest, time.monotonic() - begun), time.monotonic()
            answer = act("owner", lambda: Bus().call(*MANAGER))
            assert b"/net/reactivated/Fprint/Device/" in answer, answer
            assert "right-index-finger" in fprintd("list", "owner")
            on_bus, count = max(on_bus, time.monotonic() - begun), count + 1
    finally:
        for process in crowd:
            process.join(120)
    assert [process.exitcode for process in crowd] == [0] * 2, crowd
    sent, refused = (sum(numbers) for numbers in zip(*(results.get() for _ in crowd)))
    print(f"        {refused} of {sent} calls refused; another user's {count} rounds of calls on the bus, the slowest {on_bus:.1f} s,"
          f" and over the socket, the slowest {slowest:.1f} s (emulated)")
    # All calls wait in the bus's own queue, so that few of the flood, or none, are more than a client's share.
    assert service_pid() == pid and sent > 1000 and count > 0 and slowest < 15, (sent, count, slowest)
    assert "verify-match" in fprintd("verify", finger="right")


def every_kind():
    """Makes many calls of each kind over one connection; returns the answer to a last one."""
    bus = Bus()
    kinds = [
        MANAGER,
        (NAME, DEVICE, "org.freedesktop.DBus.Properties", "GetAll"),  # without its argument
        (NAME, DEVICE, "org.freedesktop.DBus.Introspectable", "Introspect"),
        (NAME, DEVICE, "org.freedesktop.DBus.Peer", "Ping"),
        (NAME, DEVICE, NAME + ".Device", "Nothing"),
        (NAME, DEVICE, NAME + ".Device", "Claim"),  # without its argument
        (NAME, "/nowhere", NAME + ".Device", "Release"),
    ]
    for kind in kinds:
        for _ in range(50):
            assert REFUSED not in bus.call(*kind), kind
        for _ in range(50):
            bus.socket.sendall(bus.message(*kind, wants_reply=False))
        # What wants no answer has ended when a later call has one.
        for _ in range(100):
            answer = bus.call(*MANAGER)
            if REFUSED not in answer:
                break
            time.sleep(0.1)
    return answer


def test_c13_calls_of_every_kind_give_their_share_back():
    right_finger_alone()
    answer = act("owner", every_kind)
    assert b"/net/reactivated/Fprint/Device/" in answer, answer


def test_fprintds_programs_know_the_enrolled_finger_and_no_other():
    right_finger_alone()
    assert "right-index-finger" in fprintd("list", "owner")
    assert "verify-match" in fprintd("verify", finger="right")
    printed = fprintd("verify", finger="left")
    assert "verify-no-match" in printed and "verify-match" not in printed, printed
    lines = whorl("log", "--json").stdout.decode()
    assert '"failedTry"' in lines and NAME in lines, lines
    forgive()


def test_finger_that_fprintd_enrolls_counts_for_keys_and_the_chip_refuses_the_old_set():
    right_finger_alone()
    whorl("secret", "add", "old-set", "--access", "biometry-current-set", secret=b"geheim")
    before = whorl("domain-state", "--json", check=False).stdout
    try:
        printed = fprintd("enroll", "-f", "left-index-finger", finger="left", times=6)
        assert printed.count("enroll-stage-passed") == 5 and "enroll-completed" in printed, printed
        assert sorted(enrolled()) == ["left-index-finger", "right-index-finger"], enrolled()
        for finger in ("left", "right"):
            name = f"{finger}-index-finger"
            assert "verify-match" in fprintd("verify", "-f", name, finger=finger), name
        assert whorl("domain-state", "--json", check=False).stdout != before
        process = start("secret", "get", "old-set", "--json")
        lay("right", asking=process)
        out, err = process.communicate(timeout=120)
        assert process.returncode != 0 and b"geheim" not in out, (out, err)
        # A name that is taken is not enrolled over: the finger would be lost if the new one failed.
        printed = fprintd("enroll", "-f", "left-index-finger")
        assert "enroll-duplicate" in printed, printed
    finally:
        fprintd("delete", "owner", "-f", "left-index-finger")
        whorl("secret", "remove", "old-set", check=False)
    assert enrolled() == ["right-index-finger"], enrolled()


def test_no_finger_comes_or_goes_without_the_systems_rules():
    right_finger_alone()
    allow("false")
    try:
        printed = fprintd("enroll", "-f", "left-thumb")
        assert "PermissionDenied" in printed and "io.whorl.change-fingers" in printed or "rules" in printed, printed
        printed = fprintd("delete", "owner", "-f", "right-index-finger")
        assert "PermissionDenied" in printed or "Not authorized" in printed, printed
    finally:
        allow("subject.user == 'owner'")
    assert enrolled() == ["right-index-finger"], enrolled()


def test_another_user_gets_neither_the_fingers_nor_the_name():
    right_finger_alone()
    for printed in (
        fprintd("verify", "owner", user="mallory"),
        fprintd("list", "owner", user="mallory"),
        fprintd("enroll", user="mallory"),
        fprintd("delete", "owner", user="mallory"),
    ):
        assert "PermissionDenied" in printed or "Not authorized" in printed, printed
    refused = tell(
        "call", "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "RequestName", "su", NAME, "6", user="mallory"
    )
    assert "denied" in refused, refused
    assert enrolled() == ["right-index-finger"], enrolled()


def test_client_that_is_killed_while_it_waits_leaves_the_reader_to_the_next():
    right_finger_alone()
    for _ in range(5):
        process = subprocess.Popen(
            command("owner", "fprintd-verify"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=lambda: sit("owner"),
            start_new_session=True,
        )
        shown = b""
        while b"started" not in shown:
            line = process.stdout.readline()
            assert line, shown
            shown += line
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    matched = touching("right", 1, "evaluate", "--reason", "a test")
    assert matched["finger"] == "right-index-finger", matched


def logging_in():
    """Starts su with Debian's module before the password, as the distribution's profile has it."""
    STACK.write_text(
        "auth [success=2 default=ignore] pam_fprintd.so max-tries=1 timeout=10\n"
        "auth [success=1 default=ignore] pam_unix.so nullok try_first_pass\n"
        "auth requisite pam_deny.so\nauth required pam_permit.so\naccount required pam_permit.so\n"
    )
    before = pathlib.Path("/etc/pam.d/su")
    saved = before.with_suffix(".saved")
    before.rename(saved)
    before.write_text(STACK.read_text() + "session required pam_permit.so\n")
    words = ["-u", "owner", "--", "su", "owner", "-c", "id -un"]
    return saved, pexpect.spawn("runuser", words, encoding="utf-8", timeout=60, preexec_fn=lambda: sit("owner"))


def login(finger=None, password=None):
    """Logs in with a finger, then with a password if one is asked for; returns what was shown."""
    saved, child = logging_in()
    shown = ""
    try:
        if finger:
            child.expect("finger")
            shown += child.before + child.after
            lay(finger)
        if password:
            child.expect_exact("Password: ")
            shown += child.before
            child.sendline(password)
        child.expect(pexpect.EOF)
        shown += child.before
        child.close()
        return child.exitstatus, shown
    finally:
        saved.replace("/etc/pam.d/su")
        STACK.unlink()


def test_behind_the_lock_roots_clients_alone_are_served():
    right_finger_alone()
    fingers = ("call", NAME, DEVICE, NAME + ".Device", "ListEnrolledFingers", "s", "owner")
    waiting = subprocess.Popen(
        command("owner", "fprintd-verify"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=lambda: sit("owner")
    )
    while b"Verify started" not in waiting.stdout.readline():
        assert waiting.poll() is None
    lock(True)
    try:
        printed = waiting.communicate(timeout=60)[0].decode()
        assert "verify-unknown-error" in printed and "verify-match" not in printed, printed
        refused = tell(*fingers)
        assert "uthorized" in refused and "right-index-finger" not in refused, refused
        for printed in (fprintd("verify"), fprintd("enroll", "-f", "left-thumb")):
            assert "PermissionDenied" in printed or "Not authorized" in printed, printed
        assert "right-index-finger" in tell(*fingers, user="root")
        # Debian's module runs as root, as in GNOME's locker.
        status, shown = login("right")
        assert status == 0 and shown.strip().endswith("owner"), (status, shown)
    finally:
        lock(False)
    assert "right-index-finger" in tell(*fingers) and "verify-match" in fprintd("verify", finger="right")


def test_debians_module_logs_in_with_the_enrolled_finger_alone():
    right_finger_alone()
    status, shown = login("right")
    assert status == 0 and shown.strip().endswith("owner"), (status, shown)
    status, shown = login("left", "owner")
    assert status == 0 and "Failed to match" in shown, (status, shown)
    forgive()


@nightly("the lock and the password are by day with sudo")
def test_locked_fingers_send_debians_module_to_the_password_at_once():
    right_finger_alone()
    process = start("passcode", "set", "--passcode-fd", "0", secret=PASSCODE + b"\n")
    lay("right", asking=process)
    assert process.wait(120) == 0, process.communicate()
    for _ in range(5):
        fprintd("verify", finger="left")
    printed = fprintd("verify")
    assert "verify-unknown-error" in printed and "verify-match" not in printed, printed
    begin = time.monotonic()
    status, shown = login(password="owner")
    assert status == 0 and "Failed to match" not in shown and time.monotonic() - begin < 30, (status, shown)
    whorl("passcode", "verify", "--passcode-fd", "0", secret=PASSCODE)
    whorl("passcode", "remove", "--passcode-fd", "0", secret=PASSCODE)
    assert "verify-match" in fprintd("verify", finger="right")


def test_match_on_the_bus_opens_nothing_of_the_vault():
    right_finger_alone()
    process = start("secret", "get", "wifi", "--json")
    out = b""
    shown(process)
    # While a prompt has the reader, fprintd's clients are told so; the finger that comes is the prompt's.
    printed = fprintd("verify")
    assert "verify-unknown-error" in printed and "verify-match" not in printed, printed
    lay("left")
    time.sleep(1)
    assert process.poll() is None
    lay("right")
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and b"Z2VoZWlt" in out or b"geheim" in out, out
    # And the other way round: what matches on the bus opens nothing, and is kept for no later request.
    assert "verify-match" in fprintd("verify", finger="right")
    process = start("secret", "get", "wifi", "--json")
    shown(process)
    time.sleep(2)
    assert process.poll() is None
    process.kill()


FOREIGN = pathlib.Path("/var/lib/fprint")


def fprintd_itself(user, *fingers):
    """Has the real fprintd enroll fingers of a user, on a reader of its own; each is named as its finger."""
    rules = pathlib.Path("/etc/dbus-1/system.d/test.conf")
    rules.write_text(f'<busconfig><policy user="root"><allow own="{NAME}"/></policy></busconfig>')
    reload = ("busctl", "call", "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ReloadConfig")
    subprocess.run(reload, check=True)
    subprocess.run(["systemctl", "stop", "whorld.socket", "whorld.service"], check=True)
    os.makedirs("/run/reader", exist_ok=True)
    environment = {"FP_VIRTUAL_DEVICE": "/run/reader/socket", "STATE_DIRECTORY": str(FOREIGN)}
    daemon = subprocess.Popen(["/usr/libexec/fprintd", "-t"], env=environment)
    try:
        while "true" not in tell("call", "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "NameHasOwner", "s", NAME, user="root"):
            time.sleep(0.2)
        for name in fingers:
            process = subprocess.Popen(["fprintd-enroll", "-f", name, user], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            lay(name, 5, asking=process)
            assert b"enroll-completed" in process.communicate(timeout=60)[0]
    finally:
        daemon.kill()
        daemon.wait()
        shutil.rmtree("/run/reader")
        rules.unlink()
        subprocess.run(reload, check=True)
        subprocess.run(["systemctl", "start", "whorld.socket"], check=True)


def importing(*options):
    outcome = subprocess.run(["whorl", "import-fprintd", "--json", *options], capture_output=True, text=True)
    assert outcome.returncode == 0, outcome
    return {of["user"]: of for of in json.loads(outcome.stdout.splitlines()[-1])["result"]["users"]}


def plant():
    """Asks the service to take a print over, as root does."""
    print_ = {"finger": "left-thumb", "driver": "virtual_device", "number": "0", "size": 4}
    try:
        call("io.whorl.Login.TakeOver", {"user": 1000, "prints": [print_], "bytes": 0, "isTrial": False, "readersWereClosed": False}, secrets=[b"mine"])
    except Refused as error:
        return error.name
    return None


def test_nobody_but_root_brings_prints():
    for user in ("owner", "mallory"):
        assert act(user, plant) == "io.whorl.Login.RootAlone"


@nightly("unit tests cover each outcome")
def test_prints_of_fprintd_are_taken_over_and_stay_where_they_are():
    right_finger_alone()
    subprocess.run(["useradd", "-m", "ada"], check=True)
    fprintd_itself("ada", "right-index-finger", "left-thumb")
    fprintd_itself("owner", "right-thumb")
    place = FOREIGN / "ada/virtual_device/0"
    (place / "2").write_bytes(b"no print at all")
    (place / "3").write_bytes((place / "7").read_bytes())
    (place / "4").symlink_to("/etc/shadow")
    (FOREIGN / "nobody-here/virtual_device/0").mkdir(parents=True)
    (FOREIGN / "nobody-here/virtual_device/0/7").write_bytes((place / "7").read_bytes())
    before = {file: file.read_bytes() for file in FOREIGN.rglob("*") if file.is_file() and not file.is_symlink()}
    refused = whorl("import-fprintd", check=False)
    assert refused.returncode == 64 and b"sudo" in refused.stderr, refused
    for options in (("--dry-run",), ()):
        said = importing(*options)
        outcomes = {print_["finger"]: print_["outcome"] for print_ in said["ada"]["prints"]}
        assert outcomes == {
            "left-thumb": "taken", "right-index-finger": "taken", "left-index-finger": "unreadable", "left-middle-finger": "elsewhere",
        }, said
        assert said["ada"]["unreadable"] == 1 and "already" in said["owner"]["refusal"] and "unknown user" in said["nobody-here"]["refusal"]
        listed = subprocess.run(["fprintd-list", "ada"], capture_output=True, text=True).stdout
        assert ("left-thumb" in listed) == (not options), listed
    assert "already" in importing()["ada"]["refusal"]
    for finger, match in (("right-index-finger", True), ("left-thumb", True), ("right", False)):
        name = finger if match else "left-thumb"
        process = subprocess.Popen(["fprintd-verify", "-f", name, "ada"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        lay(finger, asking=process)
        printed = process.communicate(timeout=60)[0]
        assert (b"verify-match" in printed) == match, printed
    assert before == {file: file.read_bytes() for file in FOREIGN.rglob("*") if file.is_file() and not file.is_symlink()}
    assert (place / "4").is_symlink() and enrolled() == ["right-index-finger"]
    shutil.rmtree(FOREIGN)
