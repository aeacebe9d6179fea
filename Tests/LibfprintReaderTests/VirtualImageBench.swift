// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Foundation
import ReaderConformance
import Synchronization
import SyntheticFingers

@testable import WhorlLibfprint

/// libfprint's virtual image reader with a hand that lays synthetic fingers on it.
///
/// Each bench has a context and a socket of its own, since an unplugged virtual reader does not come back.
final class VirtualImageBench: ReaderBench {
    let abilities: BenchAbilities = [.unreadable, .unplug]
    let source = LibfprintSource()
    let directory: URL
    private let presses = Mutex<[Int: Int]>([:])
    private let found = Mutex<(any FingerprintReader)?>(nil)

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(
            path: "whorl-vi-\(UUID().uuidString.prefix(8))"
        )
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    var socket: String { directory.path + "/s" }

    func reader() async throws -> any FingerprintReader {
        if let reader = found.withLock({ $0 }) { return reader }
        // The driver reads its variable when the context is made: one bench at a time sets it.
        let readers = try await VirtualEnvironment.shared.with("FP_VIRTUAL_IMAGE", socket) {
            [source]
            () async throws(ReaderError) in try await source.readers()
        }
        for reader in readers where await reader.info.driver == "virtual_image" {
            found.withLock { $0 = reader }
            return reader
        }
        throw ReaderError(.notFound, operation: "bench")
    }

    func present(_ finger: Int) async throws {
        let index = presses.withLock { presses in
            presses[finger, default: -1] += 1
            return presses[finger, default: 0]
        }
        let image = SyntheticFinger(seed: SyntheticFinger.testSeeds[finger]).press(index)
        try await send(.press(image))
    }

    func presentUnreadable() async throws { try await send(.retry(.general)) }

    func unplug() async throws { try await send(.unplug) }

    func tearDown() async throws { try? FileManager.default.removeItem(at: directory) }

    /// The call blocks until a scan has read the message, so it has a thread of its own.
    func send(_ message: VirtualReaderMessage) async throws {
        let reader = VirtualReader(path: socket)
        let failure = await withCheckedContinuation {
            (done: CheckedContinuation<VirtualReaderError?, Never>) in
            Thread.detachNewThread {
                do throws(VirtualReaderError) {
                    try reader.send(message, timeout: .seconds(120))
                    done.resume(returning: nil)
                } catch {
                    done.resume(returning: error)
                }
            }
        }
        if let failure { throw failure }
    }
}

/// Lets one user at a time change the process's environment.
actor VirtualEnvironment {
    static let shared = VirtualEnvironment()
    private let gate = OperationGate()

    func with<Value: Sendable>(
        _ variable: String,
        _ value: String,
        _ body: @Sendable () async throws(ReaderError) -> Value
    ) async throws(ReaderError) -> Value {
        try await gate.run("environment", whenBusy: .wait) { () async throws(ReaderError) in
            setenv(variable, value, 1)
            defer { unsetenv(variable) }
            return try await body()
        }
    }
}
