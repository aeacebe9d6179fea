// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint

/// What every implementation of ``FingerprintReader`` has to do, mock or not.
///
/// ```swift
/// @Test(arguments: ReaderConformance.checks)
/// func `the reader keeps its promises`(check: ConformanceCheck) async throws {
///     try await check.run(on: MyBench())
/// }
/// ```
public enum ReaderConformance {
    /// All checks: what a reader does when all goes well, then each operation with each fault.
    public static let checks: [ConformanceCheck] =
        lifecycle + enrolling + comparing + storing + sleeping + faults
}

/// One promise of a reader.
public struct ConformanceCheck: Sendable, CustomStringConvertible {
    /// The promise, as a sentence.
    public let name: String
    let needs: BenchAbilities
    let features: ReaderFeatures
    let needsEntry: Bool
    let opens: Bool
    let body: @Sendable (Session) async throws -> Void

    init(
        _ name: String,
        needs: BenchAbilities = [],
        features: ReaderFeatures = [],
        entry: Bool = false,
        opens: Bool = true,
        _ body: @escaping @Sendable (Session) async throws -> Void
    ) {
        self.name = name
        self.needs = needs
        self.features = features
        self.needsEntry = entry
        self.opens = opens
        self.body = body
    }

    /// The promise.
    public var description: String { name }

    /// Checks the promise on a bench of its own.
    ///
    /// - Returns: Why the check does not apply to this bench or reader; `nil` when the promise was kept.
    /// - Throws: ``ConformanceFailure``, or what the reader or the bench threw unexpectedly.
    @discardableResult
    public func run(on bench: any ReaderBench) async throws -> String? {
        guard bench.abilities.isSuperset(of: needs) else { return "the bench cannot do that" }
        let reader = try await bench.reader()
        do {
            if opens { try await reader.open() }
            let skipped = try await check(reader, bench)
            try await reader.close()
            try await bench.tearDown()
            return skipped
        } catch {
            // The check's own failure is the one to tell; tidying up after it may fail as well.
            try? await reader.close()
            try? await bench.tearDown()
            throw error
        }
    }

    private func check(_ reader: any FingerprintReader, _ bench: any ReaderBench) async throws -> String? {
        guard await reader.info.features.isSuperset(of: features) else { return "the reader cannot do that" }
        var entry: GalleryEntry?
        if needsEntry {
            let (result, _) = try await Session(reader: reader, bench: bench, entry: nil).run(.enroll)
            guard case .template(let template) = result else { return "no template" }
            entry = GalleryEntry(id: PrintID(), template: template)
        }
        try await body(Session(reader: reader, bench: bench, entry: entry))
        return nil
    }
}
