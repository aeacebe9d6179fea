# SPDX-License-Identifier: Apache-2.0
"""Installs what lies beside this file in root/, starts the service with a virtual reader, and runs the tests.

Runs as root in a throw-away system. Names of tests as arguments run these alone. A test is a function whose name begins
with test_, in a file whose name begins with test_; one that raises has failed. With --day, tests that are marked `nightly`
are left out, and named at the end; so are tests of what this release of the system does not have (`only_where`). With
--half 1 or --half 2, only the files before or from SECOND_HALF are run; both halves begin with test_a_*.py.
"""

import glob
import importlib
import multiprocessing
import os
import pathlib
import pwd
import shutil
import subprocess
import sys
import time
import traceback

HERE = pathlib.Path(__file__).parent
SECOND_HALF = "test_l_keyring.py"
sys.path.insert(0, str(HERE))


def run(*command, **options):
    return subprocess.run(command, check=True, **options)


def install():
    for folder, _, files in os.walk(HERE / "root"):
        place = pathlib.Path("/") / pathlib.Path(folder).relative_to(HERE / "root")
        place.mkdir(parents=True, exist_ok=True)
        for file in files:
            shutil.copy2(pathlib.Path(folder) / file, place / file)
    run("systemd-sysusers")
    run("udevadm", "control", "--reload")
    configure(idle=600)
    run("systemctl", "enable", "--now", "--quiet", "whorld.socket")
    # The image contains fprintd, which the service replaces on the bus from now on.
    subprocess.run(["systemctl", "stop", "fprintd.service"], check=False)
    run("busctl", "call", "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ReloadConfig")
    run("useradd", "-m", "mallory")
    allow("subject.user == 'owner'")


def nightly(reason):
    """Marks a slow test that rarely fails, so that only `make nightly` runs it. The reason says why it is slow."""

    def mark(test):
        test.nightly = reason
        return test

    return mark


def only_where(path, reason):
    """Marks a test of something that not every release of the system has, by a file of it. The reason says which have none."""

    def mark(test):
        test.absent = None if os.path.exists(path) else reason
        return test

    return mark


def configure(idle, more=""):
    """Gives the service a virtual reader, the time in seconds after which it leaves, and more options."""
    drop_in = pathlib.Path("/etc/systemd/system/whorld.service.d")
    drop_in.mkdir(parents=True, exist_ok=True)
    (drop_in / "test.conf").write_text(
        "[Service]\n"
        "Environment=FP_VIRTUAL_DEVICE=/run/reader/socket\n"
        "RuntimeDirectory=reader\n"
        "ExecStart=\n"
        f"ExecStart=/usr/libexec/whorl/whorld --allow-virtual-readers --idle {idle} {more}\n"
        # The location of Swift's libraries, which only a debug build needs.
        + ("ExecPaths=/opt\n" if (HERE / "root/opt").exists() else "")
    )
    run("systemctl", "daemon-reload")


def allow(condition, answer="YES"):
    """Makes polkit return this result, by default without a password, if a condition holds."""
    rules = pathlib.Path("/etc/polkit-1/rules.d/10-whorl.rules")
    rules.write_text(
        "polkit.addRule(function (action, subject) {\n"
        f"    if (action.id.indexOf('io.whorl.') == 0 && {condition})\n"
        f"        return polkit.Result.{answer};\n"
        "});\n"
    )
    rules.chmod(0o644)
    time.sleep(1)  # polkit sees the change by inotify.


def files(half):
    """Returns the files of tests in their order: all, or those of one half."""
    found = sorted(glob.glob(str(HERE / "test_*.py")))
    assert not half or str(HERE / SECOND_HALF) in found, SECOND_HALF
    for file in found:
        name = pathlib.Path(file).name
        if not half or name.startswith("test_a_") or (name >= SECOND_HALF) == (half == "2"):
            yield file


def main():
    install()
    wanted = sys.argv[1:]
    day = wanted[:1] == ["--day"]
    wanted = wanted[day:]
    half = wanted[1] if wanted[:1] == ["--half"] else None
    wanted = wanted[2:] if half else wanted
    failed = count = 0
    left, absent, begun = [], [], time.monotonic()
    for file in files(half):
        module = importlib.import_module(pathlib.Path(file).stem)
        for name, test in list(vars(module).items()):
            if not name.startswith("test_") or (wanted and name not in wanted):
                continue
            if day and hasattr(test, "nightly"):
                left.append((name, test.nightly))
                continue
            if getattr(test, "absent", None):
                absent.append((name, test.absent))
                continue
            count += 1
            start = time.monotonic()
            try:
                test()
                print(f"ok      {name} ({time.monotonic() - start:.1f} s)", flush=True)
            except Exception:
                failed += 1
                print(f"FAILED  {name} ({time.monotonic() - start:.1f} s)\n{traceback.format_exc()}", flush=True)
    for name, reason in left:
        print(f"night   {name}: {reason}", flush=True)
    for name, reason in absent:
        print(f"absent  {name}: {reason}", flush=True)
    print(f"test-system: {count - failed} of {count} passed in {time.monotonic() - begun:.0f} s, "
          f"{len(left)} left for make nightly, {len(absent)} of what this release does not have", flush=True)
    # A failed test may have left some, and the interpreter would wait for them when it exits.
    for child in multiprocessing.active_children():
        print(f"        left behind: {child.name}", flush=True)
        child.kill()
    if failed or not count:
        subprocess.run(["journalctl", "-u", "whorld", "--no-pager", "-n", "60"])
        sys.exit(1)


if __name__ == "__main__":
    main()
