# SPDX-License-Identifier: Apache-2.0
"""The kiosk's screen before a greetd that does what it should, and one that does not.

usage: KIOSK_GREETER=PROGRAM test_screen.py [TEST...]      as root, whom the files of a kiosk belong to
"""

import contextlib
import struct
import sys
import time
import traceback

from greetd import Display, Greetd

CAGE = """cage -- /bin/sh -c '"$@"; kill "$PPID"' sh """
PATH = "PATH=/usr/local/bin:/usr/bin:/bin"
TOUCH = "Swipe your finger across the reader."
display = Display()


@contextlib.contextmanager
def greetd(**files):
    server = Greetd(display, {name.replace("_", "."): text for name, text in files.items()})
    try:
        server.sees("page=ask")
        yield server
    finally:
        server.close()


def begins(server, typed="ada"):
    server.types(typed)
    assert server.asked() == {"type": "create_session", "username": "ada"}
    server.sees("page=wait")


def is_cancelled(server, *reason):
    assert server.asked() == {"type": "cancel_session"}
    server.sees("page=leaving")
    server.says("success")
    server.sees("page=ask", *reason)


def test_badge_and_a_touch_start_the_session():
    with greetd(badges="0042 ada\n", kiosk_conf="Command=our-app --for \"everyone\"\n") as server:
        begins(server, "0042")
        # A byte at a time.
        server.sentence("info", TOUCH, slowly=True)
        server.sees("page=wait", TOUCH)
        assert server.asked() == {"type": "post_auth_message_response", "response": ""}
        server.says("success")
        assert server.asked() == {"type": "start_session", "cmd": [CAGE + "/bin/sh -c 'our-app --for \"everyone\"'"], "env": [PATH]}
        server.says("success")
        assert server.ended() == 0


def test_counter_checks_people_in_one_after_the_other_and_leads_to_the_till():
    with greetd(kiosk_conf="Mode=counter\nTill=our-till\nReasonSeconds=5\n") as server:
        begins(server)
        server.says("success")
        server.sees("page=arrived", "You are checked in.")
        # The next one does not wait.
        server.types("ada")
        assert server.asked() == {"type": "cancel_session"}
        server.says("success")
        assert server.asked()["type"] == "create_session"
        server.says("success")
        server.sees("page=arrived")
        # No one follows.
        is_cancelled(server)
        begins(server)
        server.says("success")
        server.sees("page=arrived")
        server.types("", "F2")
        assert server.asked() == {"type": "start_session", "cmd": [CAGE + "foot -- /bin/sh -c 'our-till'"], "env": [PATH]}
        assert server.log.read_text().count("checked in: ada") == 3
        server.says("success")
        assert server.ended() == 0


def test_password_is_asked_for_only_where_it_is_taken():
    with greetd() as server:
        begins(server)
        server.sentence("secret", "Password: ")
        is_cancelled(server, "Touch is not available")
        begins(server)
        server.sentence("info", TOUCH)
        server.asked()
        server.sentence("secret", "Password: ")
        is_cancelled(server, "the fingerprint service stopped")


def test_typed_password_reaches_greetd_alone():
    password = "tr\"u\\b a&dor"
    with greetd(kiosk_conf="Command=our-app\nPasswords=yes\n") as server:
        begins(server)
        server.sentence("secret", "Password: ")
        server.sees("page=password")
        server.types(password)
        assert server.asked() == {"type": "post_auth_message_response", "response": password}
        server.says("error", error_type="auth_error", description="pam_authenticate: AUTH_ERR")
        is_cancelled(server, "You were not let in.")
        # It is not in the field that is shown next, nor in the journal.
        server.types("ada")
        assert server.asked()["username"] == "ada"
        assert password not in server.log.read_text()


def test_escape_and_a_long_silence_go_back():
    with greetd(kiosk_conf="Command=our-app\nPasswords=yes\nIdleSeconds=5\n") as server:
        begins(server)
        server.sentence("secret", "Password: ")
        server.sees("page=password")
        server.types("half", "Escape")
        is_cancelled(server, "reason=")
        begins(server)
        server.sentence("secret", "Password: ")
        server.sees("page=password")
        is_cancelled(server, "Timed out.")
        # A half-typed name goes too.
        server.types("mallory", "BackSpace")
        time.sleep(6)
        begins(server)


def test_late_touch_of_someone_who_has_gone_starts_nothing():
    with greetd() as server:
        begins(server)
        server.sentence("info", TOUCH)
        server.asked()
        server.types("", "Escape")
        server.sees("page=leaving")
        server.says("success")
        assert server.asked() == {"type": "cancel_session"}
        server.says("success")
        server.sees("page=ask")


def test_reason_goes_after_a_while():
    with greetd(kiosk_conf="Command=our-app\nReasonSeconds=2\n") as server:
        server.types("4711")
        server.sees("page=ask", "Unknown badge.")
        server.sees("page=ask sentence= reason=", seconds=6)


def test_numbers_that_are_tried_out_take_longer_each_time_and_show_no_name():
    with greetd(badges="0042 ada\n") as server:
        for count in (1, 2, 3):
            begin = time.monotonic()
            server.types(str(4711 + count))
            server.sees("page=pause")
            # What is typed meanwhile is not taken.
            server.types("0042")
            server.sees("page=ask", "Unknown badge.")
            assert time.monotonic() - begin > count - 0.5, count
        begins(server, "0042")
        server.sentence("info", TOUCH)
        server.asked()
        assert "ada" not in server.log.read_text()


def test_keys_do_not_keep_a_checked_in_person_on_the_screen():
    with greetd(kiosk_conf="Mode=counter\nTill=our-till\nReasonSeconds=5\n") as server:
        begins(server)
        server.says("success")
        server.sees("page=arrived")
        begin = time.monotonic()
        server.client.settimeout(0.3)
        while time.monotonic() - begin < 12:
            server.tool("key", "x")
            try:
                assert server.asked() == {"type": "cancel_session"}
                break
            except TimeoutError:
                pass
        assert time.monotonic() - begin < 9, "keys kept the page"


def test_missing_configuration_takes_no_one():
    with contextlib.closing(Greetd(display, {"kiosk.conf": None})) as server:
        server.sees("page=broken", "kiosk.conf: this file does not exist")


def test_greetd_that_talks_nonsense_or_goes_ends_the_screen():
    for nonsense in (
        struct.pack("=I", 0), struct.pack("=I", 0xFFFFFFFF), struct.pack("=I", 2) + b"[]", struct.pack("=I", 4) + b"\xff{}\0",
        struct.pack("=I", 18) + b'{"type":"success"}' + struct.pack("=I", 18) + b'{"type":"succexx"}', None,
    ):
        with greetd() as server:
            begins(server)
            if nonsense is None:
                server.client.close()
            else:
                server.sends(nonsense)
            assert server.ended() == 1, nonsense


def test_answer_that_no_one_asked_for_ends_the_screen():
    with greetd() as server:
        server.says("success")
        assert server.ended() == 1


def test_half_an_answer_is_waited_for():
    with greetd() as server:
        begins(server)
        server.sends(struct.pack("=I", 18) + b'{"type":"suc')
        time.sleep(1)
        assert server.greeter.poll() is None
        server.sends(b'cess"}')
        assert server.asked()["type"] == "start_session"


def test_wrong_file_is_told_and_takes_no_one():
    with contextlib.closing(Greetd(display, {"badges": "1 ada\n1 bob\n"})) as server:
        server.sees("page=broken", "badges, line 2: this number is there twice")
        server.types("ada")
        time.sleep(1)
        server.client.setblocking(False)
        try:
            assert not server.client.recv(1), "something was asked"
        except BlockingIOError:
            pass


def test_markup_and_long_sentences_are_text():
    with greetd() as server:
        begins(server)
        server.sentence("info", "<b>Touch</b> &amp; " + "w" * 60000)
        server.sees("page=wait", "<b>Touch</b> &amp; www")
        assert server.asked()["response"] == ""
        server.sentence("info", "x" * 70000)
        assert server.ended() == 1


def main():
    failed = count = 0
    for name, test in list(globals().items()):
        if not name.startswith("test_") or (sys.argv[1:] and name not in sys.argv[1:]):
            continue
        count += 1
        begin = time.monotonic()
        try:
            test()
            print(f"ok      {name} ({time.monotonic() - begin:.1f} s)", flush=True)
        except Exception:
            failed += 1
            print(f"FAILED  {name}\n{traceback.format_exc()}", flush=True)
    display.close()
    print(f"test-screen: {count - failed} of {count} passed", flush=True)
    sys.exit(1 if failed or not count else 0)


if __name__ == "__main__":
    main()
