#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""attacks.py DAEMON: what fprintd's own tests do not try, on a bus of its own, as a user without rights.

Needs python3-dbusmock, python3-gi and dbus, as fprintd's tests do.
"""
import os, shutil, subprocess, sys, tempfile, time, unittest

import dbus
import dbusmock

NAME = "net.reactivated.Fprint"
DAEMON = sys.argv.pop(1)


class Attacks(dbusmock.DBusTestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = tempfile.mkdtemp(dir=os.environ.get("TMPDIR"))
        os.environ.update(
            FP_VIRTUAL_IMAGE=cls.folder + "/reader", FP_DRIVERS_ALLOWLIST="virtual_image",
            FP_DRIVERS_WHITELIST="virtual_image", STATE_DIRECTORY=cls.folder + "/state", HOME=cls.folder,
        )
        cls.start_system_bus()

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        shutil.rmtree(cls.folder, ignore_errors=True)

    def setUp(self):
        self.polkit, self.authority = self.spawn_server_template("polkitd", {}, stdout=subprocess.DEVNULL)
        self.authority.AllowUnknown(True)
        self.log = open(self.folder + "/log", "w+")
        self.daemon = self.start("-t")
        self.bus = self.connection()
        for _ in range(200):
            if self.bus.name_has_owner(NAME):
                break
            time.sleep(0.05)
        self.device = self.of_device(self.bus)

    def tearDown(self):
        self.daemon.terminate()
        self.assertEqual(self.daemon.wait(2), 0)
        self.polkit.terminate()
        self.polkit.wait()
        self.log.close()
        shutil.rmtree(self.folder + "/state", ignore_errors=True)

    def start(self, *options):
        return subprocess.Popen([DAEMON, *options], stdout=self.log, stderr=subprocess.STDOUT)

    def connection(self):
        return dbus.bus.BusConnection(os.environ["DBUS_SYSTEM_BUS_ADDRESS"])

    def of_device(self, bus):
        return dbus.Interface(bus.get_object(NAME, "/net/reactivated/Fprint/Device/0", introspect=False), NAME + ".Device")

    def refused(self, error, call, *parts, **options):
        with self.assertRaises(dbus.DBusException) as told:
            call(*parts, **options)
        name = told.exception.get_dbus_name()
        self.assertIn(error, name)

    def test_a_name_that_is_a_path_is_refused_and_makes_no_folder(self):
        for name in ["..", ".", "../../tmp", "a/b", "/etc", "a" * 256]:
            for call in (self.device.Claim, self.device.ListEnrolledFingers, self.device.DeleteEnrolledFingers):
                self.refused("PermissionDenied", call, name)
        self.assertFalse(os.path.exists(self.folder + "/state"))

    def test_links_pipes_and_endless_files_are_no_prints_and_stay(self):
        place = self.folder + "/state/ada/virtual_image/0"
        os.makedirs(place)
        os.symlink("/etc/passwd", place + "/1")
        os.mkfifo(place + "/2")
        with open(place + "/3", "wb") as endless:
            endless.truncate(1 << 40)
        self.refused("NoEnrolledPrints", self.device.ListEnrolledFingers, "ada", timeout=5)
        self.device.Claim("ada")
        self.refused("NoEnrolledPrints", self.device.VerifyStart, "any", timeout=5)
        self.device.Release()
        self.assertEqual(sorted(os.listdir(place)), ["1", "2", "3"])

    def test_a_link_is_deleted_and_not_what_it_names(self):
        place, kept = self.folder + "/state/ada/virtual_image/0", self.folder + "/kept"
        os.makedirs(place)
        open(kept, "w").close()
        os.symlink(kept, place + "/1")
        self.device.DeleteEnrolledFingers("ada")
        self.assertTrue(os.path.exists(kept))
        self.assertFalse(os.path.lexists(place + "/1"))

    def test_another_client_ends_nothing_of_the_claimer(self):
        other = self.of_device(self.connection())
        self.device.Claim("")
        self.device.EnrollStart("left-thumb")
        for call in (other.Release, other.EnrollStop, other.VerifyStop, other.DeleteEnrolledFingers2):
            self.refused("AlreadyInUse", call)
        self.refused("AlreadyInUse", other.Claim, "")
        self.device.EnrollStop()
        self.device.Release()

    def test_without_polkit_nothing_is_allowed(self):
        self.polkit.terminate()
        self.polkit.wait()
        self.refused("PermissionDenied", self.device.Claim, "")
        self.refused("PermissionDenied", self.device.ListEnrolledFingers, "")
        self.polkit, self.authority = self.spawn_server_template("polkitd", {}, stdout=subprocess.DEVNULL)

    def test_a_second_daemon_leaves_and_says_why(self):
        second = self.start("-t")
        self.assertEqual(second.wait(10), 1)
        with open(self.folder + "/log") as log:
            self.assertIn("fprintd's name", log.read())
        self.device.Claim("")

    def test_unknown_methods_and_arguments_are_errors(self):
        self.refused("UnknownMethod", self.device.Erase)
        self.refused("InvalidArgs", self.device.Claim, dbus.Int32(1))
        properties = dbus.Interface(self.device.proxy_object, "org.freedesktop.DBus.Properties")
        self.refused("", properties.Set, NAME + ".Device", "name", "x")
        self.refused("", properties.Get, NAME + ".Device", "secret")
        self.device.Claim("")

    def test_a_thousand_questions_keep_no_one_waiting(self):
        self.authority.SetAllowed(dbus.Array([], signature="s"))
        for _ in range(1000):
            self.device.Claim("", ignore_reply=True)
        manager = dbus.Interface(self.connection().get_object(NAME, "/net/reactivated/Fprint/Manager", introspect=False), NAME + ".Manager")
        began = time.monotonic()
        self.assertEqual(len(manager.GetDevices(timeout=20)), 1)
        self.assertLess(time.monotonic() - began, 10)

    def test_clients_that_leave_a_hundred_times_leave_the_reader_free(self):
        for _ in range(100):
            bus = self.connection()
            self.of_device(bus).Claim("", ignore_reply=True)
            bus.flush()
            bus.close()
        for _ in range(100):
            try:
                self.device.Claim("")
                break
            except dbus.DBusException as error:
                self.assertIn("AlreadyInUse", error.get_dbus_name())
                time.sleep(0.05)
        self.device.Release()


if __name__ == "__main__":
    unittest.main(verbosity=2)
