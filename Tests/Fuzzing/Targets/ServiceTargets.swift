// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlCallers

@testable import WhorlIPC

extension FuzzTarget {
    static let serviceTargets: [FuzzTarget] = [
        FuzzTarget(name: "service-json", longestInput: 1024, check: json),
        FuzzTarget(name: "service-configuration", longestInput: 1024, check: configuration),
        FuzzTarget(name: "service-stream", longestInput: 1024, check: stream),
    ]

    /// A message that the check lets through is an object to every reader, and its members are read without a trap.
    private static func json(_ input: [UInt8]) throws(BrokenPromise) {
        guard (try? JSONCheck.object(input)) != nil else { return }
        // A number that no Double holds is valid JSON, and a decoder may refuse it.
        if let object = try? JSONSerialization.jsonObject(with: Data(input)) {
            try promise(object is [String: Any], "what passes is no object")
        }
        _ = try? Wire.decode(CallHead.self, input)
        _ = try? Wire.decode(ReplyHead.self, input)
        if let words = try? Wire.decode(CallParameters<[String: String]>.self, input).parameters {
            guard let written = try? Wire.encode(ReplyMessage(parameters: words)) else {
                throw BrokenPromise("texts that were read cannot be written")
            }
            let again = try? Wire.decode(CallParameters<[String: String]>.self, written).parameters
            try promise((try? JSONCheck.object(written)) != nil, "what is written does not pass")
            try promise(again == words, "texts change on their way")
        }
    }

    /// A file is refused with its name, or gives values that are within their bounds, and the same ones each time.
    private static func configuration(_ input: [UInt8]) throws(BrokenPromise) {
        let read: ReadConfiguration
        do throws(ConfigurationFault) {
            read = try ServiceConfiguration.parse(input, "whorld.conf")
        } catch {
            let isNamed = error.description.hasPrefix("whorld.conf: ")
            return try promise(isNamed && error.description.utf8.count < 2000, "\(error) is no reason")
        }
        let configuration = read.configuration
        try promise((0...86_400).contains(configuration.idleSeconds), "\(configuration.idleSeconds) s idle")
        try promise((10...86_400).contains(configuration.longestSeconds), "\(configuration.longestSeconds) s")
        try promise(!(configuration.reader ?? "real").hasPrefix("mock"), "a mock is taken")
        for warning in read.warnings {
            try promise(
                !warning.unicodeScalars.contains { $0.value < 0x20 },
                "a warning has control characters"
            )
        }
        try promise(
            (try? ServiceConfiguration.parse(input, "whorld.conf")) == read,
            "it reads differently again"
        )
    }

    /// The messages of a stream do not depend on how many bytes each read gives.
    ///
    /// The first byte is the size of the reads.
    private static func stream(_ input: [UInt8]) throws(BrokenPromise) {
        let size = max(1, Int(input.first ?? 1))
        let bytes = input.dropFirst()
        let whole = messages(bytes, readingBy: max(1, bytes.count))
        try promise(messages(bytes, readingBy: size) == whole, "reads of \(size) bytes give other messages")
        guard let whole else { return }
        let parts = bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast().map { [UInt8]($0) }
        try promise(whole == parts, "messages are not what stands between zeros")
    }

    /// `nil` for a stream that is refused.
    private static func messages(_ bytes: ArraySlice<UInt8>, readingBy size: Int) -> [[UInt8]]? {
        var reader = FrameReader()
        var found: [[UInt8]] = []
        var rest = bytes
        while !rest.isEmpty {
            guard let part = try? reader.take(rest.prefix(size)) else { return nil }
            found += part.map(\.bytes)
            rest = rest.dropFirst(size)
        }
        return found
    }
}
