// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Logging
import LoginAssertion
import RelyingParty
import ServiceLifecycle
import Synchronization

@testable import LoginServer

/// A server of a test's own: on a free port of the loopback, over a database in a folder that goes with it.
final class TestServer: Sendable {
    static let origin = "https://bank.example"
    /// Whom a token is for that changes devices.
    static let credentials = "https://bank.example/v1/devices"

    let folder: URL
    private let isOwner: Bool
    let service: LoginService
    let clock: TestClock
    let log: TestLog
    let configuration: LoginServer.Configuration

    /// Makes the folder and the server, which does not run yet.
    ///
    /// - Parameters:
    ///   - folder: That of another server, which has to live longer; otherwise one of its own.
    ///   - change: Changes the settings.
    /// - Throws: what the server throws.
    init(
        at folder: URL? = nil,
        _ change: (inout LoginServer.Configuration) -> Void = { _ in }
    ) async throws {
        isOwner = folder == nil
        let folder =
            folder ?? FileManager.default.temporaryDirectory.appending(path: "login-server-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.folder = folder
        guard let origin = LoginOrigin(Self.origin) else { throw CocoaError(.coderInvalidValue) }
        var configuration = LoginServer.Configuration(
            origin: origin,
            keyFile: folder.appending(path: "keys").path
        )
        configuration.passwordCost = .cheap
        change(&configuration)
        self.configuration = configuration
        let clock = TestClock()
        self.clock = clock
        log = TestLog()
        if isOwner {
            try await InitCommand(keyFile: configuration.keyFile, usesKeyFile: false).run(
                on: try SQLiteRelyingPartyStore(path: Self.database(folder), ifMissing: .create)
            )
        }
        service = try await Self.service(folder, configuration, clock)
    }

    private static func database(_ folder: URL) -> String { folder.appending(path: "login.sqlite").path }

    private static func service(
        _ folder: URL,
        _ configuration: LoginServer.Configuration,
        _ clock: TestClock
    ) async throws -> LoginService {
        try await LoginService(
            store: try store(folder),
            configuration: configuration,
            logger: TestLog().logger,
            now: { clock.now }
        )
    }

    /// A second instance on the same database.
    func another() async throws -> LoginService {
        try await Self.service(folder, configuration, clock)
    }

    deinit { if isOwner { try? FileManager.default.removeItem(at: folder) } }

    static func store(_ folder: URL) throws -> SQLiteRelyingPartyStore {
        try SQLiteRelyingPartyStore(path: database(folder))
    }

    /// The same database, as another instance or a command opens it.
    func store() throws -> SQLiteRelyingPartyStore { try Self.store(folder) }

    /// Runs the server over the same database, or over a store that stands before it, and stops it when the work is
    /// done.
    func run<Value: Sendable>(
        over store: (any RelyingPartyStore)? = nil,
        _ work: (TestClient) async throws -> Value
    ) async throws -> Value {
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        let clock = clock
        let server = try await LoginServer(
            store: try store ?? Self.store(folder),
            configuration: configuration,
            logger: log.logger,
            now: { clock.now },
            onListening: { continuation.yield($0.port) }
        )
        let logger = log.logger
        let group = ServiceGroup(configuration: .init(services: [server], logger: logger))
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { continuation.finish() }
                try await group.run()
            }
            guard let port = await ports.first(where: { _ in true }) else {
                try await tasks.waitForAll()
                throw CocoaError(.coderInvalidValue)
            }
            let result = await Result { try await work(TestClient(port: port)) }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            return try result.get()
        }
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ work: () async throws -> Success) async {
        do { self = .success(try await work()) } catch { self = .failure(error) }
    }
}

/// A clock that a test sets.
final class TestClock: Sendable {
    private let offset = Mutex(0.0)
    private let stopped = Mutex<Date?>(nil)

    var now: Date { stopped.withLock { $0 } ?? Date(timeIntervalSinceNow: offset.withLock { $0 }) }
    var seconds: Int { Int(now.timeIntervalSince1970) }

    func pass(_ seconds: Double) { offset.withLock { $0 += seconds } }

    /// Stands still from now on, so many seconds after 1970.
    func stop(at seconds: Double) { stopped.withLock { $0 = Date(timeIntervalSince1970: seconds) } }
}

/// A log that a test reads.
final class TestLog: Sendable {
    private let lines = Mutex(Data())

    var text: String { String(decoding: lines.withLock { $0 }, as: UTF8.self) }

    var logger: Logger {
        Logger(label: "test") { _ in
            JSONLines(level: .trace) { [self] line in lines.withLock { $0.append(line) } }
        }
    }
}
