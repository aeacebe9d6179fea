// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GLibRuntime
import Glibc
import WhorlFprint
import WhorlSupport

/// fprintd's interface alone, on fprintd's folder, for a process without rights on a bus of its own.
///
/// It takes whatever readers libfprint is told of by the environment, and so never runs as root.
struct FprintProgram {
    /// Whether it stays when no client needs it.
    let stays: Bool

    func run() async throws {
        guard getuid() != 0, geteuid() != 0 else {
            throw ValidationError(
                "--fprintd serves virtual readers too, and so runs as another user than root only."
            )
        }
        guard stateFolder.hasPrefix("/") else {
            throw ValidationError("STATE_DIRECTORY is “\(stateFolder)”; name a folder by its whole path.")
        }
        MainLoop.begin()
        EndSignals.onFirst { _exit(0) }
        let bus = try await SystemBus.shared.server()
        let service = FprintService(on: bus, folder: stateFolder) { sentence in
            ServiceManager.log(.notice, sentence)
        }
        try await service.begin {
            ServiceManager.log(.error, "Another process has fprintd's name on the bus, or the bus has ended.")
            _exit(1)
        }
        var idleSince = ContinuousClock.now
        while stays || ContinuousClock.now - idleSince < .seconds(30) {
            await OffPoolTimer.waitUncancelled(.seconds(1))
            if await !service.isFree() { idleSince = .now }
        }
    }

    /// The first of the service manager's folders, or fprintd's own.
    private var stateFolder: String {
        let folders = getenv("STATE_DIRECTORY").map { String(cString: $0) } ?? ""
        return folders.split(separator: ":").first.map(String.init) ?? "/var/lib/fprint"
    }
}
