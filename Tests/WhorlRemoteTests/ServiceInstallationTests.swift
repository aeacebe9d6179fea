// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlIPC
import WhorlService

@testable import WhorlRemote

/// The installation of the service, as its files tell.
struct ServiceInstallationTests {
    private let root: String
    private var installation: ServiceInstallation { ServiceInstallation(root: root) }

    init() throws {
        root = NSTemporaryDirectory() + "whorl-" + UUID().uuidString
        try make("/etc/systemd/system/sockets.target.wants")
        try make("/usr/lib/systemd/system")
        try make("/run/whorl")
    }

    @Test func `a machine without the service's unit has no service`() {
        #expect(!installation.isInstalled && !installation.isSwitchedOff)
    }

    @Test func `a unit that is enabled is installed and switched on, whether or not it answers`() throws {
        try write("/usr/lib/systemd/system/whorld.socket")
        try link(
            "/etc/systemd/system/sockets.target.wants/whorld.socket",
            to: "/usr/lib/systemd/system/whorld.socket"
        )
        #expect(installation.isInstalled && !installation.isSwitchedOff)
    }

    @Test func `a unit that is not enabled is installed and switched off`() throws {
        try write("/usr/lib/systemd/system/whorld.socket")
        #expect(installation.isInstalled && installation.isSwitchedOff)
    }

    @Test func `a masked unit is switched off`() throws {
        try write("/usr/lib/systemd/system/whorld.socket")
        try link(
            "/etc/systemd/system/sockets.target.wants/whorld.socket",
            to: "/usr/lib/systemd/system/whorld.socket"
        )
        try link("/etc/systemd/system/whorld.socket", to: "/dev/null")
        #expect(installation.isInstalled && installation.isSwitchedOff)
    }

    @Test func `a removed package that left its unit masked is not installed`() throws {
        try link("/etc/systemd/system/whorld.socket", to: "/dev/null")
        #expect(!installation.isInstalled && !installation.isSwitchedOff)
    }

    // Docs/Security.md: S1
    @Test func `a socket's file that was left behind neither installs nor switches on the service`() throws {
        do { _ = try UnixSocket.listen(at: root + PathTransport.systemPath) }
        #expect(!installation.isInstalled)
        try write("/usr/lib/systemd/system/whorld.socket")
        #expect(installation.isInstalled && installation.isSwitchedOff)
    }

    @Test func `a call to a service that is switched off says so, and how to choose another place`() {
        let error = ServiceError(.connection(SystemCallError(switchedOff: "connect")))
        #expect(error.message == "The service whorld is disabled by the administrator.")
        #expect(error.recovery.contains("systemctl enable --now whorld.socket"))
        #expect(error.recovery.contains("WHORL_SERVICE=private"))
    }

    private func make(_ folder: String) throws {
        try FileManager.default.createDirectory(atPath: root + folder, withIntermediateDirectories: true)
    }

    private func write(_ path: String) throws {
        try Data("[Socket]\n".utf8).write(to: URL(fileURLWithPath: root + path))
    }

    private func link(_ path: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: root + path, withDestinationPath: target)
    }
}
