# SPDX-License-Identifier: Apache-2.0
"""Software TPMs of a maker, set up by swtpm's own tools as a maker sets up chips, and asked by tpm2-tools."""

import os
import subprocess
import time

from loginserver import Failure, peer


def run(*command, **options):
    result = subprocess.run(command, text=True, capture_output=True, **options)
    if result.returncode != 0:
        raise Failure(f"{command[0]}: {result.stderr}{result.stdout}")
    return result.stdout


class Maker:
    """An authority, whose certificate an operator trusts or not."""

    tools = ["swtpm", "swtpm_setup", "swtpm_localca", "tpm2"]

    def __init__(self, folder):
        self.folder = folder
        self.certificate = folder / "issuercert.pem"
        folder.mkdir()
        authority = {"statedir": folder, "signingkey": folder / "signkey.pem", "issuercert": self.certificate, "certserial": folder / "certserial"}
        self.write("localca.conf", authority)
        (folder / "localca.options").write_text("--platform-manufacturer Maker\n--platform-version 1\n--platform-model Model\n")
        self.write("setup.conf", {
            "create_certs_tool": peer("swtpm_localca"), "create_certs_tool_config": folder / "localca.conf",
            "create_certs_tool_options": folder / "localca.options"})

    def write(self, name, values):
        (self.folder / name).write_text("".join(f"{key} = {value}\n" for key, value in values.items()))

    def chip(self, name):
        return Chip(self, self.folder / name)


class Chip:
    """A TPM with an endorsement key of RSA, which stays in it, and its certificate."""

    endorsement, certificate_index = "0x81010001", "0x1c00002"

    def __init__(self, maker, folder):
        self.folder = folder
        folder.mkdir()
        run("swtpm_setup", "--tpm2", "--tpmstate", folder, "--create-ek-cert", "--config", maker.folder / "setup.conf")
        self.environment = {**os.environ, "TPM2TOOLS_TCTI": f"swtpm:path={folder}/s", "TSS2_LOG": "all+none"}

    def __enter__(self):
        command = ["swtpm", "socket", "--tpm2", "--tpmstate", f"dir={self.folder}", "--flags", "not-need-init,startup-clear",
                   "--server", f"type=unixio,path={self.folder}/s", "--ctrl", f"type=unixio,path={self.folder}/s.ctrl"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while not (self.folder / "s").exists():
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise Failure("swtpm did not start")
            time.sleep(0.01)
        self.tool("nvread", self.certificate_index, "-C", "o", "-o", "ek.nv")
        self.tool("readpublic", "-c", self.endorsement, "-o", "ek.pub")
        self.tool("createak", "-C", self.endorsement, "-G", "ecc", "-g", "sha256", "-s", "ecdsa", "-c", "ak.ctx", "-u", "ak.pub")
        self.tool("flushcontext", "-t")
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def tool(self, *arguments):
        return run("tpm2", *arguments, cwd=self.folder, env=self.environment)

    @property
    def certificate(self):
        content = (self.folder / "ek.nv").read_bytes()
        return content[:4 + int.from_bytes(content[2:4], "big")]

    def area(self, name):
        """A public area, without the size that tpm2-tools write before it."""
        return (self.folder / name).read_bytes()[2:]

    def activate(self, credential, seed):
        """The secret of a credential; it fails where that was made for another chip or another key."""
        sized = b"".join(len(part).to_bytes(2, "big") + part for part in (credential, seed))
        (self.folder / "blob").write_bytes(bytes.fromhex("badcc0de00000001") + sized)
        (self.folder / "secret").unlink(missing_ok=True)
        self.tool("startauthsession", "--policy-session", "-S", "session.ctx")
        try:
            self.tool("policysecret", "-S", "session.ctx", "-c", "e")
            self.tool("activatecredential", "-c", "ak.ctx", "-C", self.endorsement, "-i", "blob", "-o", "secret", "-P", "session:session.ctx")
        finally:
            self.tool("flushcontext", "session.ctx")
            self.tool("flushcontext", "-t")
        return (self.folder / "secret").read_bytes()
