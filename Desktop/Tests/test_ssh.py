# SPDX-License-Identifier: Apache-2.0
"""SSH, git and age through the desktop's prompt, with the real agent; WHORL_PICTURES keeps a picture of each prompt."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

from access import parts
from desk import Agent, Screen, Service, end, until, whorl

ROOT = pathlib.Path(__file__).resolve().parents[2]
AGENT = ROOT / ".build-ssh/whorl-ssh-agent"


def shown():
    """The texts of the window."""
    return [part.name for part in parts() if part.name]


class SSHAndAge(unittest.TestCase):
    def setUp(self):
        self.assertTrue(AGENT.exists(), "the SSH agent is not built: run make ssh")
        self.screen = Screen()
        self.addCleanup(self.screen.close)
        self.service = Service()
        self.addCleanup(self.service.close)
        enrolling = whorl("enroll", "right-index-finger")
        self.service.lay("right", 6, asking=enrolling)
        self.assertEqual(end(enrolling)[0], 0)
        status, created = end(whorl("ssh", "create", "laptop", "--access", "biometry-any"))
        self.assertEqual(status, 0, created)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "laptop.pub").write_text(created["result"]["publicKey"] + "\n")
        agent = subprocess.Popen([AGENT, "--socket", self.folder / "agent/socket"], env={**os.environ, "WHORL_SOCKET": self.service.path})
        self.addCleanup(agent.wait)
        self.addCleanup(agent.terminate)
        until(self.has_key, "the key")
        prompt = Agent(self.screen, self.service)
        self.addCleanup(prompt.close)

    def has_key(self):
        variables = {**os.environ, "SSH_AUTH_SOCK": str(self.folder / "agent/socket")}
        return b" laptop" in subprocess.run(["ssh-add", "-L"], capture_output=True, env=variables).stdout

    def run_beside(self, name, line, *words, **options):
        """Runs a program, whose prompt must have this line, and touches the reader."""
        variables = {"SSH_AUTH_SOCK": str(self.folder / "agent/socket"), "HOME": str(self.folder), **options}
        process = subprocess.Popen(
            words, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **variables}
        )
        until(lambda: process.poll() is not None or any(line in text for text in shown()), line)
        if process.poll() is not None:
            self.fail(process.stdout.read())
        if folder := os.environ.get("WHORL_PICTURES"):
            time.sleep(0.5)
            self.screen.picture(f"{folder}/{name}.png")
        self.service.lay("right", asking=process)
        out, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, out)
        return out

    def test_commit_of_git_a_file_and_an_age_file_are_shown_as_what_they_are(self):
        def git(*words):
            subprocess.run(["git", *words], cwd=self.folder, check=True, capture_output=True, env={**os.environ, "HOME": str(self.folder)})

        git("init", "--quiet")
        for name, value in {
            "gpg.format": "ssh", "user.signingKey": str(self.folder / "laptop.pub"), "user.name": "Ada", "user.email": "ada@example.org",
            "gpg.ssh.allowedSignersFile": str(self.folder / "signers"),
        }.items():
            git("config", name, value)
        (self.folder / "signers").write_text("ada@example.org " + (self.folder / "laptop.pub").read_text())
        self.run_beside("git", "Signs a commit or tag of git.", "git", "commit", "--quiet", "--allow-empty", "-S", "-m", "first")
        git("verify-commit", "HEAD")
        (self.folder / "file").write_text("contents")
        signing = ["ssh-keygen", "-q", "-Y", "sign", "-n", "file", "-f", str(self.folder / "laptop.pub"), "file"]
        self.run_beside("file", "Signs data with SSH for file.", *signing)
        self.assertTrue((self.folder / "file.sig").exists())
        status, created = end(whorl("age", "create", "--access", "biometry-any"))
        self.assertEqual(status, 0, created)
        (self.folder / "identity").write_text(created["result"]["identity"] + "\n")
        path = self.folder / "path"
        path.mkdir()
        (path / "whorl").symlink_to(os.environ["WHORL"])
        for name in ("age-plugin-whorl", "age-plugin-tag"):
            shutil.copy2(ROOT / "SSH/deploy/age-plugin-whorl", path / name)
        variables = {"PATH": f"{path}:{os.environ['PATH']}", "WHORL_SERVICE": "system"}
        subprocess.run(
            ["age", "-r", created["result"]["recipient"], "-o", "file.age", "file"], cwd=self.folder, check=True,
            env={**os.environ, **variables, "HOME": str(self.folder)},
        )
        out = self.run_beside("age", "decrypt a file with age", "age", "-d", "-i", "identity", "file.age", **variables)
        # Before it is a line of age, on standard error.
        self.assertEqual(out.splitlines()[-1], b"contents")
