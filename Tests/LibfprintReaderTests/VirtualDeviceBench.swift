// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Foundation
import ReaderConformance
import Synchronization

@testable import WhorlLibfprint

/// libfprint's virtual readers that compare by themselves, with a hand that says which finger it lays on.
///
/// A finger is a name here, and a print is that name: nothing is compared but names. What is real is everything
/// between the driver and ``LibfprintReader``. Each bench has a context and a socket of its own.
final class VirtualDeviceBench: ReaderBench {
    /// Which of the two drivers.
    enum Driver: String, CaseIterable, Sendable {
        /// Verifies, and does nothing else.
        case plain = "virtual_device"
        /// Identifies too, keeps prints in itself, and refuses to enroll one twice.
        case storage = "virtual_device_storage"

        var variable: String { "FP_" + rawValue.uppercased() }
    }

    let abilities: BenchAbilities = [.unreadable, .unplug]
    let driver: Driver
    let source = LibfprintSource()
    private let directory: URL
    private let found = Mutex<LibfprintReader?>(nil)

    init(_ driver: Driver) throws {
        self.driver = driver
        directory = FileManager.default.temporaryDirectory.appending(
            path: "whorl-vd-\(UUID().uuidString.prefix(8))"
        )
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    var hand: VirtualDeviceHand { VirtualDeviceHand(path: directory.path + "/s") }

    func reader() async throws -> any FingerprintReader { try await libfprintReader() }

    func libfprintReader() async throws -> LibfprintReader {
        if let reader = found.withLock({ $0 }) { return reader }
        let readers = try await VirtualEnvironment.shared.with(driver.variable, hand.path) {
            [source]
            () async throws(ReaderError) in try await source.readers()
        }
        for reader in readers {
            guard let reader = reader as? LibfprintReader, await reader.info.driver == driver.rawValue else {
                continue
            }
            found.withLock { $0 = reader }
            return reader
        }
        throw ReaderError(.notFound, operation: "bench")
    }

    /// What the driver calls a finger.
    static func name(of finger: Int) -> String { "finger-\(finger)" }

    func present(_ finger: Int) async throws { try await hand.say(.scan(Self.name(of: finger))) }

    func presentUnreadable() async throws { try await hand.say(.retry(0)) }

    func prepareStorageOperation() async throws { try await hand.say(.goOn) }

    func unplug() async throws { try await hand.say(.unplug) }

    func tearDown() async throws { try? FileManager.default.removeItem(at: directory) }

    /// The names of the prints that the driver keeps, in their order.
    func names() async throws -> [String] {
        try await hand.say(.list).split(separator: "\n").map(String.init).sorted()
    }

    /// Enrolls a finger with as many presentations as the reader wants.
    func enroll(_ finger: Int, _ metadata: EnrollmentMetadata = EnrollmentMetadata()) async throws -> Template
    {
        let reader = try await libfprintReader()
        return try await touching(reader, [.scan(Self.name(of: finger))]) { observer in
            try await reader.enroll(metadata, whenBusy: .fail, observer: observer)
        }
    }

    /// Runs an operation while the hand answers each request for a finger with the next of `commands`; the last one
    /// is said again and again.
    func touching<Value: Sendable>(
        _ reader: LibfprintReader,
        _ commands: [VirtualDeviceHand.Command],
        _ body: @escaping @Sendable (@escaping ScanObserver) async throws -> Value
    ) async throws -> Value {
        let (touches, touched) = AsyncStream.makeStream(of: Void.self)
        let running = Task {
            defer { touched.finish() }
            return try await body { if $0 == .touch { touched.yield() } }
        }
        var count = 0
        for await _ in touches {
            try await hand.say(commands[min(count, commands.count - 1)])
            count += 1
        }
        return try await running.value
    }
}

/// Runs `body` on a bench whose reader is open, and gives everything back afterwards.
func withVirtualDevice(
    _ driver: VirtualDeviceBench.Driver,
    _ body: (VirtualDeviceBench, LibfprintReader) async throws -> Void
) async throws {
    let bench = try VirtualDeviceBench(driver)
    let reader = try await bench.libfprintReader()
    do {
        try await reader.open()
        try await body(bench, reader)
        try await reader.close()
        try await bench.tearDown()
    } catch {
        try? await reader.close()
        try? await bench.tearDown()
        throw error
    }
}
