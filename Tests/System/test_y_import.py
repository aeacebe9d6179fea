# SPDX-License-Identifier: Apache-2.0
# Docs/Security.md: S5
"""A damaged file in fprintd's folder is reported and not imported (Docs/Fprintd.md); other users are not affected."""

import subprocess
import time

from cases import enrolled, last, shell
from people import lay, start


def test_y_print_that_was_cut_is_named_and_the_service_goes_on():
    enrolled()
    # An account that has nothing in the service.
    shell("useradd -m carla", check=True)
    pid = shell("systemctl show -P MainPID whorld.service").stdout
    shell("install -d /var/lib/fprint/carla/uru4000/0; printf FP3 >/var/lib/fprint/carla/uru4000/0/7")
    shell("printf 'FP3\\0\\0\\0\\0\\2\\0\\0\\0' >/var/lib/fprint/carla/uru4000/0/8")
    process = start("evaluate", "--reason", "somebody else's prompt", "--json")
    try:
        time.sleep(3)
        said = subprocess.run(["whorl", "import-fprintd", "--dry-run"], capture_output=True, text=True)
        assert said.returncode == 0 and said.stdout.count("not a print") == 2, said
        lay("right", asking=process)
        assert last(process)[0] == 0
        assert shell("systemctl show -P MainPID whorld.service").stdout == pid
    finally:
        process.kill()
        shell("rm -r /var/lib/fprint/carla; userdel -r carla; systemctl reset-failed whorld.service whorld.socket; systemctl start whorld.socket")
