# SPDX-License-Identifier: Apache-2.0
"""A PAM host on a separate terminal, and a service that sends what a test specifies."""

import ctypes
import ctypes.util
import fcntl
import json
import os
import pathlib
import pty
import select
import shutil
import signal
import socket
import struct
import tempfile
import termios
import threading
import time

MODULE = os.environ["PAM_WHORL"]
PASSWORD = "correct horse"

SUCCESS, AUTH_ERR, AUTHINFO_UNAVAIL, CONV_ERR, PERM_DENIED, IGNORE = 0, 7, 9, 19, 6, 25
# Controls for a line that lets the next one decide; pam_deny then denies.
PROMPT = b"Password or touch: "


class Message(ctypes.Structure):
    _fields_ = [("style", ctypes.c_int), ("text", ctypes.c_char_p)]


class Response(ctypes.Structure):
    _fields_ = [("text", ctypes.c_void_p), ("code", ctypes.c_int)]


TALK = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_int,
    ctypes.POINTER(ctypes.POINTER(Message)),
    ctypes.POINTER(ctypes.POINTER(Response)),
    ctypes.c_void_p,
)


class Conversation(ctypes.Structure):
    _fields_ = [("talk", TALK), ("data", ctypes.c_void_p)]


def authenticate(folder, user="root", tty=None, rhost=None, answer=None, times=1, before=None, changes=False, asking="sudo"):
    """Runs pam_authenticate, and returns its results and the messages of the conversation."""
    pam, c = ctypes.CDLL("libpam.so.0"), ctypes.CDLL(None)
    c.calloc.restype = c.strdup.restype = ctypes.c_void_p
    c.calloc.argtypes, c.strdup.argtypes = [ctypes.c_size_t] * 2, [ctypes.c_char_p]
    told = []

    def talk(count, messages, responses, _):
        made = c.calloc(count, ctypes.sizeof(Response))
        replies = ctypes.cast(made, ctypes.POINTER(Response))
        for index in range(count):
            message = messages[index].contents
            told.append((message.style, message.text.decode()))
            if message.style == 1:  # PAM_PROMPT_ECHO_OFF
                replies[index].text = c.strdup(("wrong" if answer is None else answer).encode())
        responses[0] = replies
        return 0

    conversation = Conversation(TALK(talk), None)
    handle = ctypes.c_void_p()
    assert pam.pam_start_confdir(
        asking.encode(), user.encode(), ctypes.byref(conversation), str(folder).encode(), ctypes.byref(handle)
    ) == 0
    for item, value in ((3, tty), (4, rhost)):
        if value is not None:
            assert pam.pam_set_item(handle, item, value.encode()) == 0
    if before:
        before(pam, handle)
    results = [pam.pam_chauthtok(handle, 0x8000) if changes else pam.pam_authenticate(handle, 0x8000) for _ in range(times)]
    pam.pam_end(handle, results[-1])
    return results, told


def names_processes():
    """Returns whether the kernel tells a service which process has connected (Linux 6.5)."""
    one, other = socket.socketpair()
    with one, other:
        try:
            os.close(one.getsockopt(socket.SOL_SOCKET, 77))
            return True
        except OSError:
            return False


def before_linux_6_5():
    """Permanently disables SO_PEERPIDFD for this process, as on a kernel without it."""
    c = ctypes.CDLL(None, use_errno=True)
    number, option = {"x86_64": (55, 77), "aarch64": (209, 77)}[os.uname().machine]
    load, equal, give = 0x20, 0x15, 0x06
    steps = [
        (load, 0, 0, 0), (equal, 0, 3, number), (load, 0, 0, 16 + 8 * 2), (equal, 0, 1, option),
        (give, 0, 0, 0x00050000 | 92), (give, 0, 0, 0x7FFF0000),  # ENOPROTOOPT, or allowed
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("H6xP", len(steps), ctypes.addressof(code)))
    assert c.prctl(38, 1, 0, 0, 0) == 0 and c.prctl(22, 2, program, 0, 0) == 0, ctypes.get_errno()


HELPER = r"0::/system.slice/system-polkit\x2dagent\x2dhelper.slice/polkit-agent-helper@3-7-812_4711-1000.service"


def helper(agent, group=HELPER, user=0):
    """Makes the kernel report a process as polkit's helper, with the agent's socket as its standard input.

    The file with the name of its unit is another one in a mount namespace of its own: the unit itself is systemd's to make.
    """
    def begin():
        c = ctypes.CDLL(None, use_errno=True)
        file = tempfile.NamedTemporaryFile("w", delete=False)
        file.write(group + "\n")
        file.close()
        assert c.unshare(0x20000) == 0, ctypes.get_errno()  # CLONE_NEWNS
        assert c.mount(None, b"/", None, 0x4000 | 0x40000, None) == 0, ctypes.get_errno()  # MS_REC | MS_PRIVATE
        place = f"/proc/{os.getpid()}/cgroup".encode()
        assert c.mount(file.name.encode(), place, None, 0x1000, None) == 0, ctypes.get_errno()  # MS_BIND
        os.unlink(file.name)
        os.dup2(agent.fileno(), 0)
        agent.close()
        os.setresuid(user, 0, 0)
    return begin


class Service:
    """A socket on which each client gets what a function of the test sends."""

    def __init__(self, serve, backlog=16, mode=0o755):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pam-whorl-"))
        self.folder.chmod(mode)
        self.path = self.folder / "io.whorl"
        self.calls, self.ends, self.serve = [], 0, serve
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(str(self.path))
        self.path.chmod(0o666)
        self.socket.listen(backlog)
        self.threads = []
        if serve:
            threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            thread = threading.Thread(target=self.client, args=(client,), daemon=True)
            self.threads.append(thread)
            thread.start()

    def client(self, client):
        with client:
            try:
                self.serve(Client(client, self.calls))
            except OSError:
                pass
        self.ends += 1

    def close(self):
        self.socket.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Client:
    def __init__(self, socket, calls):
        self.socket, self.calls, self.rest = socket, calls, b""
        # The descriptors received with the calls.
        self.files = []
        socket.settimeout(30)

    def read(self):
        while b"\0" not in self.rest:
            data, files, _, _ = socket.recv_fds(self.socket, 4096, 4)
            self.files += files
            if not data:
                raise ConnectionResetError
            self.rest += data
        message, self.rest = self.rest.split(b"\0", 1)
        call = json.loads(message)
        self.calls.append(call)
        return call

    def say(self, raw=None, **message):
        self.socket.sendall((raw if raw is not None else json.dumps(message).encode()) + b"\0")

    def greet(self):
        """Replies up to the question, which it returns; before Linux 6.5, the process must first prove its identity."""
        call = self.read()
        if call["method"] == "io.whorl.Connection.Challenge":
            self.say(parameters={})
            call = self.read()
        assert call["method"] in ("io.whorl.Login.Verify", "io.whorl.Login.UnlockScreen"), call
        return call

    def show(self, text):
        self.say(parameters={"message": text}, **{"continues": True})

    def match(self, file=None):
        """Reports a match, and sends a file along with it."""
        if file is None:
            return self.say(parameters={"matched": True})
        reply = json.dumps({"parameters": {"matched": True, "password": 0}}).encode() + b"\0"
        socket.send_fds(self.socket, [reply], [file])

    def refuse(self, reason, message="No."):
        self.say(
            error="io.whorl.Login.Refused",
            parameters={"reason": reason, "code": "x", "message": message, "recovery": "", "cause": ""},
        )

    def wait_for_end(self):
        """Returns when the other end has closed the connection."""
        try:
            while self.socket.recv(4096):
                pass
        except OSError:
            pass


SEALS = 7  # no new seals, no cutting, no growing


def sealed(content, seals=SEALS):
    """A file in the form in which the service sends passwords."""
    file = os.memfd_create("whorl-secret", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.write(file, content)
    fcntl.fcntl(file, fcntl.F_ADD_SEALS, seals)
    return file


def stack(folder, options="", control="[success=2 conv_err=die default=ignore]", keep=False, opens=False):
    """Writes a stack as pam-auth-update does: the module, a password, deny, permit, and a keyring's module."""
    check = folder / "check"
    check.write_text(f'#!/bin/sh\nIFS= read -r typed\n[ "$typed" = "{PASSWORD}" ]\n')
    check.chmod(0o755)
    keyring = folder / "keyring"
    keyring.write_text(f'#!/bin/sh\ntr -d "\\0" >{folder}/typed\n[ ! -s {folder}/typed ] || mv {folder}/typed {folder}/handed\n')
    keyring.chmod(0o755)
    for service in ("polkit-1", "swaylock", "i3lock", "kde", "kde-smartcard", "kde-fingerprint", "omarchy-lock-fingerprint"):
        if not (folder / service).is_symlink():
            (folder / service).symlink_to("sudo")
    (folder / "sudo").write_text(
        f"auth {control} {MODULE} socket={folder}/io.whorl {options}\n"
        f"auth [success=1 default=ignore] pam_exec.so quiet expose_authtok {check}\n"
        "auth requisite pam_deny.so\n"
        "auth required pam_permit.so\n"
        + (f"auth optional {MODULE} keep socket={folder}/io.whorl\n" if keep else "")
        + (f"auth optional pam_exec.so quiet expose_authtok {keyring}\n" if opens else "")
        + f"password optional {MODULE} socket={folder}/io.whorl\n"
        + "password required pam_permit.so\n"
    )


def handed_over(folder):
    """The password that the keyring's module got; None if it got none, and therefore prompted for one."""
    place = folder / "handed"
    found = place.read_bytes() if place.exists() else None
    return None if found == b"wrong" else found


class Host:
    """A process on a separate terminal, which authenticates like sudo."""

    def __init__(self, service, options="", rhost=None, named=True, times=1, control=None, handler=None, keep=False, opens=False, **more):
        stack(service.folder, options, *([control] if control else []), keep=keep, opens=opens)
        self.master, self.slave = pty.openpty()
        self.before = termios.tcgetattr(self.slave)
        self.output = b""
        reader, writer = os.pipe()
        self.result = reader
        self.begun = time.monotonic()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.setsid()
                fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
                for number in range(3):
                    os.dup2(self.slave, number)
                # The program that started these tests may ignore some signals, like nohup.
                for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM, signal.SIGTSTP):
                    signal.signal(number, signal.SIG_DFL)
                if handler:
                    handler()
                name = os.ttyname(self.slave)
                results, told = authenticate(
                    service.folder, tty=name if named is True else named, rhost=rhost, times=times, **more
                )
                held = signal.pthread_sigmask(signal.SIG_BLOCK, [])
                left = sorted(os.listdir("/proc/self/fd"))
                threads = len(os.listdir("/proc/self/task"))
                os.write(writer, json.dumps([results, told, len(held), len(left), threads]).encode())
                os._exit(0)
            finally:
                # Whatever a test makes impossible here is not tried again by a second run of the tests.
                os._exit(3)
        os.close(writer)

    def until(self, text, seconds=10):
        """Waits until the terminal shows this text."""
        deadline = time.monotonic() + seconds
        while text not in self.output:
            left = deadline - time.monotonic()
            assert left > 0, (text, self.output)
            if select.select([self.master], [], [], left)[0]:
                try:
                    self.output += os.read(self.master, 4096)
                except OSError:
                    break
        assert text in self.output, (text, self.output)

    def type(self, text):
        os.write(self.master, text.encode() if isinstance(text, str) else text)

    def end(self, seconds=20):
        """Waits until it exits; returns the results and the messages, or the number of the signal that ended it."""
        deadline = time.monotonic() + seconds
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                break
            assert time.monotonic() < deadline, ("does not end", self.output)
            if select.select([self.master], [], [], 0.02)[0]:
                self.output += os.read(self.master, 4096)
        self.took = time.monotonic() - self.begun
        while select.select([self.master], [], [], 0.05)[0]:
            self.output += os.read(self.master, 4096)
        after = termios.tcgetattr(self.slave)
        os.close(self.master), os.close(self.slave)
        assert after == self.before, ("the terminal is not as before", self.before, after)
        assert PASSWORD.encode() not in self.output, "the password was shown"
        if os.WIFSIGNALED(status):
            os.close(self.result)
            return os.WTERMSIG(status), []
        answer = os.read(self.result, 65536)
        os.close(self.result)
        if not answer:
            return None, []
        results, told, held, _, threads = json.loads(answer)
        assert held == 0, "signals are held back afterwards"
        assert threads == 1, "threads are left"
        return results[-1] if len(results) == 1 else results, told
