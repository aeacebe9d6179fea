# SPDX-License-Identifier: Apache-2.0
"""The program that the settings run as root: what it runs, and everything that it refuses.

Requires root and a separate mount namespace (see Desktop/test).
"""

import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
HELPER = pathlib.Path(os.environ["WHORL_PROMPT"]).with_name("whorl-settings-helper")
TABLE = (REPOSITORY / "Desktop/Sources/CSwitches/switches.h").read_text()
PAIRS = re.findall(r'^    { "([a-z-]+)", "([a-z0-9-]+)" },$', TABLE, re.MULTILINE)
PROFILES = dict(pair for pair in PAIRS if pair[0] in ("all", "keyring"))
SERVICES = [pair for pair in PAIRS if pair[0] not in PROFILES]
ENVIRONMENT = {
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive",
}
NOBODY = 65534
# CAP_SYS_RESOURCE.
RAISES_LIMITS = int(re.search(r"CapEff:\s*(\w+)", open("/proc/self/status").read())[1], 16) >> 24 & 1
# Writes how it was started to a file.
RECORDER = """#!/usr/bin/python3 -ISEB
import json, os, resource, signal, sys
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status") if ":\\t" in line)
json.dump({
    "words": sys.argv, "environment": dict(part.split("=", 1) for part in open("/proc/self/environ").read().split("\\0") if part),
    "descriptors": sorted(int(name) for name in os.listdir("/proc/self/fd"))[:-1], "folder": os.getcwd(),
    "input": os.readlink("/proc/self/fd/0"), "umask": status["Umask"].strip(), "blocked": status["SigBlk"].strip(),
    "limits": [resource.getrlimit(limit)[0] for limit in (resource.RLIMIT_FSIZE, resource.RLIMIT_CPU, resource.RLIMIT_AS)],
    "files": resource.getrlimit(resource.RLIMIT_NOFILE)[0],
    "timers": [signal.getitimer(timer)[0] for timer in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)],
    "ignored": status["SigIgn"].strip(),
}, open("RECORD", "w"))
print("changed")
"""


class Installed(unittest.TestCase):
    """The helper in the folder of an installation, whose other programs only record how they were started."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.folder.chmod(0o755)
        cls.record = cls.folder / "record.json"
        cls.helper = cls.install(cls.folder / "usr")
        # The path of this one is fixed; nothing outside of this namespace sees the mount.
        updater = cls.folder / "pam-auth-update"
        cls.write(updater)
        subprocess.run(["mount", "--bind", updater, "/usr/sbin/pam-auth-update"], check=True)
        cls.addClassCleanup(subprocess.run, ["umount", "/usr/sbin/pam-auth-update"], check=True)

    @classmethod
    def install(cls, prefix):
        (prefix / "bin").mkdir(parents=True)
        (prefix / "libexec/whorl").mkdir(parents=True)
        cls.write(prefix / "bin/whorl")
        return pathlib.Path(shutil.copy(HELPER, prefix / "libexec/whorl"))

    @classmethod
    def write(cls, path):
        path.write_text(RECORDER.replace("RECORD", str(cls.record)))
        path.chmod(0o755)

    def setUp(self):
        self.record.unlink(missing_ok=True)

    def run_helper(self, *words, program=None, **options):
        options = {"env": {}, "stdin": subprocess.DEVNULL, "capture_output": True, **options}
        return subprocess.run([program or self.helper, *words], timeout=30, **options)

    def started(self, *words, **options):
        """Returns how the program was started that the helper runs."""
        ended = self.run_helper(*words, **options)
        self.assertEqual(ended.returncode, 0, ended)
        return json.loads(self.record.read_text())

    def refuses(self, status, *words, **options):
        ended = self.run_helper(*words, **options)
        self.assertEqual(ended.returncode, status, (words, ended))
        self.assertFalse(self.record.exists(), words)
        return ended.stderr.decode()


class Commands(Installed):
    def test_each_service_of_the_table_is_added_and_removed(self):
        whorl = str(self.folder / "usr/bin/whorl")
        self.assertGreaterEqual(len(SERVICES), 10)
        for kind, service in SERVICES:
            started = self.started(kind, "on", service)
            self.assertEqual(started["words"], [whorl, "pam", "add", service, "--no-try", "--json"])
            started = self.started(kind, "off", service)
            self.assertEqual(started["words"], [whorl, "pam", "remove", service, "--json"])

    def test_each_profile_of_the_table_is_enabled_and_disabled(self):
        self.assertEqual(PROFILES, {"all": "whorl", "keyring": "whorl-keyring"})
        for kind, profile in PROFILES.items():
            self.assertEqual(self.started(kind, "on")["words"][1:], ["--enable", profile])
            self.assertEqual(self.started(kind, "off")["words"][1:], ["--disable", profile])

    def test_other_services_are_refused(self):
        for service in (
            "../sudo", "../../tmp/x", "/etc/pam.d/sudo", "sshd", "common-auth", "other", "su", "passwd", "", " ", "sudo ",
            " sudo", "sudo\n", "SUDO", "sud", "sudoo", "x" * 100_000, "--x", "--no-try", "--folder=/tmp", "-h", "sudo;id",
            "$(id)", "`id`", "sudo --folder /tmp", "*", "whorl", "whorl-keyring", b"\xff\xfe",
        ):
            for kind in ("login", "sudo", "screen-lock", "administrator", "all", "keyring"):
                if (kind, service) not in SERVICES:
                    self.refuses(64, kind, "on", service)
                    self.refuses(64, kind, "off", service)

    def test_service_of_another_switch_is_refused(self):
        kinds = {kind for kind, _ in PAIRS}
        for kind, service in SERVICES:
            for other in kinds - {kind}:
                self.refuses(64, other, "on", service)

    def test_other_switches_and_verbs_are_refused(self):
        for kind in ("", "su", "LOGIN", "logi", "--x", "-h", "--help", "whorl", "pam", "../login", "login on", "x" * 100_000):
            self.refuses(64, kind, "on", "sudo")
            self.refuses(64, kind, "on")
        for verb in ("", "add", "remove", "--enable", "--disable", "--force", "ON", "on ", "o", "onn", "off;id", "x" * 100_000):
            self.refuses(64, "sudo", verb, "sudo")
            self.refuses(64, "all", verb)

    def test_missing_and_extra_arguments_are_refused(self):
        for words in (
            (), ("sudo",), ("sudo", "on"), ("on", "sudo"), ("all",), ("on",), ("all", "on", "whorl"), ("all", "on", ""),
            ("sudo", "on", "sudo", ""), ("sudo", "on", "sudo", "sudo"), ("sudo", "on", "sudo", "--folder", "/tmp"),
            ("all", "on", "--force"), ("--", "sudo", "on", "sudo"), ("sudo", "--", "on", "sudo"), ("sudo", "on", "--", "sudo"),
            ("sudo", "on", "sudo") * 1000,
        ):
            self.refuses(64, *words)

    def test_what_it_runs_is_told_the_result_and_its_output_is_passed_on(self):
        ended = self.run_helper("sudo", "on", "sudo")
        self.assertEqual((ended.stdout, ended.stderr), (b"changed\n", b""))
        # A failure of whorl is the helper's.
        whorl = self.folder / "usr/bin/whorl"
        whorl.write_text("#!/bin/sh\necho no >&2\nexit 34\n")
        self.addCleanup(self.write, whorl)
        ended = self.run_helper("sudo", "on", "sudo")
        self.assertEqual((ended.returncode, ended.stderr), (34, b"no\n"))


class Surroundings(Installed):
    def test_no_variable_reaches_what_it_runs(self):
        hostile = {
            "PATH": f"{self.folder}/evil:.", "LD_PRELOAD": f"{self.folder}/evil.so", "LD_LIBRARY_PATH": str(self.folder),
            "LD_AUDIT": f"{self.folder}/evil.so", "GCONV_PATH": str(self.folder), "IFS": "/", "BASH_ENV": f"{self.folder}/evil",
            "ENV": f"{self.folder}/evil", "PERL5LIB": str(self.folder), "PERL5OPT": "-Mevil", "PERL5DB": "BEGIN{}",
            "DEBCONF_FRONTEND": "evil", "DEBIAN_FRONTEND": "gnome", "DEBCONF_DB_OVERRIDE": "File{/tmp/x}", "LANG": "../../x",
            "LC_ALL": "evil", "LOCPATH": str(self.folder), "HOME": str(self.folder), "TMPDIR": str(self.folder),
            "WHORL_SERVICE": "own", "WHORL_STATE_DIR": str(self.folder), "SUDO_UID": "1000", "PKEXEC_UID": "0",
            "PYTHONPATH": str(self.folder), "NLSPATH": str(self.folder), "MALLOC_CHECK_": "3", "TZ": ":/evil", "": "x",
        }
        (self.folder / "evil").mkdir(exist_ok=True)
        for words in (("sudo", "on", "sudo"), ("all", "on")):
            self.assertEqual(self.started(*words, env=hostile)["environment"], ENVIRONMENT)

    def test_no_descriptor_reaches_what_it_runs(self):
        secret = os.open("/etc/shadow", os.O_RDONLY)
        self.addCleanup(os.close, secret)
        high = os.dup2(secret, 900)
        self.addCleanup(os.close, high)
        started = self.started("sudo", "on", "sudo", pass_fds=[secret, high], stdin=secret)
        self.assertEqual((started["descriptors"], started["input"]), ([0, 1, 2], "/dev/null"))

    def test_closed_descriptors_are_not_taken_by_files_that_it_opens(self):
        for closed in ([0], [1], [2], [0, 1], [1, 2], [0, 2], [0, 1, 2]):
            process = os.fork()
            if process == 0:
                try:
                    for number in range(3):
                        os.dup2(os.open("/dev/null", os.O_RDWR), number)
                    for number in closed:
                        os.close(number)
                    os.execve(self.helper, ["x", "sudo", "on", "sudo"], {})
                finally:
                    os._exit(9)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), 0, closed)
            self.assertEqual(json.loads(self.record.read_text())["descriptors"], [0, 1, 2])
            self.record.unlink()

    def test_timers_and_signals_of_the_caller_do_not_end_what_it_runs(self):
        def confine():
            os.umask(0o777)
            signal.setitimer(signal.ITIMER_REAL, 0.5)
            signal.setitimer(signal.ITIMER_PROF, 3)
            for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGUSR1):
                signal.signal(number, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGCHLD})

        started = self.started("sudo", "on", "sudo", preexec_fn=confine, cwd=self.folder)
        self.assertEqual((started["umask"], started["folder"]), ("0022", "/"))
        self.assertEqual(started["timers"], [0, 0, 0])
        self.assertEqual(int(started["blocked"], 16), 0)
        ignored = {number for number in range(1, 65) if int(started["ignored"], 16) >> (number - 1) & 1}
        # Python itself ignores SIGXFSZ.
        self.assertEqual(
            ignored - {signal.SIGXFSZ}, {signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGPIPE},
        )

    def test_limits_of_the_caller_do_not_end_what_it_runs(self):
        def confine():
            for limit in (resource.RLIMIT_FSIZE, resource.RLIMIT_CPU):
                resource.setrlimit(limit, (1, 1))
            resource.setrlimit(resource.RLIMIT_AS, (1 << 26, 1 << 26))
            resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))

        # Where even root may not raise a limit, as in some containers, nothing is changed.
        if not RAISES_LIMITS:
            return self.refuses(71, "sudo", "on", "sudo", preexec_fn=confine)
        started = self.started("sudo", "on", "sudo", preexec_fn=confine)
        self.assertEqual((started["limits"], started["files"]), ([-1, -1, -1], 1024))

    def test_user_is_refused(self):
        for user in (NOBODY, 1000):
            said = self.refuses(77, "sudo", "on", "sudo", user=user, group=NOBODY, extra_groups=[])
            self.assertIn("root", said)

    def test_program_with_the_rights_of_its_file_is_refused(self):
        prefix = self.folder / "setuid"
        program = self.install(prefix)
        program.chmod(0o4755)
        self.refuses(77, "sudo", "on", "sudo", program=program, user=NOBODY)

    def test_only_the_whorl_of_its_own_installation_is_run(self):
        other = self.folder / "other"
        self.install(other)
        linked = other / "libexec/whorl/whorl-settings-helper"
        linked.unlink()
        linked.symlink_to(self.helper)
        started = self.started("sudo", "on", "sudo", program=linked)
        self.assertEqual(started["words"][0], str(self.folder / "usr/bin/whorl"))
        self.record.unlink()
        # Elsewhere it runs nothing.
        for place in ("copy", "whorl-settings-helper", "xlibexec/whorl/whorl-settings-helper"):
            copied = self.folder / "elsewhere" / place
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(HELPER, copied)
            self.refuses(71, "sudo", "on", "sudo", program=copied)
        # Nor with a missing whorl.
        alone = self.install(self.folder / "alone")
        (self.folder / "alone/bin/whorl").unlink()
        self.refuses(71, "sudo", "on", "sudo", program=alone)


class Policy(unittest.TestCase):
    """The actions of polkit, each of which allows one switch."""

    ACTIONS = xml.etree.ElementTree.parse(REPOSITORY / "systemd/io.whorl.settings.policy.in").findall("action")
    LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"

    def test_each_switch_has_an_action_for_the_helper_with_that_argument(self):
        found = {}
        for action in self.ACTIONS:
            notes = {note.get("key"): note.text for note in action.findall("annotate")}
            self.assertEqual(notes.pop("org.freedesktop.policykit.exec.path"), "@LIBEXECDIR@/whorl-settings-helper")
            found[action.get("id")] = notes.pop("org.freedesktop.policykit.exec.argv1")
            self.assertEqual(notes, {})
        self.assertEqual(found, {f"io.whorl.settings.{kind}": kind for kind, _ in PAIRS})

    def test_each_action_requires_an_administrator_each_time(self):
        for action in self.ACTIONS:
            self.assertEqual(
                [(rule.tag, rule.text) for rule in action.find("defaults")],
                [(tag, "auth_admin") for tag in ("allow_any", "allow_inactive", "allow_active")],
            )

    def test_texts_are_in_each_language(self):
        languages = {None} | {file.stem for file in (REPOSITORY / "po").glob("*.po")}
        for action in self.ACTIONS:
            for tag in ("description", "message"):
                texts = {text.get(self.LANGUAGE): text.text for text in action.findall(tag)}
                self.assertEqual(set(texts), languages, action.get("id"))
                self.assertEqual(len(set(texts.values())), len(languages), action.get("id"))


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
