// SPDX-License-Identifier: Apache-2.0

internal import GLibRuntime
internal import LibfprintReader
internal import WhorlFingerprint
internal import WhorlSystem

/// The work as fprintd does it: with the calls of libfprint that fprintd makes, and prints in a store of files.
actor DirectWork: DeviceWork {
    nonisolated let reader: LibfprintReader
    nonisolated let prints: any PrintStore
    /// Takes sentences for the log.
    nonisolated let log: @Sendable (String) -> Void
    /// Whether the reader's storage was compared with the prints here.
    var hasComparedStorage = false
    /// Whether the failure of the present attempt to verify was told already.
    var isRetryTold = false

    init(_ reader: LibfprintReader, prints: any PrintStore, log: @escaping @Sendable (String) -> Void) {
        self.reader = reader
        self.prints = prints
        self.log = log
    }

    /// The GLib thread.
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        GLibExecutor.shared.asUnownedSerialExecutor()
    }

    /// libfprint's stages, and the touch that looks whether somebody has the finger already.
    nonisolated var stages: Int {
        let info = reader.assumeIsolated { $0.info }
        return info.enrollStages + (info.features.contains(.identify) ? 1 : 0)
    }

    var isBusyWhileDeleting: Bool { features.contains(.storage) }

    func open() async throws(FprintError) {
        do throws(DirectFailure) {
            try await reader.openDirectly()
        } catch {
            throw .internal("Open failed with error: \(error.cause)")
        }
    }

    func close() async throws(FprintError) {
        do throws(DirectFailure) {
            try await reader.closeDirectly()
        } catch {
            throw .internal("Release failed with error: \(error.cause)")
        }
    }

    func enrolledFingers(of user: String) -> [Finger] { usablePrints(of: user).map(\.finger) }

    func deletableFingers(of user: String) -> [Finger] { prints.fingers(of: user, on: key) }

    func enrollment(
        of finger: Finger,
        for user: String,
        _ asking: Asking,
        begun: @escaping @Sendable () -> Void
    ) -> Scan {
        { report in await self.enroll(finger, user, report, begun) }
    }

    func verification(of name: String, for user: String) throws(FprintError) -> (told: String, Scan) {
        let (comparison, told) = try comparison(for: name, user)
        return (told, { report in await self.verify(comparison, report) })
    }

    func deletion(
        of fingers: [Finger],
        for user: String,
        _ asking: Asking,
        isClaimed: @escaping @Sendable () -> Bool
    ) -> Deletion {
        { () async throws(FprintError) in try await self.delete(fingers, of: user, isClaimed) }
    }
}
