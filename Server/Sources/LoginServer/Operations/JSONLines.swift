// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Logging
internal import Synchronization

/// A log handler that writes one JSON object per line.
public struct JSONLines: LogHandler {
    /// A function that receives the lines.
    public typealias Sink = @Sendable (Data) -> Void

    /// The metadata of each line.
    public var metadata: Logger.Metadata = [:]
    /// The minimum level of written lines.
    public var logLevel: Logger.Level
    /// The provider of additional metadata for each line.
    public var metadataProvider: Logger.MetadataProvider?
    private let sink: Sink

    /// Creates a log handler.
    ///
    /// - Parameters:
    ///   - level: The minimum level of written lines.
    ///   - sink: The function that receives the lines: standard error, except in tests.
    public init(level: Logger.Level = .info, sink: @escaping Sink = Self.standardError) {
        logLevel = level
        self.sink = sink
    }

    /// Writes the lines in order, on a separate thread; if more than 8,192 are waiting, further ones are dropped.
    public static let standardError: Sink = { LogWriter.standardError.append($0) }

    /// Waits at the end of the process until the lines are written, at most for a second.
    public static func flush() { LogWriter.standardError.flush(within: 1) }

    /// The metadata of each line, by name.
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
        // Strings can always be encoded as JSON.
        guard var line = try? JSON.encoder.encode(members) else { return }
        line.append(UInt8(ascii: "\n"))
        sink(line)
    }
}
