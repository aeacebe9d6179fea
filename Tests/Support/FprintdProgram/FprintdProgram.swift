// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlGLib
import WhorlLibfprint
import WhorlCallers
import WhorlFprint
import WhorlSupport

/// fprintd's interface alone, with fprintd's own calls of libfprint and its folders of prints.
///
/// fprintd's tests start it in fprintd's place (`scripts/test-fprintd`): claims, rights, actions, properties and signals
/// are those of the service. It takes whatever readers the environment names, so it does not run as root.
@main struct FprintdProgram {
    static func main() async throws {
        guard getuid() != 0, geteuid() != 0 else { end("This program runs as another user than root only.") }
        signal(SIGPIPE, SIG_IGN)
        for number in [SIGTERM, SIGINT] { signal(number) { _ in _exit(0) } }
        GLibExecutor.ownContext()
        let prints = PrintStore(root: stateFolder)
        let service = FprintService(
            on: try await SystemBus.serving.server(),
            rights: SystemRights(lock: LockRule(NoSessions(), hasEnded: { _ in false })),
            report: log
        ) { DirectWork($0, prints: prints, log: log) }
        Task(executorPreference: GLibTaskExecutor.shared) { await followSleep() }
        try await service.begin {
            end("Another process has fprintd's name on the bus, or the bus has ended.")
        }
        await wait(for: service)
    }

    /// Returns when no client has needed a reader for 30 seconds; with `-t`, never.
    private static func wait(for service: FprintService) async {
        let stays = CommandLine.arguments.contains("-t")
        var idleSince = ContinuousClock.now
        while stays || ContinuousClock.now - idleSince < .seconds(30) {
            await OffPoolTimer.waitUncancelled(.seconds(1))
            if await !service.isFree() { idleSince = .now }
        }
    }

    /// The first of the service manager's folders, or fprintd's own.
    private static var stateFolder: String {
        let folders = ProcessInfo.processInfo.environment["STATE_DIRECTORY"] ?? ""
        return folders.split(separator: ":").first.map(String.init) ?? "/var/lib/fprint"
    }

    /// Delays each sleep of the machine until the readers are suspended; fprintd's tests read the sentences.
    private static func followSleep() async {
        let manager = LoginManager()
        do throws(SystemBus.Fault) {
            let notices = try await manager.sleepNotices()
            var delay: (any SleepDelay)? = try await manager.delaySleep()
            log("Got delay inhibitor for sleep")
            for await isAboutToSleep in notices {
                if isAboutToSleep {
                    log("Preparing devices for sleep")
                    // A reader that is not open, or cannot be suspended, is no reason to keep the machine awake.
                    for reader in await readers() { try? await reader.suspendDirectly() }
                    // The descriptor is closed before the line is written.
                    delay = nil
                    log("Released delay inhibitor for sleep")
                } else {
                    log("Preparing devices for resume")
                    for reader in await readers() { try? await reader.resumeDirectly() }
                    if delay == nil { delay = try await manager.delaySleep() }
                    log("Got delay inhibitor for sleep")
                }
            }
        } catch {
            log("The machine's sleep is not prepared for: \(error.cause)")
        }
    }

    private static func readers() async -> [LibfprintReader] {
        (try? await LibfprintSource.shared.libfprintReaders()) ?? []
    }

    private static func log(_ sentence: String) { FileHandle.standardError.write(Data("\(sentence)\n".utf8)) }

    private static func end(_ sentence: String) -> Never {
        log(sentence)
        _exit(1)
    }
}

/// fprintd serves clients behind a locked screen too.
private struct NoSessions: LoginSessions {
    func session(ofProcess pid: Int32) async throws(LoginSessionsFault) -> LoginSession? { nil }
}
