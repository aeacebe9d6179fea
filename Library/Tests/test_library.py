# SPDX-License-Identifier: Apache-2.0
"""Tests the installed form of libwhorl: with the real service, with one that lies, and with invalid calls."""

import asyncio
import ctypes
import gc
import json
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "python")]

import whorl
from service import REPOSITORY, Folder, Liar, Refusing, Service
from whorl import Asking, Error, Event, Number, Status, Text, Update
from whorl._context import library
from whorl._library import SIGNATURES

EXAMPLES = HERE.parent / "Examples"
BUILD = pathlib.Path(os.environ["WHORL_LIBRARY"]).resolve()
SHOWN = Asking("a test", shows_prompts=True)


def opened(service, application="org.example.test"):
    return whorl.Context(application, service.path)


def refused(body, status):
    """Checks that a call or a request fails with a status."""
    try:
        body()
    except Error as error:
        assert error.status == status, (error.status, status, str(error))
        assert error.message, error
        return error
    raise AssertionError(f"no error, and not {status}")


def ended(context, seconds=30):
    """Yields the events of a request with their values, and raises its error."""
    seen = []
    deadline = time.monotonic() + seconds
    while True:
        assert select.select([context], [], [], max(0, deadline - time.monotonic()))[0], seen
        for event in context.events():
            seen.append((event, context.value(Number.UPDATE), context.text(Text.MESSAGE)))
            if event == Event.DONE:
                context.check()
                return seen


def test_each_request_succeeds_with_the_real_service():
    with Service("mock:then=match,touch right-index*6") as service, opened(service) as context:
        context.can_evaluate()
        error = refused(context.wait, Status.BIOMETRY_NOT_ENROLLED)
        assert error.code == "biometryNotEnrolled" and "whorl enroll" in error.recovery
        assert context.value(Number.HAS_READER) == 1 and context.value(Number.IS_PASSCODE_SET) == 0
        context.domain_state()
        refused(context.wait, Status.BIOMETRY_NOT_ENROLLED)
        context.enroll("right-index-finger", SHOWN, "mine")
        seen = ended(context)
        updates = [update for event, update, _ in seen if event == Event.PROGRESS]
        assert updates[0] == Update.BEGAN and updates.count(Update.STAGE) == 5, seen
        assert Update.CONFIRMING in updates
        context.fingers()
        ended(context)
        (finger,) = context.take_fingers()
        assert (finger.name, finger.label) == ("right-index-finger", "mine")
        assert abs(finger.enrolled_at - time.time()) < 3600
        context.can_evaluate()
        context.wait()
        context.domain_state()
        context.wait()
        state = context.take_domain_state()
        assert len(state) == 32 and context.value(Number.GENERATION) >= 1
        context.evaluate(SHOWN)
        seen = ended(context)
        assert seen[0][0] == Event.PROMPT, seen
        assert (context.text(Text.METHOD), context.text(Text.FINGER)) == ("biometry", "right-index-finger")
        assert context.text(Text.READER_KIND) == "mock" and context.take_domain_state() == state
        secret = bytes(range(256)) * 4096
        context.store_secret("till", secret)
        context.wait()
        context.store_secret("till", b"another")
        refused(context.wait, Status.ITEM_EXISTS)
        context.read_secret("till", SHOWN)
        context.wait()
        count = ctypes.c_size_t()
        room = ctypes.create_string_buffer(8)
        assert library().whorl_take_secret(context.number, room, 8, ctypes.byref(count)) == Status.TOO_SMALL
        assert count.value == len(secret) and room.raw == bytes(8)
        assert context.take_secret() == secret
        refused(context.take_secret, Status.NOTHING)
        context.make_key("signer")
        context.wait()
        key = context.take_public_key()
        context.public_key("signer")
        context.wait()
        assert context.take_public_key() == key and len(key) == 65
        context.sign("signer", bytes(range(32)), SHOWN)
        context.wait()
        assert is_signature(key, bytes(range(32)), context.take_signature())
        context.items()
        context.wait()
        assert {(item.name, item.kind, item.access, item.standing) for item in context.take_items()} == {
            ("till", "secret", "biometry-any", "valid"),
            ("signer", "key", "biometry-any", "valid"),
        }
        context.delete_secret("till", SHOWN)
        context.wait()
        context.delete_key("signer", SHOWN)
        context.wait()
        context.read_secret("till", SHOWN)
        refused(context.wait, Status.NO_SUCH_ITEM)
        context.remove_finger(finger.id, SHOWN)
        context.wait()
        context.fingers()
        context.wait()
        assert context.take_fingers() == []


def is_signature(key, digest, signature):
    """Returns whether openssl accepts a key's signature over a digest."""
    def number(bytes_):
        bytes_ = bytes_.lstrip(b"\0")
        if bytes_[0] & 0x80:
            bytes_ = b"\0" + bytes_
        return b"\x02" + bytes([len(bytes_)]) + bytes_

    both = number(signature[:32]) + number(signature[32:])
    der = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200") + key
    with Folder() as folder:
        for name, data in (("k", der), ("s", b"\x30" + bytes([len(both)]) + both), ("d", digest)):
            (folder.folder / name).write_bytes(data)
        run = subprocess.run(
            ["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", "k", "-sigfile", "s", "-in", "d"],
            cwd=folder.folder,
            capture_output=True,
        )
    return run.returncode == 0


def test_another_finger_never_succeeds():
    with Service("mock:then=match,touch right-index*6,no-match*9", tpm=False) as service:
        with opened(service) as context:
            context.enroll("right-index-finger", SHOWN)
            ended(context)
            context.evaluate(SHOWN)
            refused(lambda: ended(context), Status.AUTHENTICATION_FAILED)


def test_a_button_ends_the_prompt_and_a_cancelled_request_is_told():
    with Service("mock:touch right-index*6,hang", tpm=False) as service, opened(service) as context:
        context.enroll("right-index-finger", SHOWN)
        ended(context)
        for action, status in ((1, Status.USER_CANCEL), (2, Status.USER_FALLBACK), (None, Status.APP_CANCEL)):
            context.evaluate(SHOWN)
            while context.dispatch() != Event.PROMPT:
                select.select([context], [], [], 20)
            refused(context.can_evaluate, Status.BUSY)
            assert library().whorl_result(context.number) == Status.BUSY
            if action:
                context.prompt_end(whorl.Action(action))
            else:
                context.cancel()
            refused(lambda: ended(context), status)
            refused(context.dispatch, Status.NO_REQUEST)
        context.evaluate(SHOWN)
        assert library().whorl_wait(context.number, 100) == Status.TIMED_OUT


def test_a_service_that_lies_never_makes_a_success():
    sealed = os.memfd_create("x", os.MFD_ALLOW_SEALING)
    requests = [
        lambda c: c.can_evaluate(),
        lambda c: c.evaluate(SHOWN),
        lambda c: c.domain_state(),
        lambda c: c.fingers(),
        lambda c: c.enroll("left-thumb", SHOWN),
        lambda c: c.items(),
        lambda c: c.read_secret("a", SHOWN),
        lambda c: c.public_key("a"),
        lambda c: c.sign("a", bytes(32), SHOWN),
        lambda c: c.register_agent(),
    ]
    answers = [
        b"",
        b"\0",
        b"{\0",
        b"[]\0",
        b"{}\0",
        b'{"parameters":{}}\0',
        b'{"parameters":[]}\0',
        b'{"parameters":{"value":null}}\0',
        b'{"parameters":{"value":{}}}\0',
        b'{"parameters":{"value":true}}\0',
        b'{"parameters":{"value":{"method":"biometry"}}}\0',
        b'{"parameters":{"value":{"method":"nothing","isReused":false}}}\0',
        b'{"parameters":{"value":{"method":"biometry","isReused":false}},"error":"e"}\0',
        b'{"parameters":{"value":{"method":"biometry","isReused":false}},"error":null}\0',
        b'{"parameters":{"value":{"method":"biometry","isReused":false}},"continues":true}\0',
        b'{"parameters":{"value":{"method":"x","method":"biometry","isReused":false}}}\0',
        b'{"parameters":{"value":{"signature":"AAAA"}}}\0',
        b'{"parameters":{"value":{"secret":0}}}\0',
        b'{"parameters":{"value":{"secret":99}}}\0',
        b'{"parameters":{"value":{"secret":-1}}}\0',
        b'{"parameters":{"value":{"digest":"AAAA","generation":1}}}\0',
        b'{"parameters":{"hasReader":true,"isPasscodeSet":true,"obstacle":"none"}}\0',
        b'{"parameters":{"hasReader":true}}\0',
        b'{"error":"io.whorl.Failed","parameters":{"code":"ok"}}\0',
        b'{"error":""}\0',
        b"[" * 5000 + b"\0",
        b'{"a":' * 5000 + b"\0",
        b" " * (2 << 20),
        bytes(range(1, 256)) + b"\0",
    ]
    for answer in answers:
        with Liar(answer, [sealed]) as liar:
            for request in requests:
                with opened(liar) as context:
                    request(context)
                    try:
                        ended(context)
                    except Error as error:
                        assert error.status < 0 and error.message
                    else:
                        raise AssertionError((answer[:80], liar.calls[-1]["method"]))
    os.close(sealed)


def test_the_refusal_of_a_service_that_hangs_up_before_it_reads_is_heard():
    refusal = b'{"error":"io.whorl.Connection.QuotaReached","parameters":{"quota":"connections","message":"M.","recovery":"R."}}\0'
    with Refusing(refusal) as service:
        for _ in range(50):
            with opened(service) as context:
                context.fingers()
                error = refused(lambda: ended(context), -601)
                assert (error.code, str(error.message), error.recovery) == ("QuotaReached", "M.", "R."), error


def test_each_error_of_the_service_has_its_status():
    errors = {
        "passcodeBusy": -231, "applicationPasswordThrottled": -232, "passcodeNeeded": -233, "sshRequestRefused": -234,
        "readerWasOpen": -312,
        "storeBusy": -508, "storeFailed": -118, "notPermitted": -123, "agentTaken": -401, "timedOut": -305,
        "serviceUnavailable": -9, "notKnownYet": -12,
    }
    for code, status in errors.items():
        values = {"code": code, "message": "M.", "recovery": "R.", "cause": "", "details": {"milliseconds": "1500"}}
        message = json.dumps({"error": "io.whorl.Failed", "parameters": values}).encode() + b"\0"
        with Liar(message) as liar, opened(liar) as context:
            context.items()
            error = refused(lambda: ended(context), status)
            assert (error.code, error.message, error.recovery) == (code, "M.", "R."), error
            assert context.value(Number.MILLISECONDS) == 1500, code


def test_an_error_without_a_sentence_has_one():
    with Liar(b'{"error":"io.whorl.Failed","parameters":{"code":"storeBusy"}}\0') as liar, opened(liar) as context:
        context.items()
        error = refused(lambda: ended(context), -508)
        assert error.message == "The service whorld refused.", error


def test_a_path_that_is_not_roots_is_no_service():
    with Liar(b'{"parameters":{"hasReader":true,"isPasscodeSet":true}}\0') as liar, opened(liar) as context:
        context.can_evaluate()
        context.wait()
        liar.folder.chmod(0o777)
        refused(context.can_evaluate, Status.NO_SERVICE)
        liar.folder.chmod(0o755)
        os.chown(liar.folder, 1, 1)
        refused(context.can_evaluate, Status.NO_SERVICE)
    with whorl.Context("x", "/nowhere/at/all") as context:
        refused(context.can_evaluate, Status.NO_SERVICE)


def test_a_killed_service_is_an_error_and_the_next_one_is_asked():
    with Service("mock:touch right-index*6,hang", tpm=False) as service, opened(service) as context:
        context.enroll("right-index-finger", SHOWN)
        ended(context)
        context.evaluate(SHOWN)
        while context.dispatch() != Event.PROMPT:
            select.select([context], [], [], 20)
        service.kill()
        refused(lambda: ended(context), Status.NO_ANSWER)
        service.restart("mock:match")
        context.can_evaluate()
        context.wait()


def test_texts_of_others_are_shown_as_text():
    reason = "\u202eevil\u0007 <b>\u0085" + "ä" * 3000
    prompt = {"title": reason, "reason": reason, "cancelTitle": "C", "parts": ["finger", "passcode", "x"]}
    import json
    message = {"parameters": {"prompt": {"id": "1f", "prompt": prompt}}, "continues": True}
    with Liar(json.dumps(message, ensure_ascii=False).encode() + b"\0") as liar, opened(liar) as context:
        context.evaluate(SHOWN)
        while context.dispatch() != Event.PROMPT:
            select.select([context], [], [], 20)
        shown = context.text(Text.TITLE)
        assert shown.startswith("evil  <b> ä") and len(shown.encode()) <= 1000, shown[:40]
        assert context.value(Number.PARTS) == 3


def test_misuse_gives_errors():
    lib = library()
    number = ctypes.c_uint64()
    assert lib.whorl_open(None, ctypes.byref(number)) == Status.INVALID_ARGUMENT
    assert lib.whorl_open(b"x", None) == Status.INVALID_ARGUMENT
    assert lib.whorl_open(b"\xff", ctypes.byref(number)) == Status.INVALID_ARGUMENT
    assert lib.whorl_open(b"x" * 5000, ctypes.byref(number)) == Status.INVALID_ARGUMENT
    assert lib.whorl_open_at(b"relative", b"x", ctypes.byref(number)) == Status.INVALID_ARGUMENT
    assert lib.whorl_open(b"x", ctypes.byref(number)) == Status.OK
    for name, (result, parameters) in SIGNATURES.items():
        if not parameters or parameters[0] is not ctypes.c_uint64 or name == "whorl_close":
            continue
        # First with an open context and all other arguments NULL or 0, then with invalid contexts.
        for context in (number.value, 0, 1, 2**64 - 1, number.value + 1024):
            value = getattr(lib, name)(context, *[None if p not in (ctypes.c_int, ctypes.c_uint, ctypes.c_size_t) else 0 for p in parameters[1:]])
            if result is ctypes.c_char_p:
                assert value == b"", name
            elif result is ctypes.c_int64:
                assert value == -1, name
            elif context != number.value:
                assert value == Status.INVALID_CONTEXT, (name, value)
        # Invalid arguments did not begin a request. Requests without arguments fail without a service, or begin.
        lib.whorl_cancel(number.value)
        lib.whorl_wait(number.value, 5000)
    assert lib.whorl_close(number.value) == Status.OK
    assert lib.whorl_close(number.value) == Status.INVALID_CONTEXT
    assert lib.whorl_dispatch(number.value) == Status.INVALID_CONTEXT
    again = ctypes.c_uint64()
    assert lib.whorl_open(b"x", ctypes.byref(again)) == Status.OK and again.value != number.value
    assert lib.whorl_close(again.value) == Status.OK


def test_too_many_contexts_are_an_error_and_leave_room_again():
    contexts = []
    import resource
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    try:
        while True:
            contexts.append(whorl.Context("x"))
    except Error as error:
        assert (error.status, len(contexts)) == (-6, 1024)
    for context in contexts:
        context.close()
    whorl.Context("x").close()


def test_a_child_has_no_use_of_its_parents_context():
    with Service("mock:touch right-index*6,hang", tpm=False) as service, opened(service) as context:
        context.enroll("right-index-finger", SHOWN)
        ended(context)
        context.evaluate(SHOWN)
        child = os.fork()
        if child == 0:
            lib, number = library(), context.number
            good = lib.whorl_dispatch(number) == lib.whorl_cancel(number) == lib.whorl_fingers(number) == Status.FORKED
            good = good and lib.whorl_close(number) == Status.OK and lib.whorl_close(number) == Status.INVALID_CONTEXT
            own = opened(service)
            own.can_evaluate()
            own.wait()
            os._exit(0 if good else 1)
        assert os.waitpid(child, 0)[1] == 0
        while context.dispatch() != Event.PROMPT:
            assert select.select([context], [], [], 20)[0], "the child ended its parent's request"
        context.cancel()
        refused(lambda: ended(context), Status.APP_CANCEL)


def test_asyncio_waits_without_a_thread():
    async def both(service):
        async def one(name):
            return await whorl.aio.domain_state(name, service.path)

        return await asyncio.gather(*(one(f"org.example.{number}") for number in range(20)))

    with Service("mock:touch right-index*6,hang", tpm=False) as service, opened(service) as context:
        context.enroll("right-index-finger", SHOWN)
        ended(context)
        states = asyncio.run(both(service))
        assert len(set(states)) == 20 and {len(state) for state in states} == {32}

        async def cancelled():
            context.evaluate(SHOWN)
            await asyncio.wait_for(whorl.aio.finish(context), 0.2)

        try:
            asyncio.run(cancelled())
        except (TimeoutError, asyncio.TimeoutError):
            pass
        else:
            raise AssertionError("it did not wait")
        refused(lambda: ended(context), Status.APP_CANCEL)


def test_the_numbers_of_python_are_those_of_the_header():
    header = (HERE.parent / "Headers/whorl.h").read_text()
    numbers = {name: int(value) for name, value in re.findall(r"\b(WHORL_[A-Z_]+) = (-?\d+)", header)}
    kinds = (("", Status), ("EVENT_", Event), ("UPDATE_", Update), ("TEXT_", Text), ("NUMBER_", Number),
             ("ACTION_", whorl.Action), ("", whorl.Policy))
    for prefix, kind in kinds:
        for value in kind:
            assert numbers[f"WHORL_{prefix}{value.name}"] == value, value
    for name, value in numbers.items():
        if value < 0:
            assert library().whorl_status_name(value) and library().whorl_status_text(value), name
    declared = set(re.findall(r"^[a-z].*[ *](whorl_[a-z_]+)\(", header, re.M))
    assert declared == set(SIGNATURES), declared ^ set(SIGNATURES)


def program(folder):
    """Builds the C example with strict options, as another project might, and checks the header with a C++ compiler."""
    path = folder / "poll"
    subprocess.run(
        ["gcc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-D_POSIX_C_SOURCE=200809L",
         f"-I{HERE.parent / 'Headers'}", str(EXAMPLES / "poll.c"), "-o", str(path), f"-L{BUILD.parent}", "-lwhorl"],
        check=True,
    )
    (folder / "header.cpp").write_text("#include <whorl.h>\nint main() { return whorl_version() == nullptr; }\n")
    subprocess.run(["g++", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{HERE.parent / 'Headers'}", "-fsyntax-only",
                    str(folder / "header.cpp")], check=True)
    return [str(path)]


def test_a_c_program_with_poll_is_clean_under_valgrind():
    with Service("mock:then=match,touch right-index*6", tpm=False) as service:
        # valgrind would report an unknown system call.
        run = subprocess.run(
            ["valgrind", "-q", "--error-exitcode=9", "--leak-check=full", "--track-fds=yes", *program(service.folder),
             service.path, "right-index-finger"],
            capture_output=True, text=True, timeout=120, env={**os.environ, "LD_LIBRARY_PATH": str(BUILD.parent)},
        )
        assert run.returncode == 0, (run.returncode, run.stdout, run.stderr)
        assert "stage: 5 of 5" in run.stdout and "matched: right-index-finger" in run.stdout, run.stdout
        assert "definitely lost" not in run.stderr, run.stderr


def outcomes(command, variables):
    """Runs an example with an enrolled finger, another finger, and without a service; returns what it printed."""
    printed = []
    with Service("mock:then=match,touch right-index*6", tpm=False) as service, opened(service) as context:
        context.enroll("right-index-finger", SHOWN)
        ended(context)
        for reader, status in (("mock:then=match", 0), ("mock:then=no-match", 1), (None, None)):
            if reader:
                service.restart(reader)
            path = service.path if reader else "/nowhere/at/all"
            run = subprocess.run([*command, path], capture_output=True, text=True, timeout=120, env={**os.environ, **variables})
            assert run.returncode == status if reader else run.returncode != 0, (run.returncode, run.stdout, run.stderr)
            printed.append(run.stdout + run.stderr)
    matched, failed, away = printed
    assert "prompt: open the till" in matched and "matched: right-index-finger" in matched, matched
    assert "matched" not in failed + away, (failed, away)
    return printed


def test_a_qt_program_waits_in_the_loop_of_qt():
    with tempfile.TemporaryDirectory() as folder:
        flags = subprocess.check_output(["pkg-config", "--cflags", "--libs", "Qt6Core"], text=True).split()
        subprocess.run(
            ["g++", "-std=c++17", "-fPIC", "-Wall", "-Wextra", "-Werror", f"-I{HERE.parent / 'Headers'}", str(EXAMPLES / "qt.cpp"),
             "-o", f"{folder}/qt", f"-L{BUILD.parent}", "-lwhorl", *flags], check=True,
        )
        _, failed, away = outcomes([f"{folder}/qt"], {"LD_LIBRARY_PATH": str(BUILD.parent)})
        assert "tries left: 2" in failed and "authenticationFailed" in failed, failed
        assert "noService" in away, away


def test_a_gjs_program_needs_the_socket_alone():
    _, failed, away = outcomes(["gjs", "-m", str(EXAMPLES / "touch.js")], {})
    assert failed.splitlines()[-1].endswith("."), failed
    assert away.strip(), away


def test_a_thousand_loads_and_unloads_leave_no_file_and_no_memory():
    with Service("mock:touch right-index*6,hang", tpm=False) as service:
        with opened(service) as context:
            context.enroll("right-index-finger", SHOWN)
            ended(context)
        binary = service.folder / "load"
        subprocess.run(
            ["gcc", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", f"-I{HERE.parent / 'Headers'}", str(HERE / "load.c"),
             "-o", str(binary), "-ldl"], check=True,
        )
        run = subprocess.run([str(binary), service.path, str(BUILD), "1000"], capture_output=True, text=True, timeout=300)
        print("     ", run.stdout.strip())
        assert run.returncode == 0, (run.returncode, run.stdout, run.stderr)
        numbers = [int(number) for number in re.findall(r"\d+", run.stdout)]
        assert numbers[1] == numbers[2] and numbers[4] <= numbers[3] + 4096, run.stdout


def test_a_call_costs_no_more_than_the_raw_socket():
    with Service("mock:match", tpm=False) as service:
        binary = service.folder / "cost"
        subprocess.run(
            ["gcc", "-O2", "-D_GNU_SOURCE", f"-I{HERE.parent / 'Headers'}", str(HERE / "cost.c"), "-o", str(binary),
             f"-L{BUILD.parent}", "-lwhorl", "-ldl"], check=True,
        )
        ratios = []
        for _ in range(3):
            run = subprocess.run([str(binary), service.path, str(BUILD)], capture_output=True, text=True, check=True,
                                 timeout=120, env={**os.environ, "LD_LIBRARY_PATH": str(BUILD.parent)})
            print("     ", run.stdout.strip())
            ratios.append(float(run.stdout.split()[-1]))
        assert min(ratios) <= 1.2, ratios


def main():
    # A name preceded by a dash is left out.
    wanted, failed = [word for word in sys.argv[1:] if word[0] != "-"], 0
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_") and f"-{name}" not in sys.argv]
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
        gc.collect()
    print(f"{len(wanted or tests)} tests, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
