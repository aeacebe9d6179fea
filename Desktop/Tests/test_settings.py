# SPDX-License-Identifier: Apache-2.0
"""The settings window, on a real screen with the real service."""

import base64
import os
import pathlib
import shutil
import tempfile
import unittest

import access
from access import names, press, switch
from desk import Agent, Screen, Service, Settings, WaylandScreen, end, until, whorl
from installed import Computer
from prompter import PASSWORD, Daemon, loop
from whorl_client import call
from picture import Picture, luminance
from test_screens import CONTRAST, KINDS

PASSCODE = "2468 hunter"
# The roles of the parts that are read.
READ = ("label", "heading", "status bar", "image")


def shows(text):
    try:
        until(lambda: any(text in name for name in names()), text)
    except AssertionError as error:
        raise AssertionError(f"{error}, but {names()}") from None


def hides(text):
    until(lambda: not any(text in name for name in names()), f"the end of {text}")


def becomes(name, isOn, canChange=True):
    """Waits until a switch is on or off, and can be changed or not."""
    try:
        until(lambda: switch(name) == (isOn, canChange), f"{name}: {isOn}, {canChange}")
    except AssertionError as error:
        raise AssertionError(f"{error}, but {switch(name)} and {names()}") from None


class Window(unittest.TestCase):
    """A window that is opened for each test, for an owner with one finger."""

    def setUp(self):
        self.screen, self.service = self.make_screen(), Service()
        self.addCleanup(self.screen.close)
        self.addCleanup(self.service.close)
        self.enroll("right-index-finger", "right")
        self.settings = self.open()
        self.addCleanup(self.settings.close)
        shows("Right index finger")

    def open(self):
        return Settings(self.screen)

    def make_screen(self):
        return Screen("whorl-settings")

    def enroll(self, name, finger, touch=None):
        enrolling = whorl("enroll", name)
        if touch:
            self.service.lay(touch, asking=enrolling)
        self.service.lay(finger, 6, asking=enrolling)
        self.assertEqual(end(enrolling)[0], 0)

    def set_passcode(self):
        setting = whorl("passcode", "set", "--passcode-fd", "0", secret=PASSCODE.encode() + b"\n")
        self.service.lay("right", asking=setting)
        self.assertEqual(end(setting)[0], 0)

    def fingers(self):
        return {finger["finger"] for finger in end(whorl("fingers"))[1]["result"]["fingers"]}


class Fingers(Window):
    def test_finger_is_added_with_a_name_after_a_touch(self):
        press("Add a Finger…")
        shows("Which finger do you want to add?")
        # The first field; Cancel has the focus.
        self.screen.press(*["shift+Tab"] * 11)
        self.screen.type("Spare")
        press("Left thumb")
        shows("Changes the enrolled fingers.")
        self.service.lay("right")
        shows("Enroll the left thumb")
        self.service.lay("left", 6)
        shows("A few test touches")
        self.service.lay("left", 3)
        shows("3 of 3 test touches recognized.")
        self.screen.press("Escape")
        shows("Spare")
        self.assertEqual(self.fingers(), {"right-index-finger", "left-thumb"})

    def test_added_finger_remains_if_its_test_touches_are_skipped(self):
        press("Add a Finger…")
        shows("Which finger do you want to add?")
        press("Left thumb")
        shows("Changes the enrolled fingers.")
        self.service.lay("right")
        shows("Enroll the left thumb")
        self.service.lay("left", 6)
        shows("A few test touches")
        press("Cancel")
        shows("Delete…: Left thumb")
        self.assertEqual(self.fingers(), {"right-index-finger", "left-thumb"})

    def test_canceled_consent_adds_nothing(self):
        press("Add a Finger…")
        shows("Which finger do you want to add?")
        press("Left thumb")
        shows("Changes the enrolled fingers.")
        press("Cancel")
        hides("Changes the enrolled fingers.")
        self.assertEqual(self.fingers(), {"right-index-finger"})

    def test_finger_is_deleted_only_after_confirmation_and_a_touch(self):
        self.enroll("left-thumb", "left", touch="right")
        made = whorl("secret", "add", "vault", "--access", "biometry-current-set", secret=b"x")
        self.assertEqual(end(made)[0], 0)
        press("Passcode")
        press("Fingers")
        shows("Delete…: Left thumb")
        press("Delete…: Left thumb")
        shows("These items stop working, or then require the passcode: vault.")
        press("Cancel")
        hides("vault")
        self.assertEqual(self.fingers(), {"right-index-finger", "left-thumb"})
        press("Delete…: Left thumb")
        shows("vault")
        press("Delete")
        shows("Changes the enrolled fingers.")
        press("Cancel")
        hides("Changes the enrolled fingers.")
        self.assertEqual(self.fingers(), {"right-index-finger", "left-thumb"})
        press("Delete…: Left thumb")
        shows("vault")
        press("Delete")
        shows("Changes the enrolled fingers.")
        self.service.lay("right")
        shows("Finger deleted.")
        hides("Left thumb")
        self.assertEqual(self.fingers(), {"right-index-finger"})

    def test_finger_is_renamed_without_a_touch_and_gets_its_own_name_again(self):
        press("Rename…: Right index finger")
        shows("Rename “Right index finger”")
        self.screen.type("the good hand")
        self.screen.press("Return")
        shows("Finger renamed.")
        shows("Rename…: the good hand")
        fingers = end(whorl("fingers"))[1]["result"]["fingers"]
        self.assertEqual([finger.get("label") for finger in fingers], ["the good hand"])
        press("Delete…: the good hand")
        shows("Right index finger. Enrolled on")
        press("Cancel")
        hides("Right index finger. Enrolled on")
        press("Rename…: the good hand")
        shows("Rename “the good hand”")
        self.screen.press("ctrl+a", "BackSpace")
        press("Rename")
        shows("Rename…: Right index finger")

    def test_last_finger_comes_with_a_warning(self):
        press("Delete…: Right index finger")
        shows("This is your only finger.")

    def test_touch_names_the_finger(self):
        press("Which Finger Is This?")
        shows("test a finger")
        self.service.lay("right")
        shows("Matched: right index finger.")
        press("Test: Right index finger")
        shows("test a finger")
        self.service.lay("left", 3)
        shows("The finger did not match.")

    def test_test_of_one_finger_says_that_it_was_another(self):
        self.enroll("left-thumb", "left", touch="right")
        press("Passcode")
        # GTK takes no second press of a button while it shows the first one.
        shows("No passcode is set.")
        press("Fingers")
        shows("Test: Left thumb")
        press("Test: Left thumb")
        shows("test a finger")
        self.service.lay("right")
        shows("This is the right index finger, not the left thumb.")


    def test_agent_of_the_session_shows_the_prompts(self):
        agent = Agent(self.screen, self.service)
        self.addCleanup(agent.close)
        press("Which Finger Is This?")
        shows("test a finger")
        found = self.screen.tool("search", "--onlyvisible", "--class", "whorl-prompt").stdout.split()
        self.assertEqual(len(found), 1)
        self.assertEqual(len(self.screen.windows()), 1)
        self.service.lay("right")
        shows("Matched: right index finger.")


class Passcode(Window):
    def test_passcode_is_set_changed_and_removed(self):
        press("Passcode")
        shows("No passcode is set.")
        press("Set Passcode…")
        shows("Set a passcode")
        self.screen.type("123")
        said = access.read()
        self.assertTrue("Set a passcode" in said and "123" not in said, said)
        self.screen.press("Return")
        self.screen.type("123")
        self.screen.press("Return")
        shows("Use at least 4 characters.")
        self.screen.type(PASSCODE)
        self.screen.press("Return")
        self.screen.type(PASSCODE + "!")
        self.screen.press("Return")
        shows("The passcodes are different.")
        for _ in range(2):
            self.screen.type(PASSCODE)
            self.screen.press("Return")
        shows("Sets the passcode entered in this program.")
        self.service.lay("right")
        shows("Passcode set.")
        shows("Tries left before the TPM locks")
        press("Change Passcode…")
        shows("Change the passcode")
        for _ in range(2):
            self.screen.type("another one")
            self.screen.press("Return")
        shows("Changes your passcode to the one entered in this program.")
        self.screen.type(PASSCODE)
        self.screen.press("Return")
        shows("Passcode changed.")
        verified = whorl("passcode", "verify", "--passcode-fd", "0", secret=b"another one\n")
        self.assertEqual(end(verified)[0], 0)
        press("Remove Passcode…")
        shows("Remove the passcode?")
        press("Remove")
        shows("Removes your passcode.")
        self.screen.type("wrong one")
        self.screen.press("Return")
        shows("Wrong passcode")
        self.screen.type("another one")
        self.screen.press("Return")
        shows("Passcode removed.")
        shows("No passcode is set.")


class OtherPages(Window):
    def test_history_says_what_happened_in_words(self):
        press("Which Finger Is This?")
        shows("test a finger")
        self.service.lay("left", 3)
        shows("The finger did not match.")
        press("History")
        shows("Not recognized.")
        shows("“io.whorl.settings”")
        shows("Enrolled.")

    def test_checks_say_what_works_in_words(self):
        press("Reader and TPM")
        shows("The service is running.")
        shows("Connected: Virtual device")
        shows("Virtual reader: no real fingerprint is read.")
        shows("The TPM is simulated.")
        shows("Fingers are not locked out.")



    def test_keyring_is_turned_on_and_off_with_a_touch(self):
        press("Use It For")
        shows("A login by touch does not unlock the keyring.")
        becomes("Keyring at login", False)
        press("Keyring at login")
        shows("Unlocks your keyring when you log in by touch.")
        press("Cancel")
        hides("Unlocks your keyring when you log in by touch.")
        becomes("Keyring at login", False)
        self.assertEqual(end(whorl("keyring"))[1]["result"]["keyring"], "off")
        press("Keyring at login")
        shows("Unlocks your keyring when you log in by touch.")
        self.service.lay("right")
        shows("Log in with your password once.")
        becomes("Keyring at login", True)
        press("Keyring at login")
        shows("Stops unlocking your keyring when you log in by touch.")
        self.service.lay("right")
        shows("A login by touch does not unlock the keyring.")
        becomes("Keyring at login", False)

    def test_lockout_is_ended_with_the_passcode(self):
        self.set_passcode()
        for touches in (3, 2):
            asking = whorl("evaluate", "--reason", "unlock the vault", "--policy", "biometrics")
            self.service.lay("left", touches, asking=asking)
            self.assertNotEqual(end(asking)[0], 0)
        press("Reader and TPM")
        shows("Too many failed attempts; fingerprints are locked out.")
        press("Verify Passcode…")
        shows("end the lockout")
        self.screen.type(PASSCODE)
        self.screen.press("Return")
        shows("Fingers are not locked out.")


class Apps(Window):
    def test_program_is_denied_and_allowed_again_with_a_touch(self):
        asking = whorl("evaluate", "--reason", "unlock the vault", "--policy", "biometrics")
        self.service.lay("right", asking=asking)
        self.assertEqual(end(asking)[0], 0)
        press("Apps")
        shows("“whorl”")
        shows("Matched: right index finger.")
        press("Deny: “whorl”")
        until(lambda: "Cancel" in names(), "the prompt")
        press("Cancel")
        until(lambda: "Cancel" not in names(), "the prompt's end")
        self.assertTrue(self.is_allowed("whorl"))
        press("Deny: “whorl”")
        self.service.lay("right")
        shows("Allow: “whorl”")
        shows("Fingerprints are disabled for this program.")
        self.assertFalse(self.is_allowed("whorl"))
        status, answer = end(whorl("evaluate", "--reason", "try it", "--policy", "biometrics"))
        self.assertEqual(answer["error"]["code"], "biometryOptedOut", (status, answer))
        press("Allow: “whorl”")
        self.service.lay("right")
        shows("Deny: “whorl”")
        shows("Fingerprints are enabled for this program.")
        self.assertTrue(self.is_allowed("whorl"))

    def test_last_result_of_each_program_is_shown(self):
        asking = whorl("evaluate", "--reason", "unlock the vault", "--policy", "biometrics")
        self.service.lay("left", 3, asking=asking)
        self.assertNotEqual(end(asking)[0], 0)
        press("Which Finger Is This?")
        shows("test a finger")
        self.service.lay("right")
        shows("Matched: right index finger.")
        press("Apps")
        shows("“whorl”")
        shows("The finger did not match.")
        # The settings themselves cannot be denied here.
        self.assertFalse(any("io.whorl.settings" in name for name in names()))

    def test_item_is_deleted_only_after_confirmation_and_a_touch(self):
        for name in ("wifi", "bank"):
            self.assertEqual(end(whorl("secret", "add", name, "--access", "biometry-any", secret=b"x"))[0], 0)
        press("Apps")
        shows("wifi")
        shows("Secret, created on ")
        for answer in ("dialog", "prompt"):
            press("Delete…: wifi")
            shows("Programs that need it stop working. This cannot be undone.")
            if answer == "prompt":
                press("Delete")
                hides("This cannot be undone.")
                until(lambda: "Cancel" in names(), "the prompt")
            press("Cancel")
            until(lambda: "Cancel" not in names(), "its end")
            self.assertEqual(self.secrets(), ["bank", "wifi"])
        press("Delete…: wifi")
        shows("This cannot be undone.")
        press("Delete")
        self.service.lay("right")
        shows("Item deleted.")
        hides("wifi")
        self.assertEqual(self.secrets(), ["bank"])

    def test_items_of_all_programs_are_shown_after_a_touch_and_deleted(self):
        self.store("org.example.mail", "imap")
        self.store("org.example.bank", "pin")
        press("Apps")
        press("Show Items of All Programs…")
        until(lambda: "Cancel" in names(), "the prompt")
        self.assertNotIn("imap, anna", names())
        press("Cancel")
        until(lambda: "Cancel" not in names(), "the prompt's end")
        self.assertNotIn("imap, anna", names())
        press("Show Items of All Programs…")
        self.service.lay("right")
        shows("imap, anna")
        shows("Password of “org.example.mail”")
        shows("pin, anna")
        press("Delete…: imap, anna")
        shows("Programs that need it stop working. This cannot be undone.")
        press("Delete")
        shows("Item deleted.")
        hides("imap, anna")
        shows("pin, anna")
        # The list is shown again only after another touch.
        press("History")
        press("Apps")
        hides("pin, anna")
        press("Show Items of All Programs…")
        self.service.lay("right")
        shows("pin, anna")
        self.assertNotIn("imap, anna", names())

    def store(self, group, service):
        """Stores a password in the keychain, as a program does."""
        record = {
            "itemClass": "genp", "accessGroup": group, "accessible": "ak", "flags": 0, "isSynchronizable": False, "hasValue": True,
            "attributes": {
                name: base64.b64encode(b"\x01" + value.encode()).decode() for name, value in (("svce", service), ("acct", "anna"))
            },
        }
        row = {"record": record, "kind": "value", "start": 0, "count": 6}
        parameters = {"groups": [group], "new": [row], "replacing": []}
        self.assertEqual(call("io.whorl.Keychain.Add", parameters, secrets=[b"secret"])["outcome"], "stored")

    def is_allowed(self, program):
        return end(whorl("biometry", "status", "--application", program))[1]["result"]["allowed"]

    def secrets(self):
        return sorted(secret["name"] for secret in end(whorl("secret", "list"))[1]["result"]["secrets"])


class UseItFor(Window):
    """The switches for all users, as the installed settings show them to an administrator."""

    def setUp(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        self.computer = Computer(folder)
        self.addCleanup(self.computer.close)
        super().setUp()
        press("Use It For")
        becomes("sudo", False)

    def open(self):
        return Settings(self.screen, self.computer.program, PATH=f"{self.computer.folder}/path:{os.environ['PATH']}")

    def test_each_service_is_turned_on_and_off(self):
        for title, kind, service in (
            ("sudo", "sudo", "sudo"), ("Login and screen lock (GNOME)", "login", "gdm-password"),
            ("Administrator prompts", "administrator", "polkit-1"),
        ):
            becomes(title, False)
            press(title)
            shows("Turned on. Try it before you log out.")
            becomes(title, True)
            self.assertTrue(self.computer.accepts(service), service)
            press(title)
            shows("Turned off.")
            becomes(title, False)
            self.assertFalse(self.computer.accepts(service), service)
            self.assertEqual(self.computer.requests()[-2:], [f"{kind} on {service}", f"{kind} off {service}"])

    def test_only_services_of_this_computer_are_shown(self):
        self.assertIsNone(switch("Login (sddm)"))
        self.assertIsNone(switch("Screen lock (swaylock)"))
        self.assertIsNone(switch("Screen lock (KDE)"))

    def test_switch_goes_back_if_permission_is_refused(self):
        for answer, text in ((126, None), (127, "No administrator could be asked for permission.")):
            self.computer.answer.write_text(str(answer))
            press("sudo")
            until(lambda: len(self.computer.requests()) == (1 if answer == 126 else 2), "the request")
            if text:
                shows(text)
            becomes("sudo", False)
            self.assertFalse(self.computer.accepts("sudo"))
        # Nor is it believed: what the files say is shown.
        self.computer.answer.write_text("0")
        press("sudo")
        shows("Nothing was changed. To see why, run: sudo whorl pam add sudo")
        becomes("sudo", False)

    def test_switch_shows_why_whorl_refuses(self):
        # After the page was read.
        (self.computer.pam / "sudo").write_text("@include common-auth\nauth required pam_exec.so /bin/false\n")
        press("sudo")
        shows("A touch would skip the lines that follow the password's line in sudo's file.")
        becomes("sudo", False, False)

    def test_file_that_cannot_be_changed_grays_out_its_switch(self):
        becomes("Login and screen lock (LightDM)", False, False)
        shows("Its PAM file cannot be changed automatically. For the reason, run:\nwhorl pam add lightdm --dry-run")

    def test_rules_of_the_administrator_gray_out_a_switch(self):
        self.computer.forbidden.write_text("io.whorl.settings.sudo\nio.whorl.settings.all\n")
        press("Fingers")
        press("Use It For")
        becomes("sudo", False, False)
        becomes("All programs", False, False)
        shows("Your administrator does not allow changing this.")
        becomes("Administrator prompts", False)

    def test_without_pkexec_the_command_is_shown(self):
        (self.computer.folder / "usr/libexec/whorl/whorl-settings-helper").unlink()
        self.settings.close()
        self.settings = self.open()
        press("Use It For")
        becomes("sudo", False, False)
        shows("An administrator can change this in a terminal:\nsudo whorl pam add sudo")
        shows("sudo pam-auth-update --enable whorl")

    def test_one_switch_turns_on_all_programs(self):
        becomes("All programs", False)
        press("All programs")
        shows("Turned on. Try it before you log out.")
        becomes("All programs", True)
        self.assertTrue(self.computer.accepts("common-auth"))
        for title in ("sudo", "Administrator prompts", "Login and screen lock (GNOME)"):
            becomes(title, True, False)
        shows("On through the system profile.")
        press("All programs")
        shows("Turned off.")
        becomes("All programs", False)
        becomes("sudo", False)
        self.assertFalse(self.computer.accepts("common-auth"))
        self.assertEqual(self.computer.requests(), ["all on", "all off"])

    def test_files_edited_by_hand_are_not_changed(self):
        file = self.computer.pam / "common-auth"
        text = file.read_text().replace("pam_unix.so", "pam_unix.so nodelay  ").replace("# here", "# edited\n# here")
        file.write_text("auth optional pam_echo.so\n" + text.replace("pam-auth-update", "no tool"))
        press("All programs")
        shows("Nothing was changed. To see why, run: sudo pam-auth-update --enable whorl")
        becomes("All programs", False)

    def test_keyring_at_login_waits_for_the_administrator(self):
        becomes("Keyrings at login, for all users", False)
        becomes("Keyring at login", False, False)
        shows("First, turn on “Keyrings at login, for all users”.")
        press("Keyrings at login, for all users")
        shows("Turned on. Try it before you log out.")
        becomes("Keyrings at login, for all users", True)
        self.assertTrue(self.computer.accepts("common-session"))
        becomes("Keyring at login", False)
        press("Keyring at login")
        self.service.lay("right")
        becomes("Keyring at login", True)
        # The user can turn off the own switch in any case.
        press("Keyrings at login, for all users")
        shows("Turned off.")
        becomes("Keyrings at login, for all users", False)
        becomes("Keyring at login", True)
        self.assertEqual(self.computer.requests(), ["keyring on", "keyring off"])

    def test_keys_alone_move_a_switch_which_keeps_the_focus(self):
        becomes("Keyring at login", False, False)
        # From the first page's button, over the others, to the first switch that can be changed.
        self.screen.press(*["Tab"] * 6, "space")
        shows("Turned on. Try it before you log out.")
        self.assertEqual(self.computer.requests(), ["all on"])
        self.screen.press("space")
        shows("Turned off.")
        self.assertEqual(self.computer.requests(), ["all on", "all off"])


class SSHAgent(Window):
    """The switch of the user's SSH agent, where it is installed."""

    def setUp(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        self.computer = Computer(folder)
        self.addCleanup(self.computer.close)
        self.agent = self.computer.folder / "agent"
        self.agent.write_text("disabled\n")
        super().setUp()
        press("Use It For")

    def open(self):
        return Settings(self.screen, self.computer.program, PATH=f"{self.computer.folder}/path:{os.environ['PATH']}")

    def test_agent_is_enabled_and_disabled(self):
        becomes("SSH and git", False)
        shows("Keys in the TPM sign for ssh and git after a touch.")
        press("SSH and git")
        shows("To create a key, run:\nwhorl ssh create NAME")
        becomes("SSH and git", True)
        self.assertEqual(self.agent.read_text(), "enabled\n")
        press("SSH and git")
        hides("To create a key, run:")
        becomes("SSH and git", False)
        self.assertEqual(self.agent.read_text(), "disabled\n")

    def test_switch_goes_back_if_the_agent_cannot_be_enabled(self):
        # The real command: no service manager of a user runs here.
        (self.computer.folder / "stuck").touch()
        press("SSH and git")
        shows("The user's service manager does not start the SSH agent.")
        becomes("SSH and git", False)

    def test_switch_is_hidden_without_the_agent(self):
        becomes("SSH and git", False)
        self.agent.unlink()
        press("Apps")
        press("Use It For")
        hides("SSH and git")


class KeyringOnDemand(Window):
    """The switch that gives a real gnome-keyring its own password, with the session's agent for the touch."""

    def setUp(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        self.computer = Computer(folder)
        self.addCleanup(self.computer.close)
        loop()
        self.daemon = Daemon()
        self.addCleanup(self.daemon.close)
        super().setUp()

    def open(self):
        return Settings(self.screen, self.computer.program, **{**self.daemon.environment, "WHORL_SERVICE": "system"})

    def status(self):
        return end(whorl("keyring"))[1]["result"]["keyring"]

    def turn(self, *passwords):
        press("Keyring on demand")
        shows("Login password")
        for password in passwords:
            self.screen.type(password)
            self.screen.press("Return")

    def test_passcode_is_needed_first(self):
        press("Use It For")
        becomes("Keyring on demand", False, False)
        shows("First, set a passcode.")

    def test_keyring_is_turned_on_and_off_with_the_login_password_and_a_touch(self):
        self.set_passcode()
        agent = Agent(self.screen, self.service)
        self.addCleanup(agent.close)
        press("Use It For")
        becomes("Keyring on demand", False)
        self.turn()
        press("Cancel")
        hides("Login password")
        becomes("Keyring on demand", False)
        self.turn("not it")
        shows("The keyring has another password.")
        becomes("Keyring on demand", False)
        self.assertEqual(self.status(), "off")
        self.turn(PASSWORD)
        shows("Lets a finger or your passcode unlock your keyring at any time.")
        commands = [pathlib.Path(f"/proc/{name}/cmdline").read_bytes() for name in os.listdir("/proc") if name.isdigit()]
        running = [command for command in commands if b"--login-password-fd" in command]
        self.assertTrue(running and not any(PASSWORD.encode() in command for command in running), running)
        self.service.lay("right")
        shows("Turned on.")
        becomes("Keyring on demand", True)
        becomes("Keyring at login", True, False)
        shows("Included in “Keyring on demand”.")
        self.assertEqual(self.status(), "ownPassword")
        self.turn(PASSWORD, PASSWORD + "x")
        shows("The passwords do not match.")
        self.screen.press("Escape")
        hides("Login password")
        self.assertEqual(self.status(), "ownPassword")
        self.turn(PASSWORD, PASSWORD)
        self.service.lay("right")
        shows("Turned off.")
        becomes("Keyring on demand", False)
        self.assertEqual(self.status(), "off")

    def test_without_an_agent_the_settings_show_the_prompt(self):
        self.set_passcode()
        press("Use It For")
        becomes("Keyring on demand", False)
        self.turn(PASSWORD)
        shows("Lets a finger or your passcode unlock your keyring at any time.")
        press("Cancel")
        hides("Lets a finger or your passcode unlock your keyring at any time.")
        becomes("Keyring on demand", False)
        self.assertEqual(self.status(), "off")
        self.turn(PASSWORD)
        shows("Lets a finger or your passcode unlock your keyring at any time.")
        self.service.lay("right")
        shows("Turned on.")
        self.assertEqual(self.status(), "ownPassword")


class FingersOnWayland(Fingers):
    """The window in a session of Wayland, by a screen reader."""

    def make_screen(self):
        folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder, True)
        return WaylandScreen(folder)

    # These need a keyboard.
    test_finger_is_added_with_a_name_after_a_touch = None
    test_finger_is_renamed_without_a_touch_and_gets_its_own_name_again = None
    # An agent is found by its window on X11.
    test_agent_of_the_session_shows_the_prompts = None


class WithoutService(unittest.TestCase):
    def test_each_page_says_that_the_service_does_not_respond(self):
        screen = Screen("whorl-settings")
        self.addCleanup(screen.close)
        self.addCleanup(Settings(screen).close)
        for page in ("Fingers", "Passcode", "Use It For", "Apps", "History", "Reader and TPM"):
            press(page)
            shows("The service whorld does not respond")


class Keyboard(Window):
    def test_keys_alone_reach_each_page_and_close_dialogs(self):
        # The switcher's buttons come first.
        for text in (
            "No passcode is set.", "A login by touch does not unlock the keyring.",
            "No program has asked for anything yet.", "Enrolled.",
            "The service is running.",
        ):
            self.screen.press("Tab", "space")
            shows(text)
        self.screen.press(*["shift+Tab"] * 5, "space")
        shows("Delete…: Right index finger")

    def test_keys_alone_test_and_delete_a_finger(self):
        self.screen.press(*["Tab"] * 6, "space")
        shows("test a finger")
        self.screen.press("Escape")
        hides("test a finger")
        self.screen.press("Tab", "Tab", "space")
        shows("This is your only finger.")
        # Cancel has the focus, so that a stray Enter deletes nothing.
        self.screen.press("Return")
        hides("This is your only finger.")
        self.assertEqual(self.fingers(), {"right-index-finger"})
        self.screen.press("space")
        shows("This is your only finger.")
        self.screen.press("Escape")
        hides("This is your only finger.")
        self.screen.press("space")
        shows("This is your only finger.")
        self.screen.press("Tab", "space")
        shows("Changes the enrolled fingers.")
        self.service.lay("right")
        shows("No finger is enrolled.")


class Looks(unittest.TestCase):
    """Each page in each style, language and scale: nothing is cut off or overlaps, and each text can be read."""

    # The titles of the pages' buttons come first.
    PAGES = 6

    @classmethod
    def setUpClass(cls):
        cls.screen, cls.service = Screen("whorl-settings"), Service()
        cls.addClassCleanup(cls.screen.close)
        cls.addClassCleanup(cls.service.close)
        enrolling = whorl("enroll", "right-index-finger", "--label", "The good hand")
        cls.service.lay("right", 6, asking=enrolling)
        assert end(enrolling)[0] == 0
        setting = whorl("passcode", "set", "--passcode-fd", "0", secret=PASSCODE.encode() + b"\n")
        cls.service.lay("right", asking=setting)
        assert end(setting)[0] == 0
        asking = whorl("evaluate", "--reason", "unlock the vault", "--policy", "biometrics")
        cls.service.lay("right", asking=asking)
        assert end(asking)[0] == 0
        assert end(whorl("secret", "add", "wifi", "--access", "biometry-any", secret=b"x"))[0] == 0
        # With all switches.
        folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, folder)
        cls.computer = Computer(folder)
        cls.addClassCleanup(cls.computer.close)
        cls.folder = pathlib.Path(os.environ.get("WHORL_PICTURES") or cls.service.folder / "pictures")
        cls.folder.mkdir(exist_ok=True, parents=True)
        # As in test_screens.py, locales of these names with the data of C.UTF-8.
        cls.locales = cls.service.folder / "locales"
        for kind in KINDS.values():
            if name := kind.get("LC_ALL"):
                shutil.copytree("/usr/lib/locale/C.utf8", cls.locales / name.replace("UTF-8", "utf8"), dirs_exist_ok=True)

    def test_each_page_shows_all_of_it_readably(self):
        for kind in KINDS:
            # The window is meant for screens of at least 480 pixels; at 300 % this one has 341.
            if kind == "300-percent":
                continue
            with self.subTest(kind):
                self.looks_right(kind)

    def looks_right(self, kind):
        path = f"{self.computer.folder}/path:{os.environ['PATH']}"
        settings = Settings(self.screen, self.computer.program, PATH=path, LOCPATH=str(self.locales), **KINDS[kind])
        try:
            until(lambda: "The good hand" in names(), "the finger")
            buttons = self.buttons()
            for number, page in enumerate(buttons[: self.PAGES]):
                press(page)
                self.page_looks_right(kind, number)
            # The buttons that open a dialog, counted from the end of the page: add, change the passcode, delete.
            for dialog, (page, place) in {"add": (0, -2), "passcode": (1, -2), "delete": (0, -3)}.items():
                press(buttons[page])
                # In this page, not in the one before; only the first one names the finger.
                until(lambda: ("The good hand" in names()) == (page == 0), "the page")
                self.at_rest()
                press(self.buttons()[place])
                self.dialog_looks_right(kind, dialog)
                self.screen.press("Escape")
                until(lambda: not any(part.role == "dialog" for part in access.parts()), "the dialog's end")
        finally:
            settings.close()

    def at_rest(self):
        """Waits until the window stops changing, and returns its parts."""
        steady = []
        until(lambda: steady == access.parts() or steady.clear() or steady.extend(access.parts()), "the window at rest")
        return steady

    def buttons(self):
        return [part.name for part in access.parts() if part.role == "push button"]

    def page_looks_right(self, kind, number):
        until(lambda: len([part for part in access.texts() if part.name.strip()]) > self.PAGES, "the page")
        # Their states are read one after the other.
        until(lambda: number != 2 or any(part.role == "check box" for part in access.parts()), "the switches")
        steady = self.at_rest()
        frame = next(part for part in steady if part.role == "frame")
        path = self.folder / f"settings-{kind}-{number}.png"
        self.screen.picture(path)
        self.readable(kind, frame, [part for part in steady if part.role in READ], path)

    def dialog_looks_right(self, kind, name):
        until(lambda: any(part.role == "dialog" for part in access.parts()), "the dialog")
        steady = self.at_rest()
        start = next(index for index, part in enumerate(steady) if part.role == "dialog")
        path = self.folder / f"settings-{kind}-{name}.png"
        self.screen.picture(path)
        self.readable(kind, steady[start], [part for part in steady[start:] if part.role in READ], path)

    def readable(self, kind, frame, parts, path):
        factor = 2 if kind == "200-percent" else 1
        picture = Picture(path)
        self.assertGreaterEqual(picture.width, frame.width * factor, kind)
        self.assertLessEqual(frame.width, 512, kind)
        self.assertEqual(luminance(picture.ground(0, 0, picture.width, picture.height)) < 0.2, "dark" in kind, kind)
        for part in parts:
            if not part.name.strip():
                continue
            self.assertTrue(frame.x <= part.x and part.x + part.width <= frame.x + frame.width, (kind, part, frame))
            self.assertTrue(part.width > 0 and part.height > 0, (kind, part))
            for other in parts:
                self.assertTrue(part is other or not part.overlaps(other), (kind, part, other))
            box = [factor * value for value in (part.x, part.y, part.width, part.height)]
            # Lines below the window's edge come into view by scrolling.
            if box[1] + box[3] <= picture.height:
                self.assertGreaterEqual(picture.contrast(*box), CONTRAST, (kind, part))


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
