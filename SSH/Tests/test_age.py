# SPDX-License-Identifier: Apache-2.0
"""Debian's age with age-plugin-whorl, the real service, a mock reader and a simulated TPM.

usage: test_age.py [TEST...]
"""

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from scene import REPOSITORY  # noqa: E402
from test_agent import command, main  # noqa: E402

NOTE = "meet at noon\n"


@contextlib.contextmanager
def age(*touches):
    """A user with a key for age, and age."""
    with command() as whorl:
        for name in ("age-plugin-whorl", "age-plugin-tag"):
            shutil.copy2(REPOSITORY / "SSH/deploy/age-plugin-whorl", whorl.place / "bin" / name)
        key = str(whorl.place / "key")
        created = whorl("age", "create", "--output", key)
        made = Age(whorl, key, created.stdout.removeprefix("recipient: ").strip())
        made.variables["WHORL_READER"] = "mock:" + ",".join(("then=match", *touches))
        yield made


class Age:
    def __init__(self, whorl, key, recipient):
        self.whorl, self.key, self.recipient = whorl, key, recipient
        self.variables = {
            **os.environ, "HOME": f"{whorl.place}/home", "WHORL_STATE_DIR": f"{whorl.place}/state", "LC_ALL": "C",
            "WHORL_TCTI": f"swtpm:path={whorl.tpm.path}", "XDG_RUNTIME_DIR": f"{whorl.place}/run", "TSS2_LOG": "all+none",
            "PATH": f"{whorl.place}/bin:/usr/bin:/bin",
        }

    def __call__(self, *words, stdin=None, check=True, **more):
        return subprocess.run(
            ("age", *words), input=stdin, capture_output=True, timeout=60, env={**self.variables, **more}, check=check
        )

    def encrypted(self, *words):
        return self("-a", *words, stdin=NOTE.encode()).stdout

    def decrypted(self, file, **more):
        return self("-d", "-i", self.key, stdin=file, **more)


def test_file_is_encrypted_without_the_tpm_and_decrypted_with_a_touch():
    with age() as files:
        # The TPM and the state directory are not used.
        away = {"WHORL_TCTI": "none", "WHORL_STATE_DIR": "/dev/null/no"}
        file = files("-a", "-r", files.recipient, stdin=NOTE.encode(), **away).stdout
        assert file.startswith(b"-----BEGIN AGE ENCRYPTED FILE-----"), file
        assert files.decrypted(file).stdout.decode() == NOTE
        # Also to the identity's file, which has the recipient.
        file = files("-a", "-e", "-i", files.key, stdin=NOTE.encode(), **away).stdout
        assert files.decrypted(file).stdout.decode() == NOTE


def test_identity_is_a_private_file_that_is_never_replaced():
    with age() as files:
        path = pathlib.Path(files.key)
        text = path.read_text()
        assert path.stat().st_mode & 0o777 == 0o600 and "AGE-PLUGIN-WHORL-1" in text and files.recipient in text
        again = files.whorl("age", "create", "--output", files.key, check=False)
        assert again.returncode == 64 and "exists" in again.stderr and path.read_text() == text, again
        assert files.whorl("age", "recipient", files.key).stdout == files.recipient + "\n"
        other = files.whorl("age", "recipient", "/etc/passwd", check=False)
        assert other.returncode == 64 and "no identity" in other.stderr, other
        for access in ("none", "user-presence+application-password"):
            refused = files.whorl("age", "create", "--access", access, check=False)
            assert refused.returncode == 64, refused


def test_wrong_finger_decrypts_nothing():
    with age("no-match*3") as files:
        file = files.encrypted("-r", files.recipient)
        refused = files.decrypted(file, check=False)
        assert refused.returncode != 0 and NOTE.encode() not in refused.stdout, refused
        assert b"finger" in refused.stderr.lower(), refused.stderr


def test_key_of_another_chip_decrypts_nothing():
    with age() as files, age() as others:
        file = files.encrypted("-r", files.recipient, "-r", others.recipient)
        assert files.decrypted(file).stdout == others.decrypted(file).stdout == NOTE.encode()
        mine = files.encrypted("-r", files.recipient)
        assert others.decrypted(mine, check=False).returncode != 0
        # The identity in other hands: another state, another TPM.
        stolen = others("-d", "-i", files.key, stdin=mine, check=False)
        assert stolen.returncode != 0 and NOTE.encode() not in stolen.stdout, stolen


def test_identity_of_another_computer_is_not_in_the_way():
    with age() as files, age() as others:
        file = files.encrypted("-r", others.recipient, "-r", files.recipient)
        for first, second in ((others.key, files.key), (files.key, others.key)):
            came = files("-d", "-i", first, "-i", second, stdin=file)
            assert came.stdout.decode() == NOTE, came
        both = files.whorl.place / "both"
        both.write_text(pathlib.Path(others.key).read_text() + pathlib.Path(files.key).read_text())
        assert files("-d", "-i", str(both), stdin=file).stdout.decode() == NOTE
        ordinary = files.whorl.place / "ordinary"
        recipient = subprocess.run(("age-keygen", "-o", str(ordinary)), capture_output=True, text=True, check=True).stderr.split()[-1]
        file = files.encrypted("-r", others.recipient, "-r", recipient)
        assert files("-d", "-i", others.key, "-i", str(ordinary), stdin=file).stdout.decode() == NOTE


def test_two_commands_do_not_write_one_file():
    with age() as files:
        path = files.whorl.place / "new"
        words = (str(files.whorl.place / "bin/whorl"), "age", "create", "--output", str(path))
        started = [
            subprocess.Popen(words, env=files.variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        outcomes = [(*process.communicate(timeout=60), process.returncode) for process in started]
        (made,) = [out for out, _, status in outcomes if status == 0]
        assert made.removeprefix("recipient: ").strip() in path.read_text(), outcomes
        # Nothing is left of one that fails.
        failed = files.whorl("age", "create", "--access", "nonsense", "--output", f"{path}2", check=False)
        assert failed.returncode != 0 and not path.with_name("new2").exists(), failed


def test_changed_files_and_identities_are_refused_with_words():
    with age() as files:
        file = files("-r", files.recipient, stdin=NOTE.encode()).stdout
        for place in range(22, file.index(b"---"), 7):
            changed = bytearray(file)
            changed[place] ^= 1
            refused = files.decrypted(bytes(changed), check=False)
            assert refused.returncode != 0 and NOTE.encode() not in refused.stdout, (place, refused)
        path = pathlib.Path(files.key)
        text = path.read_text()
        path.write_text(text.replace("AGE-PLUGIN-WHORL-1", "AGE-PLUGIN-WHORL-1Q"))
        assert files.decrypted(file, check=False).returncode != 0


def test_plugin_refuses_what_is_no_conversation():
    with age() as files:
        plugin = str(files.whorl.place / "bin/age-plugin-whorl")

        def start(machine, stdin):
            return subprocess.run((plugin, machine), input=stdin, capture_output=True, timeout=60, env=files.variables, check=False)

        assert start("--age-plugin=other-v1", b"").returncode == 64
        for machine in ("--age-plugin=recipient-v1", "--age-plugin=identity-v1"):
            for stdin in (b"", b"hello\n", b"-> done", b"-> \n\n", b"-> a\n!\n", b"-> " + b"a" * 30_000, b"A" * 30_000, b"-> a\n\xff\n"):
                refused = start(machine, stdin)
                assert refused.returncode == 64 and b"conversation" in refused.stderr, (machine, stdin[:20], refused)
            assert start(machine, b"-> done\n\n").stdout == b"-> done\n\n"


if __name__ == "__main__":
    main(globals())
