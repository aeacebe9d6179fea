// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Logging
internal import Synchronization

/// Writes the log as one JSON object a line.
public struct JSONLines: LogHandler {
    /// Where lines go.
    public typealias Sink = @Sendable (Data) -> Void

    /// What goes with each line.
    public var metadata: Logger.Metadata = [:]
    /// From which level on lines are written.
    public var logLevel: Logger.Level
    /// What else goes with each line.
    public var metadataProvider: Logger.MetadataProvider?
    private let sink: Sink

    /// Writes lines.
    ///
    /// - Parameters:
    ///   - level: From which level on.
    ///   - sink: Standard error, unless a test looks at the lines.
    public init(level: Logger.Level = .info, sink: @escaping Sink = Self.standardError) {
        logLevel = level
        self.sink = sink
    }

    /// Writes each line at once, so that lines of two threads do not mix.
    public static let standardError: Sink = { line in
        line.withUnsafeBytes { bytes in
            // A log that nobody can take is no reason to stop.
            _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count)
        }
    }

    /// What goes with each line, by name.
    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes a line.
    public func log(event: LogEvent) {
        guard event.level >= logLevel else { return }
        var members: [String: String] = [:]
        for (name, value) in metadata { members[name] = "\(value)" }
        for (name, value) in metadataProvider?.get() ?? [:] { members[name] = "\(value)" }
        for (name, value) in event.metadata ?? [:] { members[name] = "\(value)" }
        members["time"] = Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        members["level"] = event.level.rawValue
        members["message"] = "\(event.message)"
        // Texts are always JSON.
        guard var line = try? JSON.encoder.encode(members) else { return }
        line.append(UInt8(ascii: "\n"))
        sink(line)
    }
}
