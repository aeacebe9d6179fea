# SPDX-License-Identifier: Apache-2.0
"""Removes the kiosk that set_up.py has made, over two boots.

usage: remove.py purge       purges the package, and looks for what it leaves
       remove.py consoles    after the boot, looks for the consoles
"""

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

from set_up import enrolled


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def consoles():
    return subprocess.run(["pgrep", "-c", "-x", "agetty|login"], capture_output=True, text=True).stdout.strip()


def purge():
    # Also for someone who starts one by its name.
    for unit in ("getty@tty2.service", "serial-getty@ttyS0.service"):
        subprocess.run(["systemctl", "start", unit], check=False, capture_output=True)
    assert consoles() == "0"
    assert output("systemctl", "get-default").strip() == "graphical.target"
    assert output("systemctl", "show", "-P", "Id", "display-manager.service").strip() == "greetd.service"
    assert subprocess.run(["systemctl", "is-active", "--quiet", "other-screen.service"]).returncode != 0
    files = [pathlib.Path(line) for line in output("dpkg", "--listfiles", "whorl-kiosk").splitlines()]
    files = [file for file in files if not file.is_dir()]
    assert pathlib.Path("/etc/whorl/kiosk.conf") in files
    # Not with --autoremove: a purge of Debian 13's greetd also deletes another display manager's link.
    said = output("apt-get", "--yes", "purge", "whorl-kiosk")
    print(said, flush=True)
    assert not [file for file in files if file.exists() or file.is_symlink()]
    left = output("sh", "-c", "find /etc /usr /var/lib/systemd -name '*kiosk*' -not -path '/usr/share/icons/*' -not -path '/usr/local/*'")
    assert left == "", left
    assert pathlib.Path("/etc/whorl/whorld.conf").exists() and enrolled("owner")


def back():
    # What set_up.py chose before.
    assert output("systemctl", "get-default").strip() == "multi-user.target"
    assert output("systemctl", "show", "-P", "Id", "display-manager.service").strip() == "other-screen.service"
    assert int(consoles()) >= 1, output("systemctl", "list-units", "--no-pager")
    assert output("systemctl", "show", "-P", "LoadState", "ctrl-alt-del.target").strip() == "loaded"
    assert output("sysctl", "-n", "kernel.sysrq").strip() != "0"
    assert enrolled("owner")
    print("kiosk: purged, and the consoles are back", flush=True)


if __name__ == "__main__":
    {"purge": purge, "consoles": back}[sys.argv[1]]()
