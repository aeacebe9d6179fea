# SPDX-License-Identifier: Apache-2.0
"""PgBouncer before a PostgreSQL server of a check's own; it pools sessions, which is what the login server needs."""

import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import tempfile
import time

from loginserver import Failure, peer


class PgBouncer:
    def __init__(self, port):
        self.program = peer("pgbouncer", path="/usr/sbin:" + os.environ.get("PATH", ""))
        self.database = port

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pgb", dir="/tmp"))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        (self.folder / "users").write_text('"login" ""\n')
        (self.folder / "ini").write_text(
            f"[databases]\npostgres = host=127.0.0.1 port={self.database} dbname=postgres\n"
            f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {self.port}\nunix_socket_dir =\nauth_type = trust\n"
            f"auth_file = {self.folder}/users\npool_mode = session\nmax_client_conn = 100\ndefault_pool_size = 40\n")
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            for path in [self.folder, *self.folder.iterdir()]:
                os.chown(path, nobody.pw_uid, nobody.pw_gid)
        self.url = f"postgres://login@127.0.0.1:{self.port}/postgres"
        self.start()
        return self

    def start(self):
        # It does not run as root.
        user = ["setpriv", "--reuid", "nobody", "--regid", str(pwd.getpwnam("nobody").pw_gid), "--clear-groups"] if os.geteuid() == 0 else []
        with open(self.folder / "log", "a") as log:
            self.process = subprocess.Popen([*user, self.program, self.folder / "ini"], stdout=log, stderr=log, cwd="/")
        deadline = time.monotonic() + 30
        while True:
            try:
                return socket.create_connection(("127.0.0.1", self.port), timeout=5).close()
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise Failure(f"pgbouncer did not start: {(self.folder / 'log').read_text()[-2000:]}")
                time.sleep(0.05)

    def restart(self):
        """Cuts all connections, as a restart of the machine does."""
        self.process.kill()
        self.process.wait()
        self.start()

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
