// SPDX-License-Identifier: Apache-2.0

internal import WhorlSecretMemory

/// A secret in memory that is locked, excluded from core files, and wiped when its last copy is released.
///
/// It has 1 byte to 1 MiB. Descriptions and debuggers' views do not contain it.
public struct Secret: Sendable, CustomStringConvertible, CustomReflectable {
    let box: SecretBox

    init(_ box: SecretBox) { self.box = box }

    /// Copies bytes; the caller wipes its own copy.
    public init(_ bytes: some Collection<UInt8>) {
        let all = Array(bytes)
        box = SecretBox(SecretBytes(count: all.count) { $0.copyBytes(from: all) })
    }

    /// Copies a text as UTF-8; the text itself stays in ordinary memory until it is released.
    public init(_ text: String) { self.init(text.utf8) }

    /// The number of bytes.
    public var count: Int { box.bytes.count }

    /// Passes the bytes to a function, which must not keep them.
    public func withUnsafeBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value { try box.bytes.withUnsafeBytes(body) }

    /// Returns a copy as text, in ordinary memory that is not wiped; `nil` if the bytes are not valid UTF-8.
    public func text() -> String? {
        withUnsafeBytes { String(validating: $0, as: UTF8.self) }
    }

    /// The number of bytes, and nothing of the secret.
    public var description: String { "secret of \(count) bytes" }

    /// Empty.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
