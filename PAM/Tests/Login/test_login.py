# SPDX-License-Identifier: Apache-2.0
# Docs/Security.md: S46, S48, S49, S50
"""The installed module, in a real libpam, on a terminal: touches, passwords, signals, and a service that lies."""

import json
import os
import pathlib
import resource
import select
import signal
import socket
import sys
import threading
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from host import (
    AUTH_ERR, AUTHINFO_UNAVAIL, CONV_ERR, HELPER, PASSWORD, PROMPT, SEALS, SUCCESS, Host, Service, authenticate,
    before_linux_6_5, handed_over, helper, names_processes, sealed, stack,
)

# The options of a line that says what the module said, with nothing after it.
ALONE = "[default=done]"


def run(serve, act=None, expect=None, backlog=16, mode=0o755, **options):
    """Authenticates once with a service, and returns the host with its result."""
    service = Service(serve, backlog, mode)
    try:
        host = Host(service, **options)
        if act:
            act(host, service)
        host.answer, host.told = host.end()
        host.calls = service.calls
        host.handed = handed_over(service.folder)
        if expect is not None:
            assert host.answer == expect, (host.answer, expect, host.told, host.output)
        return host
    finally:
        service.close()


def waiting(client):
    client.greet()
    client.show("Place your finger.")
    client.wait_for_end()


def touched(client):
    client.greet()
    client.show("Place your finger.")
    time.sleep(0.4)
    client.match()


def typed(text):
    def act(host, _):
        host.until(PROMPT)
        host.type(text)
    return act


def test_touch_lets_in_and_says_who_asks():
    host = run(touched, expect=SUCCESS)
    assert host.output.endswith(PROMPT + b"\r\n"), host.output
    call = host.calls[-1]
    assert call["method"] == "io.whorl.Login.Verify" and call["more"] is True, call
    asked = call["parameters"]
    assert asked["user"] == 0 and asked["service"] == "sudo" and asked["terminal"].startswith("/dev/pts/"), asked
    assert asked["timeoutMilliseconds"] == 30_000 and asked["mostTries"] == 3 and "remoteHost" not in asked, asked


def test_right_password_is_checked_by_the_next_module():
    host = run(waiting, typed(PASSWORD + "\r"), SUCCESS)
    assert host.told == [], "the next module asked again"


def test_wrong_password_lets_no_one_in():
    host = run(waiting, typed("wrong\r"), AUTH_ERR)
    assert host.told == []


def test_typed_password_is_no_success_of_the_module():
    for control in ("required", "requisite", "sufficient", ALONE):
        host = run(waiting, typed("wrong\r"), control=control)
        assert host.answer != SUCCESS, control
    run(waiting, typed(PASSWORD + "\r"), AUTHINFO_UNAVAIL, control=ALONE)


def test_keys_edit_the_password():
    for keys in ("x\x7f", "äö\x7f\x7f", "all of it\x15", "more of it\x17"):
        run(waiting, typed(keys + PASSWORD + "\n"), SUCCESS)


def test_end_of_file_asks_as_if_there_were_no_reader():
    host = run(waiting, typed("\x04"), SUCCESS, answer=PASSWORD)
    assert [style for style, _ in host.told] == [1], host.told


def test_line_that_is_too_long_is_no_password():
    host = run(waiting, typed("x" * 600 + "\r"), AUTH_ERR)
    assert [style for style, _ in host.told] == [1], host.told


def test_hints_are_shown_and_the_prompt_again():
    def hinting(client):
        client.greet()
        client.show("Place your finger.")
        time.sleep(0.4)
        client.show("Not recognized. 2 tries left.")
        client.show("Place your finger.")
        client.match()
    host = run(hinting, expect=SUCCESS)
    assert host.output == PROMPT + b"\r\nNot recognized. 2 tries left.\r\n" + PROMPT + b"\r\n", host.output


def test_hint_cannot_write_to_the_terminal_what_it_obeys():
    def hinting(client):
        client.greet()
        client.show("Place your finger.")
        time.sleep(0.4)
        client.show("\x1b[2J\x07\x9b31mred\u202e" + "y" * 5000)
        client.match()
    host = run(hinting, expect=SUCCESS)
    assert b"\x1b" not in host.output and b"\x07" not in host.output and b"\xc2\x9b" not in host.output, host.output
    assert len(host.output) < 600


def test_refusal_at_once_leaves_the_password_to_the_next_module_within_50_ms():
    for reason in ("noReader", "noFingers", "lidShut", "remote", "noSession", "busy", "disabled", "notTrusted", "new"):
        def refusing(client):
            client.greet()
            client.refuse(reason)
        host = run(refusing, expect=AUTHINFO_UNAVAIL, control=ALONE)
        assert host.output == b"" and host.told == [], (reason, host.output)


def test_lockout_is_told():
    def refusing(client):
        client.greet()
        client.refuse("lockedOut", "Too many touches did not match.")
    host = run(refusing, expect=AUTH_ERR, control=ALONE)
    # As an error, so that a graphical program can distinguish it from the instruction.
    assert host.told == [[3, "Too many touches did not match."]], host.told


def test_wrong_fingers_leave_the_password():
    def failing(client):
        client.greet()
        client.show("Place your finger.")
        time.sleep(0.4)
        client.refuse("notMatched")
    run(failing, expect=AUTH_ERR, control=ALONE)
    host = run(failing, expect=SUCCESS, answer=PASSWORD)
    assert [style for style, _ in host.told] == [1], host.told


def test_service_that_is_killed_does_not_take_the_password_away():
    def dying(client):
        client.greet()
        client.show("Place your finger.")
        time.sleep(0.5)
    def act(host, service):
        host.until(PROMPT)
        host.type("correct")
        time.sleep(1)
        assert service.ends == 1
        host.type(" horse\r")
    host = run(dying, act, SUCCESS)
    assert host.told == []
    host = run(dying, expect=SUCCESS, answer=PASSWORD)
    assert [style for style, _ in host.told] == [1], host.told


def test_time_limit_ends_the_prompt_and_hangs_up():
    ended = []
    def waiting_for_end(client):
        waiting(client)
        ended.append(True)
    host = run(waiting_for_end, expect=AUTHINFO_UNAVAIL, control=ALONE, options="timeout=1")
    time.sleep(0.2)
    assert 1.5 < host.took < 4 and ended, (host.took, ended)


def test_what_is_no_yes_of_the_service_lets_no_one_in():
    lies = [
        b"", b"{}", b"true", b"null", b"[]", b"{\"parameters\":{\"matched\":true}", b"{\"parameters\":{\"matched\":\"true\"}}",
        b"{\"parameters\":{\"matched\":1}}", b"{\"parameters\":{\"matched\":null}}", b"{\"matched\":true}",
        b"{\"parameters\":{\"matched\":true},\"continues\":true}", b"{\"error\":\"x\",\"parameters\":{\"matched\":true}}",
        b"{\"error\":null,\"parameters\":{\"matched\":true}}",
        b"{\"parameters\":{\"matched\":false,\"matched\":true}}", b"{\"parameters\":{\"matched\":true}}x",
        b"{\"parameters\":{\"a\":{\"matched\":true}}}", b"{\"parameters\":[{\"matched\":true}]}",
        b"{\"parameters\":{},\"parameters\":{\"matched\":true}}", b"\xff\xfe", b"{\"parameters\":{\"matched\":truex}}",
        b"{" + b"\"a\":{" * 5000 + b"}" * 5000 + b"}", b"[" * 16000, b"x" * 100_000, b"{\"a\":\"" + b"\\u12" + b"\"}",
    ]
    for lie in lies:
        def lying(client):
            client.greet()
            client.say(lie)
            time.sleep(0.5)
        host = run(lying, control=ALONE, options="finger-only")
        assert host.answer in (AUTHINFO_UNAVAIL, AUTH_ERR), (lie[:80], host.answer)


def test_yes_before_the_question_is_none():
    def hasty(client):
        client.read()
        client.match()
        client.read()
        client.refuse("noReader")
    run(hasty, expect=AUTHINFO_UNAVAIL, control=ALONE, handler=before_linux_6_5)


def test_flood_leaves_the_password_to_be_typed():
    def flooding(client):
        client.greet()
        client.show("Place your finger.")
        number = 0
        while True:
            number += 1
            client.say(parameters={"other": number}, **{"continues": True})
    host = run(flooding, typed(PASSWORD + "\r"), SUCCESS)
    assert host.took < 5, host.took


def test_service_that_says_nothing_does_not_take_the_terminal_away():
    def silent(client):
        client.wait_for_end()
    host = run(silent, typed(PASSWORD + "\r"), SUCCESS)
    assert host.told == []
    host = run(silent, expect=AUTHINFO_UNAVAIL, control=ALONE, options="finger-only")
    assert 2.5 < host.took < 5, host.took


def test_full_backlog_is_waited_for_two_seconds_and_no_service_not_at_all():
    service = Service(None, backlog=0)
    clients = []
    try:
        while True:
            client = socket.socket(socket.AF_UNIX)
            client.setblocking(False)
            clients.append(client)
            try:
                client.connect(str(service.path))
            except BlockingIOError:
                break
        host = Host(service, control=ALONE)
        assert host.end()[0] == AUTHINFO_UNAVAIL
        stack(service.folder, control=ALONE)
        begun = time.monotonic()
        assert authenticate(service.folder)[0] == [AUTHINFO_UNAVAIL]
        full = time.monotonic() - begun
        service.path.unlink()
        begun = time.monotonic()
        assert authenticate(service.folder)[0] == [AUTHINFO_UNAVAIL]
        absent = time.monotonic() - begun
        print(f"      backlog full: {full * 1000:.1f} ms, no service: {absent * 1000:.1f} ms, both with loading")
        assert 1.9 < full < 4 and absent < 0.05, (full, absent)
    finally:
        service.close()


def test_socket_that_root_does_not_own_the_folder_of_is_not_asked():
    for mode in (0o777, 0o775):
        host = run(touched, expect=AUTHINFO_UNAVAIL, control=ALONE, mode=mode)
        assert host.calls == []


def test_socket_in_a_folder_of_a_user_and_one_of_another_listener_are_not_asked():
    service = Service(touched)
    try:
        os.chown(service.folder, 65534, 0)
        stack(service.folder, control=ALONE)
        assert authenticate(service.folder)[0] == [AUTHINFO_UNAVAIL] and service.calls == []
    finally:
        service.close()
    service = Service(None)
    service.path.unlink()
    service.folder.chmod(0o755)
    pid = os.fork()
    if pid == 0:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(service.path))  # root's file, as after an attack with a right of root's
        os.setuid(65534)
        listener.listen(1)
        time.sleep(5)
        os._exit(0)
    try:
        time.sleep(0.5)
        stack(service.folder, control=ALONE)
        assert authenticate(service.folder)[0] == [AUTHINFO_UNAVAIL]
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        service.close()


def test_link_in_the_place_of_the_folder_or_of_the_socket_is_not_followed():
    service = Service(touched)
    try:
        link = pathlib.Path(str(service.folder) + "-link")
        link.symlink_to(service.folder)
        stack(service.folder, f"socket={link}/io.whorl", ALONE)
        assert authenticate(service.folder)[0] == [AUTHINFO_UNAVAIL] and service.calls == []
        link.unlink()
        (service.folder / "other").symlink_to(service.path)
        stack(service.folder, f"socket={service.folder}/other", ALONE)
        assert authenticate(service.folder)[0] == [AUTHINFO_UNAVAIL] and service.calls == []
    finally:
        service.close()


def test_person_at_another_machine_is_not_asked():
    for host in ("192.0.2.7", "example.org", "x" * 5000, ":0"):
        host = run(touched, expect=AUTHINFO_UNAVAIL, control=ALONE, rhost=host)
        assert host.calls == []
    for name in ("", "localhost"):
        run(touched, expect=SUCCESS, rhost=name)


def test_unknown_user_and_one_that_is_not_root_ask_nothing():
    host = run(touched, expect=AUTHINFO_UNAVAIL, control=ALONE, user="no-such-user")
    assert host.calls == []
    # Another user than the one who asks, and nobody's password is kept.
    for keep in (False, True):
        host = run(touched, handler=become_nobody, asking="swaylock", answer="", named=None, keep=keep, control=ALONE)
        assert host.answer == AUTHINFO_UNAVAIL and host.calls == [], host.calls


def become_nobody():
    os.setresuid(65534, 65534, 65534)


def locked(serve, asking="swaylock", answer="", **options):
    """Authenticates once as a screen locker that runs as its user does, without a terminal."""
    options.setdefault("named", None)
    return run(serve, asking=asking, answer=answer, user="nobody", handler=become_nobody, **options)


# Docs/Security.md: S55
def test_locker_of_a_user_asks_for_a_touch_after_an_empty_password():
    for asking, named in (("swaylock", None), ("i3lock", ":0")):
        host = locked(touched, asking, named=named, options="keyring", keep=True, expect=SUCCESS)
        assert host.told[0] == [1, PROMPT.decode()] and [4, "Place your finger."] in host.told, host.told
        asked = [call for call in host.calls if not call["method"].startswith("io.whorl.Connection.")]
        # Nothing is kept, and no password is asked for.
        assert [call["method"] for call in asked] == ["io.whorl.Login.UnlockScreen"], asked
        assert asked[0]["parameters"] == {"service": asking, "timeoutMilliseconds": 10_000, "mostTries": 3}, asked


def test_typed_password_in_a_locker_of_a_user_does_not_wait_for_the_service():
    for answer, end in ((PASSWORD, SUCCESS), ("wrong horse", AUTH_ERR)):
        host = locked(waiting, answer=answer, expect=end)
        assert host.calls == [] and host.took < 2 and len(host.told) == 1, (host.calls, host.took, host.told)


def test_locker_that_handles_the_touch_by_itself_asks_for_no_password():
    for asking, options in (("kde-fingerprint", ""), ("omarchy-lock-fingerprint", ""), ("swaylock", "finger-only")):
        host = locked(touched, asking, options=options, expect=SUCCESS)
        assert host.told == [[4, "Place your finger."]], (asking, host.told)
        assert host.calls[-1]["parameters"]["timeoutMilliseconds"] == 30_000, host.calls


def test_other_parts_of_kdes_locker_wait_for_no_touch():
    for asking in ("kde", "kde-smartcard"):
        host = locked(waiting, asking, answer=PASSWORD, expect=SUCCESS)
        assert host.calls == [] and host.took < 2, (asking, host.took)


def test_wrong_finger_and_a_killed_service_leave_a_locker_the_password():
    def refused(client):
        client.greet()
        client.show("Place your finger.")
        client.refuse("notMatched")
    for serve in (refused, lambda client: client.greet()):
        host = locked(serve, expect=AUTH_ERR)
        assert [told[0] for told in host.told].count(1) == 2, host.told


def test_password_that_was_asked_for_before_is_left_alone():
    service = Service(touched)
    try:
        stack(service.folder)
        results, _ = authenticate(
            service.folder, before=lambda pam, handle: pam.pam_set_item(handle, 6, PASSWORD.encode())
        )
        # libpam lets only modules set the password.
        assert results[0] in (SUCCESS, AUTH_ERR)
    finally:
        service.close()


def test_without_a_terminal_of_its_own_the_conversation_shows_what_to_do():
    for named in (None, ":0", "ssh", "/dev/null", "/nowhere", "/dev/pts/999"):
        host = run(touched, expect=SUCCESS, named=named)
        assert host.told == [[4, "Place your finger."]] and host.output == b"", (named, host.told, host.output)
    host = run(touched, expect=SUCCESS, options="finger-only")
    assert host.told == [[4, "Place your finger."]] and host.output == b""


def test_interrupt_ends_the_host_and_mends_the_terminal():
    run(waiting, typed("\x03"), signal.SIGINT)
    run(waiting, typed("\x1c"), signal.SIGQUIT)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
        def act(host, _):
            host.until(PROMPT)
            os.kill(host.pid, number)
        run(waiting, act, number)


def test_interrupt_that_the_host_outlives_ends_the_stack():
    host = run(waiting, typed("\x03"), CONV_ERR, handler=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    assert host.told == []
    host = run(waiting, typed("\x03"), CONV_ERR, handler=lambda: signal.signal(signal.SIGINT, lambda *_: None))
    assert host.told == []


def test_host_with_few_descriptors_left_has_its_terminal_as_before():
    prompts = 0
    for limit in range(6, 22):
        def few():
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

        def act(host, _):
            nonlocal prompts
            time.sleep(0.8)
            while select.select([host.master], [], [], 0)[0]:
                host.output += os.read(host.master, 4096)
            if PROMPT in host.output:
                prompts += 1
                host.type("\x03")
        host = run(waiting, act, control=ALONE, handler=few)
        assert host.answer != SUCCESS, limit
    assert prompts > 0


def test_job_that_is_stopped_asks_again_when_it_goes_on():
    def act(host, service):
        host.until(PROMPT)
        host.type("\x1a")
        # The terminal does not stop a process in an orphaned process group: the prompt begins again immediately.
        time.sleep(0.5)
        host.until(PROMPT + b"\r\n" + PROMPT)
        host.type(PASSWORD + "\r")
    run(waiting, act, SUCCESS)


def test_hundred_logins_leave_nothing_behind():
    service = Service(touched_at_once)
    try:
        stack(service.folder)
        assert authenticate(service.folder)[0] == [SUCCESS]
        files, memory = len(os.listdir("/proc/self/fd")), resident()
        begun = time.monotonic()
        for _ in range(100):
            assert authenticate(service.folder)[0] == [SUCCESS]
        print(f"      {(time.monotonic() - begun) * 10:.2f} ms a login, with a service in Python")
        time.sleep(0.3)
        assert len(os.listdir("/proc/self/fd")) <= files and resident() - memory < 2000, (files, resident() - memory)
    finally:
        service.close()


def touched_at_once(client):
    client.greet()
    client.match()


def resident():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4


def test_options_that_are_wrong_change_nothing():
    host = run(touched, expect=SUCCESS, options="timeout=0 timeout=99999 max-tries=9 nonsense [timeout=x y] no-remote")
    asked = host.calls[-1]["parameters"]
    assert asked["timeoutMilliseconds"] == 30_000 and asked["mostTries"] == 3, asked
    host = run(touched, expect=SUCCESS, options="timeout=7 max-tries=1")
    asked = host.calls[-1]["parameters"]
    assert asked["timeoutMilliseconds"] == 7_000 and asked["mostTries"] == 1, asked


def test_challenge_is_answered():
    def asking(client):
        client.read()
        client.say(parameters={"question": "1f2e3d"})
        call = client.read()
        assert call["method"] == "io.whorl.Connection.Prove" and call["parameters"] == {"answer": "1f2e3d"}, call
        client.say(parameters={})
        call = client.read()
        assert call["method"] == "io.whorl.Login.Verify", call
        client.show("Place your finger.")
        client.match()
    run(asking, expect=SUCCESS, handler=before_linux_6_5)
    # A service without the challenge does not need it.
    run(touched, expect=SUCCESS, handler=before_linux_6_5)


def test_first_call_asks_for_the_touch_where_the_kernel_names_the_process():
    host = run(touched_at_once, expect=SUCCESS)
    first = host.calls[0]["method"]
    assert first == ("io.whorl.Login.Verify" if names_processes() else "io.whorl.Connection.Challenge"), first


def asked_by_helper(group=HELPER, user=0, asking="polkit-1", standard_input=None):
    """Authenticates as polkit's helper, and returns the host and the IDs of the processes passed to the service."""
    agent, helpers = socket.socketpair()
    passed = []

    def serve(client):
        client.greet()
        for file in client.files:
            lines = pathlib.Path(f"/proc/self/fdinfo/{file}").read_text().splitlines()
            passed.extend(int(line.split()[1]) for line in lines if line.startswith("Pid:"))
            os.close(file)
        client.show("Place your finger.")
        client.match()

    with agent, helpers:
        handler = helper(standard_input or helpers, group, user)
        host = run(serve, expect=SUCCESS, asking=asking, named=None, handler=handler)
    return host, passed


def test_process_of_polkits_agent_is_passed_by_the_helper_alone():
    host, passed = asked_by_helper()
    assert [text for _, text in host.told] == ["Place your finger."], host.told
    if not names_processes():
        # Before Linux 6.5, the kernel does not report it, and the helper is refused like any process outside a session.
        assert "agent" not in host.calls[-1]["parameters"] and passed == []
        return
    # For a socket pair, it is the process that created the pair.
    assert host.calls[-1]["parameters"]["agent"] == 0 and passed == [os.getpid()], (host.calls, passed)
    for others in (
        {"asking": "sudo"}, {"user": 1000}, {"standard_input": open("/dev/null", "rb")},
        {"group": HELPER.replace("system.slice", "user.slice", 1)}, {"group": HELPER.replace("agent-helper@", "agent-helper-")},
        {"group": "0::/user.slice/user-1000.slice/user@1000.service/app.slice/polkit-agent-helper@1.service"},
        {"group": HELPER.replace("0::", "1:name=systemd:")}, {"group": HELPER[:60]}, {"group": ""},
    ):
        host, passed = asked_by_helper(**others)
        assert "agent" not in host.calls[-1]["parameters"] and passed == [], (others, host.calls)


def test_agent_that_hangs_up_ends_the_helpers_question():
    if not names_processes():
        return print("      not run: before Linux 6.5 nothing tells who the agent is")
    agent, helpers = socket.socketpair()
    ended = []

    def serve(client):
        client.greet()
        client.show("Place your finger.")
        agent.shutdown(socket.SHUT_RDWR)
        client.wait_for_end()
        ended.append(time.monotonic())

    with agent, helpers:
        host = run(serve, expect=CONV_ERR, control=ALONE, asking="polkit-1", named=None, handler=helper(helpers))
    assert host.took < 5 and ended, host.took


def test_words_of_the_agent_end_nothing():
    if not names_processes():
        return print("      not run: before Linux 6.5 nothing tells who the agent is")
    agent, helpers = socket.socketpair()
    with agent, helpers:
        agent.sendall(b"cookie\n")
        host = run(touched, expect=SUCCESS, asking="polkit-1", named=None, handler=helper(helpers))
    assert host.calls[-1]["parameters"]["agent"] == 0, host.calls


def matching_with(content, seals=SEALS):
    def serve(client):
        client.greet()
        client.show("Place your finger.")
        client.match(sealed(content, seals))
    return serve


def test_touch_hands_the_login_password_to_the_keyring():
    host = run(matching_with(b"geheim \xc3\xa4"), expect=SUCCESS, options="keyring", opens=True)
    assert host.handed == b"geheim \xc3\xa4", host.handed
    asked = host.calls[-1]["parameters"]
    assert asked["keyring"] is True and asked["passwordChangedOn"] > 10_000, asked
    assert b"geheim" not in host.output


def test_touch_without_a_password_is_a_match_all_the_same():
    host = run(touched, expect=SUCCESS, options="keyring", opens=True)
    assert host.handed is None


def test_password_that_was_not_asked_for_is_not_handed_over():
    host = run(matching_with(b"geheim"), expect=SUCCESS, opens=True)
    assert host.handed is None
    assert "keyring" not in host.calls[-1]["parameters"] and "passwordChangedOn" not in host.calls[-1]["parameters"]


def test_file_that_is_no_password_is_not_handed_over():
    for content, seals in ((b"", SEALS), (b"x" * 512, SEALS), (b"a\0b", SEALS), (b"cut", 1), (b"grow", 3), (b"free", 0)):
        host = run(matching_with(content, seals), expect=SUCCESS, options="keyring", opens=True)
        assert host.handed is None, (content, seals, host.handed)
    host = run(matching_with(b"x" * 511), expect=SUCCESS, options="keyring", opens=True)
    assert host.handed == b"x" * 511


def test_password_beside_a_refusal_is_not_handed_over():
    def refusing(client):
        client.greet()
        client.show("Place your finger.")
        text = b'{"error":"io.whorl.Login.Refused","parameters":{"reason":"notMatched","password":0}}\0'
        socket.send_fds(client.socket, [text], [sealed(b"geheim")])
        client.wait_for_end()
    host = run(refusing, expect=AUTH_ERR, options="keyring", opens=True, answer="wrong")
    assert host.handed is None


def test_many_files_leave_no_descriptor_behind():
    def flooding(client):
        client.greet()
        text = b'{"continues":true,"parameters":{"message":"Place your finger."}}\0'
        for _ in range(50):
            socket.send_fds(client.socket, [text], [sealed(b"flood") for _ in range(9)])
        client.match(sealed(b"geheim"))
    host = run(flooding, expect=SUCCESS, options="keyring", opens=True)
    assert host.handed == b"geheim", host.handed


def keeping(kept, answers=True):
    """A service that waits for a touch on one connection, and accepts a password on the next."""
    def serve(client):
        message, files, _, _ = socket.recv_fds(client.socket, 4096, 4)
        if b"Login.Keep" not in message:
            client.rest = message
            return waiting(client)
        kept.append((message, [os.pread(file, 1024, 0) for file in files]))
        if answers:
            client.say(parameters={"value": True})
        else:
            client.wait_for_end()
    return serve


def test_typed_password_is_kept_once_the_stack_has_checked_it():
    kept = []
    host = run(keeping(kept), typed(PASSWORD + "\r"), SUCCESS, options="keyring", opens=True, keep=True)
    (message, files), = kept
    assert files == [PASSWORD.encode()] and PASSWORD.encode() not in message, kept
    assert b'"user":0' in message and b'"changedOn":' in message, message
    assert host.handed == PASSWORD.encode()


def test_wrong_password_is_not_kept():
    kept = []
    run(keeping(kept), typed("wrong\r"), AUTH_ERR, options="keyring", opens=True, keep=True)
    assert not kept


def test_touch_without_a_password_keeps_none():
    def serve(client):
        message = client.read()
        assert "Keep" not in message["method"], message
        client.rest = json.dumps(message).encode() + b"\0" + client.rest
        touched(client)
    run(serve, expect=SUCCESS, options="keyring", opens=True, keep=True)


def test_service_that_does_not_keep_holds_the_login_up_for_8_seconds_at_most():
    kept = []
    begun = time.monotonic()
    run(keeping(kept, answers=False), typed(PASSWORD + "\r"), SUCCESS, options="keyring", opens=True, keep=True)
    assert kept and time.monotonic() - begun < 11


def test_changed_password_is_forgotten():
    calls = []
    def serve(client):
        calls.append(client.read())
        client.say(parameters={})
    run(serve, expect=SUCCESS, changes=True)
    assert calls == [{"method": "io.whorl.Login.PasswordChanged", "parameters": {"user": 0}}], calls


def main():
    wanted, failed = sys.argv[1:], 0
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_")]
    for name, test in tests:
        if wanted and name not in wanted:
            continue
        begun = time.monotonic()
        try:
            test()
            print(f"ok    {name} ({time.monotonic() - begun:.1f} s)", flush=True)
        except BaseException:
            failed += 1
            print(f"FAIL  {name}\n{traceback.format_exc()}", flush=True)
    print(f"{len(wanted or tests)} tests, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
