// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlRemote
import WhorlService

/// A service that starts when a client connects, as under systemd.
struct Activation {
    private let process = Process()
    private let path: String

    init(_ folder: String, _ number: Int, activate: String, whorld: String) throws {
        path = "\(folder)/activated-\(number).socket"
        process.executableURL = URL(filePath: activate)
        process.arguments = [
            path, whorld, "--state-root", "\(folder)/activated-\(number)", "--tcti", "none", "--idle", "0",
        ]
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try FileManager.default.createDirectory(
            atPath: "\(folder)/activated-\(number)",
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        try process.run()
    }

    /// Connects and asks once.
    ///
    /// - Returns: The time from before the connection to the answer.
    func milliseconds() async throws -> Double {
        while !FileManager.default.fileExists(atPath: path) { try await Task.sleep(for: .milliseconds(1)) }
        // It listens a moment after the file is there.
        try await Task.sleep(for: .milliseconds(20))
        let services = Services.remote(
            profile: "bench",
            application: Side.application,
            over: PathTransport(path: path, owners: [geteuid()])
        )
        let begin = ContinuousClock.now
        // Without fingers the answer is no; a service that does not answer says another reason.
        let answer = await services.preflight(.biometrics, for: Side.application)
        let time = (ContinuousClock.now - begin) / .milliseconds(1)
        // Its end is not measured.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        guard let error = answer.obstacle, [.biometryNotAvailable, .biometryNotEnrolled].contains(error.code)
        else {
            throw BenchFault("\(answer)")
        }
        return time
    }
}
