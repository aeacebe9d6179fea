// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Synchronization
internal import WhorlSecretMemory

/// The empty parameters of a call or reply: `{}`.
package struct NoParameters: Codable, Sendable, Hashable {
    package init() {}
}

/// An error returned by a service instead of a reply (Varlink: "error" and "parameters").
package struct ServiceRefusal: Error, Sendable, Hashable {
    /// The error's qualified name, such as `io.whorl.Failed`.
    package let name: String
    /// The entire message, which never contains a secret.
    ///
    /// It is parsed when its values are needed.
    let message: [UInt8]

    /// Creates an error with names and texts.
    package init(_ name: String, _ details: [String: String] = [:]) { self.init(name, failure: details) }

    /// Creates an error with two sentences that say what happened and what to do; `quota` is the name of the share that
    /// is used up.
    package init(_ name: String, quota: String? = nil, message: String, recovery: String) {
        var details = ["message": message, "recovery": recovery]
        details["quota"] = quota
        self.init(name, details)
    }

    /// Creates an error with the values of a failure.
    package init(_ name: String, failure: some Encodable) {
        // Our own failures can always be encoded; the name alone would be valid too.
        let message = try? Wire.encode(ErrorMessage(error: name, parameters: failure))
        self.init(name, message: message ?? Array(#"{"error":"\#(name)","parameters":{}}"#.utf8))
    }

    /// Creates an error from a received message.
    init(_ name: String, message: [UInt8]) {
        self.name = name
        self.message = message
    }

    /// Reads the values of a failure; `nil` if the error has no values of this type.
    package func failure<Failure: Decodable>(as type: Failure.Type) -> Failure? {
        // An error with other values is still an error: its name counts.
        try? Wire.decode(CallParameters<Failure>.self, message).parameters
    }

    /// The error's values as text, for display.
    package var details: [String: String] { failure(as: [String: String].self) ?? [:] }

    /// Returns the error for an interface that does not exist (`org.varlink.service.InterfaceNotFound`).
    package static func interfaceNotFound(_ interface: String) -> ServiceRefusal {
        ServiceRefusal("org.varlink.service.InterfaceNotFound", ["interface": interface])
    }

    /// Returns the error for a method that does not exist in the interface (`org.varlink.service.MethodNotFound`).
    package static func methodNotFound(_ method: String) -> ServiceRefusal {
        ServiceRefusal("org.varlink.service.MethodNotFound", ["method": method])
    }

    /// Returns the error for a parameter that is missing or has the wrong type
    /// (`org.varlink.service.InvalidParameter`).
    package static func invalidParameter(_ parameter: String) -> ServiceRefusal {
        ServiceRefusal("org.varlink.service.InvalidParameter", ["parameter": parameter])
    }
}

/// The part of a call that determines its handler.
struct CallHead: Codable {
    var method: String
    var more: Bool?
    var oneway: Bool?
}

/// A complete call, as it is sent.
struct CallMessage<Parameters: Encodable>: Encodable {
    var method: String
    var parameters: Parameters
    var more: Bool?
}

/// The parameters of a call or reply, which are parsed once its kind is known.
///
/// A message without parameters is parsed as `{}`.
struct CallParameters<Parameters: Decodable>: Decodable {
    let parameters: Parameters

    private enum Key: CodingKey { case parameters }

    init(from decoder: any Decoder) throws {
        let message = try decoder.container(keyedBy: Key.self)
        if message.contains(.parameters) {
            parameters = try message.decode(Parameters.self, forKey: .parameters)
        } else {
            parameters = try Parameters(from: EmptyObject.decoder())
        }
    }
}

/// The part of a reply that determines its kind.
struct ReplyHead: Codable {
    var continues: Bool?
    var error: String?
}

/// A complete reply, as it is sent.
struct ReplyMessage<Parameters: Encodable>: Encodable {
    var parameters: Parameters
    var continues: Bool?
}

/// A complete error, as it is sent.
private struct ErrorMessage<Parameters: Encodable>: Encodable {
    var error: String
    var parameters: Parameters
}

/// Provides a decoder for `{}`.
private struct EmptyObject: Decodable {
    let decoder: any Decoder

    init(from decoder: any Decoder) throws { self.decoder = decoder }

    static func decoder() throws -> any Decoder {
        try JSONDecoder().decode(EmptyObject.self, from: Data("{}".utf8)).decoder
    }
}

/// Converts between Swift values and JSON frames.
enum Wire {
    /// Encodes a message.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - files: The descriptors to send with the message; secrets are appended.
    /// - Returns: The JSON.
    /// - Throws: `SecretDescriptor.Fault` if a secret cannot be attached, or the encoder's error.
    static func encode(_ message: some Encodable, beside files: inout [Descriptor]) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        encoder.dateEncodingStrategy = .secondsSince1970
        let attached = AttachedFiles(files)
        if let key = AttachedFiles.key { encoder.userInfo[key] = attached }
        let bytes = [UInt8](try encoder.encode(message))
        files = attached.files
        return bytes
    }

    /// Encodes a message without descriptors.
    static func encode(_ message: some Encodable) throws -> [UInt8] {
        var files: [Descriptor] = []
        return try encode(message, beside: &files)
    }

    /// Decodes a message that has passed ``JSONCheck``; ignores unknown members.
    static func decode<Value: Decodable>(
        _ type: Value.Type,
        _ bytes: [UInt8],
        beside files: CallDescriptors? = nil
    ) throws -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        if let files, let key = AttachedFiles.key { decoder.userInfo[key] = files }
        return try decoder.decode(type, from: Data(bytes))
    }
}

/// The memory files for a message that is being encoded.
private final class AttachedFiles: SecretAttachments {
    private let kept: Mutex<[Descriptor]>

    init(_ files: [Descriptor]) { kept = Mutex(files) }

    var files: [Descriptor] { kept.withLock(\.self) }

    func attach(_ secret: SecretBox) throws -> Int {
        let file = try SecretDescriptor.make(secret.bytes)
        return kept.withLock { files in
            files.append(file)
            return files.count - 1
        }
    }

    func secret(at place: Int) throws -> SecretBytes { throw ServiceRefusal.invalidParameter("descriptor") }
}
