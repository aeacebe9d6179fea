// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Synchronization
internal import WhorlSecretMemory

/// A call's or reply's parameters when it has none: `{}`.
package struct NoParameters: Codable, Sendable, Hashable {
    package init() {}
}

/// An error that a service answers with instead of a reply (Varlink: "error" and "parameters").
package struct ServiceRefusal: Error, Sendable, Hashable {
    /// The error's qualified name, such as `io.whorl.Failed`.
    package let name: String
    /// The whole message, which is read when its values are asked for; never a secret.
    let message: [UInt8]

    /// Makes an error with names and texts.
    package init(_ name: String, _ details: [String: String] = [:]) { self.init(name, failure: details) }

    /// Makes an error with the sentences that say what happened and what to do; `quota` is the share that is used up.
    package init(_ name: String, quota: String? = nil, message: String, recovery: String) {
        var details = ["message": message, "recovery": recovery]
        details["quota"] = quota
        self.init(name, details)
    }

    /// Makes an error with the values of a failure.
    package init(_ name: String, failure: some Encodable) {
        // A failure of ours always encodes; the name alone would be valid too.
        let message = try? Wire.encode(ErrorMessage(error: name, parameters: failure))
        self.init(name, message: message ?? Array(#"{"error":"\#(name)","parameters":{}}"#.utf8))
    }

    /// Keeps an error that was received.
    init(_ name: String, message: [UInt8]) {
        self.name = name
        self.message = message
    }

    /// Reads the values of a failure; `nil` where the error brings none of this form.
    package func failure<Failure: Decodable>(as type: Failure.Type) -> Failure? {
        // An error of another form stays an error: its name counts.
        try? Wire.decode(CallParameters<Failure>.self, message).parameters
    }

    /// The values as texts, for the eye.
    package var details: [String: String] { failure(as: [String: String].self) ?? [:] }

    /// The interface does not exist (`org.varlink.service.InterfaceNotFound`).
    package static func interfaceNotFound(_ interface: String) -> ServiceRefusal {
        ServiceRefusal("org.varlink.service.InterfaceNotFound", ["interface": interface])
    }

    /// The interface has no such method (`org.varlink.service.MethodNotFound`).
    package static func methodNotFound(_ method: String) -> ServiceRefusal {
        ServiceRefusal("org.varlink.service.MethodNotFound", ["method": method])
    }

    /// A parameter is missing or has another type (`org.varlink.service.InvalidParameter`).
    package static func invalidParameter(_ parameter: String) -> ServiceRefusal {
        ServiceRefusal("org.varlink.service.InvalidParameter", ["parameter": parameter])
    }
}

/// The part of a call that decides who handles it.
struct CallHead: Codable {
    var method: String
    var more: Bool?
    var oneway: Bool?
}

/// A whole call, as it is sent.
struct CallMessage<Parameters: Encodable>: Encodable {
    var method: String
    var parameters: Parameters
    var more: Bool?
}

/// The parameters of a call or reply, read once its kind is known.
///
/// A message without parameters reads as `{}`.
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

/// The part of a reply that tells what it is.
struct ReplyHead: Codable {
    var continues: Bool?
    var error: String?
}

/// A whole reply, as it is sent.
struct ReplyMessage<Parameters: Encodable>: Encodable {
    var parameters: Parameters
    var continues: Bool?
}

/// A whole error, as it is sent.
private struct ErrorMessage<Parameters: Encodable>: Encodable {
    var error: String
    var parameters: Parameters
}

/// Gives the decoder of `{}`.
private struct EmptyObject: Decodable {
    let decoder: any Decoder

    init(from decoder: any Decoder) throws { self.decoder = decoder }

    static func decoder() throws -> any Decoder {
        try JSONDecoder().decode(EmptyObject.self, from: Data("{}".utf8)).decoder
    }
}

/// JSON between Swift values and frames.
enum Wire {
    /// Encodes a message.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - files: The descriptors beside it, to which its secrets are added.
    /// - Returns: The JSON.
    /// - Throws: `SecretDescriptor.Fault` where a secret cannot be attached, or the encoder's error.
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

    /// Encodes a message beside which nothing lies.
    static func encode(_ message: some Encodable) throws -> [UInt8] {
        var files: [Descriptor] = []
        return try encode(message, beside: &files)
    }

    /// Decodes a message that ``JSONCheck`` let through; unknown members are ignored.
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

/// The memory files beside a message that is being encoded.
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
