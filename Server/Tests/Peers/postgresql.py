# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server of a check's own, in a folder that goes with it."""

import glob
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import tempfile
import time

from loginserver import Failure, peer


class PostgreSQL:
    @staticmethod
    def find():
        programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        found = peer("initdb", path=os.pathsep.join(programs + [os.environ.get("PATH", "")]))
        return PostgreSQL(pathlib.Path(found).resolve().parent) if found else None

    def __init__(self, programs):
        self.programs = programs

    def run(self, name, *arguments):
        # PostgreSQL does not run as root.
        user = ["setpriv", "--reuid", "nobody", "--regid", str(pwd.getpwnam("nobody").pw_gid), "--clear-groups"] if os.geteuid() == 0 else []
        with open(self.folder / "out", "a+") as out:
            result = subprocess.run([*user, self.programs / name, *arguments], stdout=out, stderr=out, cwd="/")
        if result.returncode != 0:
            raise Failure(f"{name} failed: {(self.folder / 'out').read_text()[-2000:]}")

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"postgres://login@127.0.0.1:{self.port}/postgres"
        self.make()
        self.start()
        return self

    def make(self):
        self.run("initdb", "--pgdata", self.folder / "data", "--auth", "trust", "--username", "login", "--no-sync", "--encoding", "UTF8", "--locale", "C")

    def start(self):
        options = f"-c listen_addresses=127.0.0.1 -c port={self.port} -c unix_socket_directories={self.folder}"
        self.run("pg_ctl", "start", "--wait", "--pgdata", self.folder / "data", "--log", self.folder / "log", "--options", options)

    def stop(self):
        self.run("pg_ctl", "stop", "--wait", "--mode", "immediate", "--pgdata", self.folder / "data")

    def query(self, text):
        command = [self.programs / "psql", "--no-psqlrc", "--tuples-only", "--no-align", "--command", text, self.url]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def standby(self):
        return Standby(self)

    def __exit__(self, *_):
        try:
            self.stop()
        except Failure:
            pass  # it was stopped before
        shutil.rmtree(self.folder, ignore_errors=True)


class Standby(PostgreSQL):
    """A standby that follows a primary; the primary acknowledges what is on the standby's disk too."""

    def __init__(self, primary):
        super().__init__(primary.programs)
        self.primary = primary

    def make(self):
        source = f"host=127.0.0.1 port={self.primary.port} user=login application_name=standby"
        self.run("pg_basebackup", "--pgdata", self.folder / "data", "--write-recovery-conf", "--no-sync", "--checkpoint", "fast", "--dbname", source)

    def __enter__(self):
        super().__enter__()
        self.primary.query("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
        self.primary.query("SELECT pg_reload_conf()")
        deadline = time.monotonic() + 60
        while self.primary.query("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") != "1":
            if time.monotonic() > deadline:
                raise Failure(f"the standby does not follow: {(self.folder / 'log').read_text()[-2000:]}")
            time.sleep(0.1)
        return self

    def promote(self):
        self.run("pg_ctl", "promote", "--wait", "--pgdata", self.folder / "data")
