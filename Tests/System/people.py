# SPDX-License-Identifier: Apache-2.0
"""The users in the tests: the programs they run, and the fingers with which they touch the reader."""

import json
import multiprocessing
import os
import pwd
import select
import socket
import subprocess
import time

import pexpect

# The session of owner, who is logged in at the machine's seat. A process moved there belongs to the session.
SEAT = "/sys/fs/cgroup/user.slice/user-1000.slice/session-1.scope/cgroup.procs"


def sit(user):
    """Moves this process into the session at the seat, if the user has one there."""
    if user == "owner":
        with open(SEAT, "w") as group:
            group.write(str(os.getpid()))


def kernel_names_processes():
    """Whether the kernel tells the service which process connects (SO_PEERPIDFD, Linux 6.5), so that none has to prove it."""
    here, there = socket.socketpair()
    with here, there:
        try:
            os.close(here.getsockopt(socket.SOL_SOCKET, 77))
        except OSError:
            return False
    return True


class Terminal(pexpect.spawn):
    """A program on a terminal, which it may hang up and reopen, as the login of util-linux (Debian 13) does once."""

    def read_nonblocking(self, size=1, timeout=-1):
        deadline = time.monotonic() + 20
        while True:
            try:
                return super().read_nonblocking(size, timeout)
            except pexpect.EOF:
                # With an end-of-file marker, pexpect would wait for the program.
                self.flag_eof = False
                if not self.isalive() or time.monotonic() > deadline:
                    self.flag_eof = True
                    raise
                time.sleep(0.05)


def profiles(*names):
    """Enables these of pam-auth-update's profiles, and disables the others that the tests enable."""
    others = [name for name in ("fprintd", "whorl", "whorl-keyring") if name not in names]
    subprocess.run(["pam-auth-update", "--package", "--remove", *others], check=True)
    if names:
        subprocess.run(["pam-auth-update", "--enable", *names], check=True)


def command(user, *arguments):
    return ["runuser", "-u", user, "--", "env", "-i", "PATH=/usr/bin:/bin", f"HOME=/home/{user}", *arguments]


def whorl(*arguments, user="owner", secret=None, check=True, place=sit):
    """Runs whorl as a user, with the service; owner is at the machine's seat."""
    outcome = subprocess.run(
        command(user, "whorl", *arguments),
        input=secret,
        capture_output=True,
        timeout=240,
        preexec_fn=lambda: place(user),
    )
    if check and outcome.returncode != 0:
        raise AssertionError((arguments, outcome))
    return outcome


def start(*arguments, user="owner", place=sit, secret=None, **options):
    """Starts whorl as a user, with a secret on standard input; owner is at the machine's seat."""
    process = subprocess.Popen(
        command(user, "whorl", *arguments),
        preexec_fn=lambda: place(user),
        stdin=subprocess.PIPE if secret else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )
    if secret:
        process.stdin.write(secret)
        process.stdin.flush()
    return process


def shown(process):
    """Waits until a command with --json has printed its first event, which begins a prompt."""
    line = process.stdout.readline()
    assert b'"event"' in line, (line, process.communicate(timeout=60))


def lay(finger, times=1, asking=None):
    """Touches the virtual reader when it waits for a finger, this many times or until the program has ended."""
    for _ in range(times):
        deadline = time.monotonic() + 60
        while True:
            try:
                with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as reader:
                    reader.connect("/run/reader/socket")
                    reader.sendall(f"SCAN {finger}".encode())
                break
            except OSError:
                if asking and asking.poll() is not None:
                    return
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
        time.sleep(0.3)


def reader_waits():
    """Whether the virtual reader waits for a finger: it listens only then, although its socket's file stays."""
    with open("/proc/net/unix") as sockets:
        return any(line.split()[3] == "00010000" and line.endswith(" /run/reader/socket\n") for line in sockets)


def act(user, body, *arguments, place=sit):
    """Runs a function in a user's process, and returns its result or raises its exception.

    Owner sits at the machine's seat.
    """
    results = multiprocessing.get_context("fork").SimpleQueue()

    def inside():
        entry = pwd.getpwnam(user)
        place(user)
        os.setgroups([])
        os.setgid(entry.pw_gid)
        os.setuid(entry.pw_uid)
        try:
            results.put((True, body(*arguments)))
        except BaseException as error:
            results.put((False, error))

    process = multiprocessing.get_context("fork").Process(target=inside)
    process.start()
    process.join(300)
    if process.is_alive():
        process.kill()
        raise AssertionError(f"{body} did not end")
    isGood, value = results.get()
    if isGood:
        return value
    raise value


def service_pid():
    text = subprocess.run(
        ["systemctl", "show", "-P", "MainPID", "whorld.service"], capture_output=True, text=True, check=True
    ).stdout
    return int(text)


def touching(finger, times, *arguments):
    """Runs a command as the owner, touches the reader, and returns the command's result."""
    process = start(*arguments, "--json")
    # A touch before the prompt could go to one that is ending. It prints nothing if an agent shows the prompt.
    select.select([process.stdout], [], [], 10)
    lay(finger, times)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, (process.returncode, out, err)
    return json.loads(out.decode().splitlines()[-1])["result"]


def lock(is_locked):
    """Sets the hint of the session at the seat, as a program that locks the screen does."""
    subprocess.run(
        [
            "busctl", "call", "org.freedesktop.login1", "/org/freedesktop/login1/session/_31",
            "org.freedesktop.login1.Session", "SetLockedHint", "b", "true" if is_locked else "false",
        ],
        check=True,
    )


def clear_lockout():
    """Makes the TPM forget all users' wrong passwords; after three, it would not compare any for a while."""
    subprocess.run(["tpm2_dictionarylockout", "-c", "-T", "device:/dev/tpmrm0"], check=True)


def forgive():
    """Touches the reader with the right finger, which resets the count of failed tries."""
    touching("right", 1, "evaluate", "--reason", "a test")
