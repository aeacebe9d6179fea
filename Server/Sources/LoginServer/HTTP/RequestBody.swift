// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Hummingbird
internal import LoginAssertion
internal import NIOCore
internal import NIOHTTP1

/// The members of a request: one JSON object with string values.
///
/// Every member must be read before ``end()``. Unknown members are refused, so that a misspelled `password` is not
/// treated as a missing one. Duplicate members are refused, because another program may read the other one.
struct RequestMembers {
    /// The maximum size of a body in bytes.
    static let largestBody = 16 * 1024

    private var members: [String: String]

    init(json bytes: some Collection<UInt8>) throws(Problem) {
        // Otherwise JSONDecoder interprets bytes with zeros as UTF-16 or UTF-32.
        guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
            throw Problem(.malformed, "The body is not UTF-8.")
        }
        do {
            members = try JSONDecoder().decode([String: String].self, from: Data(text.utf8))
        } catch {
            throw Problem(.malformed, "The body must be one JSON object with string values.")
        }
        guard Self.textCount(text) == 2 * members.count else {
            throw Problem(.malformed, "A member appears twice.")
        }
    }

    /// Returns the number of strings in parsed JSON: two quotation marks each, unless they are escaped.
    private static func textCount(_ json: String) -> Int {
        var marks = 0
        var isEscaped = false
        for byte in json.utf8 {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                marks += 1
            }
        }
        return marks / 2
    }

    /// Reads a member; returns `nil` if it is missing.
    mutating func optional(_ name: String) -> String? {
        members.removeValue(forKey: name)
    }

    /// Reads a required member.
    mutating func required(_ name: String) throws(Problem) -> String {
        guard let value = optional(name) else { throw Problem(.malformed, "The member \(name) is missing.") }
        return value
    }

    /// Reads a member that is the name of a user or a device.
    mutating func name(_ name: String) throws(Problem) -> LoginName {
        guard let value = LoginName(try required(name)) else {
            throw Problem(
                .malformed,
                "Invalid \(name): use 1 to \(LoginName.longest) bytes, without control characters, and without white space at either end."
            )
        }
        return value
    }

    /// Reads a member that contains bytes, in Base64url without padding.
    mutating func bytes(_ name: String) throws(Problem) -> Data {
        guard let value = Base64URL.decode(try required(name)) else {
            throw Problem(.malformed, "Invalid \(name): expected Base64url without padding.")
        }
        return value
    }

    /// Refuses members that were not read.
    func end() throws(Problem) {
        guard members.isEmpty else { throw Problem(.malformed, "Unknown member.") }
    }
}

extension Request {
    /// Reads the body.
    ///
    /// - Throws: ``Problem`` for another media type, a body that is too long, and a body that is not a JSON object; the
    ///   HTTP parser's error, to which Hummingbird responds.
    func members() async throws -> RequestMembers {
        let mediaType = headers[.contentType]?.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
            .lowercased()
        guard mediaType == "application/json" else {
            throw Problem(.unsupportedMediaType, "The body must be application/json.")
        }
        let tooLarge = Problem(.tooLarge, "The body is larger than \(RequestMembers.largestBody) bytes.")
        if let length = headers[.contentLength].flatMap({ Int($0) }), length > RequestMembers.largestBody {
            throw tooLarge
        }
        do {
            return try RequestMembers(
                json: try await body.collect(upTo: RequestMembers.largestBody).readableBytesView
            )
        } catch let error as Problem {
            throw error
        } catch let error as HTTPParserError {
            throw error
        } catch is NIOTooManyBytesError {
            throw tooLarge
        } catch {
            // The client has disconnected or was too slow, and does not read the response.
            throw Problem(.malformed, "The body is incomplete.")
        }
    }
}
