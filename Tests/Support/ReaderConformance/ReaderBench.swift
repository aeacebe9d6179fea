// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint

/// One reader under test, and the hand that touches it.
///
/// Each check gets a bench of its own. The hand acts when the reader waits: the checks call it after `.touch`.
public protocol ReaderBench: Sendable {
    /// What the hand can do.
    var abilities: BenchAbilities { get }

    /// The reader, closed; the same one at each call.
    func reader() async throws -> any FingerprintReader

    /// Lays a finger on and lifts it. The same number is the same finger; different numbers do not match.
    func present(_ finger: Int) async throws

    /// Lays a finger on so that it cannot be read, and lifts it.
    func presentUnreadable() async throws

    /// Lets the next operation on the reader's storage go on, where the reader waits for that.
    func prepareStorageOperation() async throws

    /// Pulls the reader out.
    func unplug() async throws

    /// Gives back what the bench holds, after the check.
    func tearDown() async throws
}

extension ReaderBench {
    /// Nothing to prepare.
    public func prepareStorageOperation() async throws {}

    /// Nothing to give back.
    public func tearDown() async throws {}
}

/// What a bench's hand can do besides laying fingers on.
public struct BenchAbilities: OptionSet, Sendable {
    /// One bit for each ability.
    public let rawValue: Int

    /// Takes bits as ``rawValue`` gives them.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// ``ReaderBench/presentUnreadable()`` works.
    public static let unreadable = BenchAbilities(rawValue: 1 << 0)
    /// ``ReaderBench/unplug()`` works.
    public static let unplug = BenchAbilities(rawValue: 1 << 1)
}

/// What a reader did that it must not do.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
    /// What was expected, and what came.
    public let description: String
}

/// Fails the check unless the condition holds.
func require(_ condition: Bool, _ expectation: @autoclosure () -> String) throws {
    guard condition else { throw ConformanceFailure(description: expectation()) }
}

/// Fails the check unless both are equal.
func requireEqual<Value: Equatable>(_ found: Value, _ expected: Value, _ what: String) throws {
    try require(found == expected, "\(what): expected \(expected), found \(found)")
}

/// Fails the check unless `body` throws this error.
func requireError(
    _ code: ReaderError.Code,
    _ what: String,
    _ body: () async throws -> Void
) async throws {
    do {
        try await body()
    } catch let error as ReaderError {
        return try requireEqual(error.code, code, what)
    }
    throw ConformanceFailure(description: "\(what): expected the error \(code), but it succeeded")
}

/// Fails the check when `body` takes longer, instead of waiting for ever; even for what cannot be cancelled.
func withDeadline<Value: Sendable>(
    _ what: String,
    _ limit: Duration = .seconds(120),
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let (ends, end) = AsyncStream.makeStream(of: Bool.self)
    let work = Task {
        defer { end.yield(true) }
        return try await body()
    }
    let timer = Task {
        try await Task.sleep(for: limit)
        end.yield(false)
    }
    defer { timer.cancel() }
    // `nil` when this task was cancelled.
    let isInTime = await ends.first { _ in true }
    if isInTime == true { return try await work.value }
    work.cancel()
    guard isInTime == false else { throw CancellationError() }
    throw ConformanceFailure(description: "\(what): nothing happened for \(limit)")
}
