// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import whorl

/// The stacks of systems that are not here, written from their documentation (Docs/Distributions.md).
private struct Distribution: CustomStringConvertible, Sendable {
    let description: String
    /// The files of `/etc/pam.d`, by their names.
    let files: [String: String]
    /// Files that are links there, by their names.
    var links: [String: String] = [:]
    /// The services that get the line, and the line before which it stands.
    let taken: [String: String]
    /// The services that get no line, and a part of the reason.
    let refused: [String: String]
}

private let distributions = [
    Distribution(
        description: "Fedora with authselect's profile local",
        files: [
            "system-auth": """
            auth        required      pam_env.so
            auth        required      pam_faildelay.so delay=2000000
            auth        sufficient    pam_unix.so nullok
            auth        required      pam_deny.so

            account     required      pam_unix.so

            """,
            "postlogin": """
            session     optional      pam_umask.so silent
            session     [success=1 default=ignore] pam_succeed_if.so service !~ gdm* service !~ su* quiet

            """,
            "sudo": """
            #%PAM-1.0
            auth       include      system-auth
            account    include      system-auth
            password   include      system-auth
            session    optional     pam_keyinit.so revoke
            session    required     pam_limits.so
            session    include      system-auth

            """,
            "su": """
            #%PAM-1.0
            auth		required	pam_env.so
            auth		sufficient	pam_rootok.so
            # Uncomment the following line to require a user to be in the "wheel" group.
            #auth		required	pam_wheel.so use_uid
            auth		substack	system-auth
            auth		include		postlogin
            account		include		system-auth

            """,
        ],
        taken: ["sudo": "auth       include      system-auth"],
        refused: ["su": "skip the lines that follow the password's"]
    ),
    Distribution(
        description: "Fedora with authselect's profile sssd",
        files: [
            "authselect-system-auth": """
            auth        required                                     pam_env.so
            auth        required                                     pam_faildelay.so delay=2000000
            auth        [default=1 ignore=ignore success=ok]         pam_usertype.so isregular
            auth        [default=1 ignore=ignore success=ok]         pam_localuser.so
            auth        sufficient                                   pam_unix.so nullok
            auth        [default=1 ignore=ignore success=ok]         pam_usertype.so isregular
            auth        sufficient                                   pam_sss.so forward_pass
            auth        required                                     pam_deny.so

            """,
            "sudo": "#%PAM-1.0\nauth       include      system-auth\naccount    include      system-auth\n",
            "sshd": "#%PAM-1.0\nauth       substack     password-auth\nauth       include      postlogin\n",
            "postlogin": "session     optional      pam_umask.so silent\n",
        ],
        links: ["system-auth": "authselect-system-auth", "password-auth": "authselect-system-auth"],
        taken: ["sudo": "auth       include      system-auth"],
        refused: ["sshd": "skip the lines that follow the password's"]
    ),
    Distribution(
        description: "Fedora with authselect's features with-fingerprint and with-faillock",
        files: [
            "system-auth": """
            auth        required                                     pam_env.so
            auth        sufficient                                   pam_fprintd.so
            auth        sufficient                                   pam_unix.so nullok
            auth        required                                     pam_deny.so

            """,
            "password-auth": """
            auth        required                                     pam_env.so
            auth        required                                     pam_faillock.so preauth silent
            auth        sufficient                                   pam_unix.so nullok
            auth        required                                     pam_faillock.so authfail
            auth        required                                     pam_deny.so

            """,
            "sudo": "#%PAM-1.0\nauth       include      system-auth\n",
            "vsftpd":
                "#%PAM-1.0\nauth       required     pam_shells.so\nauth       include      password-auth\n",
        ],
        taken: [:],
        refused: [
            "sudo": "pam_fprintd.so in system-auth already prompts for a touch",
            "vsftpd": "a touch would skip pam_faillock.so",
        ]
    ),
    Distribution(
        description: "Arch",
        files: [
            "system-auth": """
            #%PAM-1.0

            auth       required                    pam_faillock.so      preauth
            # Optionally use requisite above if you do not want to prompt for the password
            # on locked accounts.
            -auth      [success=2 default=ignore]  pam_systemd_home.so
            auth       [success=1 default=bad]     pam_unix.so          try_first_pass nullok
            auth       [default=die]               pam_faillock.so      authfail
            auth       optional                    pam_permit.so
            auth       required                    pam_env.so
            auth       required                    pam_faillock.so      authsucc

            account    required                    pam_unix.so

            """,
            "system-login": """
            #%PAM-1.0

            auth       required   pam_shells.so
            auth       requisite  pam_nologin.so
            auth       include    system-auth

            account    required   pam_access.so

            """,
            "system-local-login":
                "#%PAM-1.0\n\nauth      include   system-login\naccount   include   system-login\n",
            "login":
                "#%PAM-1.0\n\nauth       requisite    pam_nologin.so\nauth       include      system-local-login\n",
            "sudo": "#%PAM-1.0\nauth\t\tinclude\t\tsystem-auth\naccount\t\tinclude\t\tsystem-auth\n",
            "su": """
            #%PAM-1.0
            auth            sufficient      pam_rootok.so
            auth            required        pam_unix.so
            account         required        pam_unix.so

            """,
        ],
        taken: ["su": "auth            required        pam_unix.so"],
        refused: [
            "sudo": "a touch would skip pam_faillock.so",
            "login": "a touch would skip pam_shells.so",
        ]
    ),
    Distribution(
        description: "openSUSE, with the service's file copied from /usr/lib/pam.d",
        files: [
            "common-auth-pc": """
            #%PAM-1.0
            #
            # This file is autogenerated by pam-config. All changes
            # will be overwritten.
            #
            auth	required	pam_env.so
            auth	required	pam_unix.so	try_first_pass

            """,
            "sudo": """
            #%PAM-1.0
            auth     include        common-auth
            account  include        common-account
            password include        common-password
            session  optional       pam_keyinit.so revoke
            session  include        common-session-nonlogin

            """,
            "su": "#%PAM-1.0\nauth     sufficient     pam_rootok.so\nauth     include        common-auth\n",
        ],
        links: ["common-auth": "common-auth-pc"],
        taken: [
            "sudo": "auth     include        common-auth", "su": "auth     include        common-auth",
        ],
        refused: ["chsh": "annot read"]
    ),
    Distribution(
        description: "Debian with screen lockers",
        files: [
            "common-auth": """
            auth	[success=1 default=ignore]	pam_unix.so nullok
            auth	requisite			pam_deny.so
            auth	required			pam_permit.so
            auth	optional			pam_cap.so

            """,
            "common-account": "account required pam_unix.so\n",
            "common-session": "session required pam_unix.so\n",
            "common-password": "password required pam_unix.so\n",
            "login": """
            auth       optional   pam_faildelay.so  delay=3000000
            auth       requisite  pam_nologin.so
            session    required   pam_loginuid.so
            @include common-auth
            auth       optional   pam_group.so
            session    required   pam_limits.so
            @include common-account
            @include common-session
            @include common-password

            """,
            "swaylock": "# PAM configuration file for the swaylock screen locker.\n\nauth include login\n",
            "i3lock": "# PAM configuration file for the i3lock screen locker.\n\nauth include login\n",
        ],
        taken: [
            "swaylock": "auth include login", "i3lock": "auth include login",
        ],
        refused: ["login": "lines that follow the password"]
    ),
    Distribution(
        description: "Ubuntu",
        files: [
            "common-auth": """
            # here are the per-package modules (the "Primary" block)
            auth	[success=2 default=ignore]	pam_unix.so nullok
            auth	[success=1 default=ignore]	pam_sss.so use_first_pass
            # here's the fallback if no module succeeds
            auth	requisite			pam_deny.so
            # prime the stack with a positive return value if there isn't one already;
            auth	required			pam_permit.so
            # and here are more per-package modules (the "Additional" block)
            auth	optional			pam_cap.so

            """,
            "common-account": "account [success=1 new_authtok_reqd=done default=ignore] pam_unix.so\n",
            "common-session-noninteractive": "session\trequired\tpam_unix.so\n",
            "sudo": """
            #%PAM-1.0

            # Set up user limits from /etc/security/limits.conf.
            session    required   pam_limits.so

            session    required   pam_env.so readenv=1 user_readenv=0
            session    required   pam_env.so readenv=1 envfile=/etc/default/locale user_readenv=0

            @include common-auth
            @include common-account
            @include common-session-noninteractive

            """,
        ],
        taken: ["sudo": "@include common-auth"],
        refused: ["common-auth": "applies to all services"]
    ),
]

@Suite struct `The command pam on another distribution` {
    /// Writes the files of a system into a folder.
    private func folder(_ system: Distribution, _ program: WhorlProgram) throws -> String {
        let folder = program.home + "/pam.d"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        for (name, text) in system.files {
            try text.write(toFile: "\(folder)/\(name)", atomically: false, encoding: .utf8)
        }
        for (name, target) in system.links {
            try FileManager.default.createSymbolicLink(
                atPath: "\(folder)/\(name)",
                withDestinationPath: target
            )
        }
        return folder
    }

    @Test(arguments: distributions)
    fileprivate func `adds one line before the password's, and takes it out again`(_ system: Distribution)
        async throws
    {
        let program = try WhorlProgram()
        let folder = try folder(system, program)
        for (service, next) in system.taken {
            let file = "\(folder)/\(service)"
            let before = try String(contentsOfFile: file, encoding: .utf8)
            let added = try await program.run(["pam", "add", service, "--folder", folder])
            #expect(added.status == 0, "\(service): \(added)")
            let after = try String(contentsOfFile: file, encoding: .utf8)
            #expect(after == before.replacing("\n\(next)\n", with: "\n\(PAMStack.line)\n\(next)\n"))
            #expect(after != before)
            let status = try await program.run(["pam", "status", service, "--folder", folder, "--json"])
            #expect(status.out.contains(#""by":"own""#), "\(status)")
            #expect(try await program.run(["pam", "remove", service, "--folder", folder]).status == 0)
            #expect(try String(contentsOfFile: file, encoding: .utf8) == before)
        }
    }

    @Test(arguments: distributions)
    fileprivate func `changes nothing where a touch would do something else than the password, and says why`(
        _ system: Distribution
    ) async throws {
        let program = try WhorlProgram()
        let folder = try folder(system, program)
        for (service, reason) in system.refused {
            let outcome = try await program.run(["pam", "add", service, "--folder", folder])
            #expect(outcome.status != 0, "\(service): \(outcome)")
            #expect(outcome.err.contains(reason), "\(service): \(outcome)")
        }
        for (name, text) in system.files {
            #expect(try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8) == text)
        }
        for (name, target) in system.links {
            let path = "\(folder)/\(name)"
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == target)
        }
    }
}
