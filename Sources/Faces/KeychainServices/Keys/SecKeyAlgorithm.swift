// SPDX-License-Identifier: Apache-2.0

/// An algorithm of a key: the cryptographic scheme, its input and its encoding; the raw values are Apple's.
///
/// ``SecKeyIsAlgorithmSupported(_:_:_:)`` returns whether a key supports an algorithm here.
public struct SecKeyAlgorithm: RawRepresentable, Hashable, Sendable {
    let name: String

    /// Apple's name of the algorithm.
    public var rawValue: CFString { name as NSString }

    /// Makes a value from a name, known or not.
    public init(rawValue: CFString) { name = String(describing: rawValue) }

    init(_ name: String) { self.name = name }
}

/// An operation with a key; the raw values are Apple's.
public enum SecKeyOperationType: CFIndex, Hashable, Sendable {
    /// Signing with a private key.
    case sign = 0
    /// Verifying a signature with a public key.
    case verify = 1
    /// Encrypting with a public key.
    case encrypt = 2
    /// Decrypting with a private key.
    case decrypt = 3
    /// Computing the shared secret of a private key and another party's public key.
    case keyExchange = 4
}

/// A parameter of ``SecKeyCopyKeyExchangeResult(_:_:_:_:_:)``.
public struct SecKeyKeyExchangeParameter: RawRepresentable, Hashable, Sendable {
    let name: String

    /// The parameter's key in the dictionary.
    public var rawValue: CFString { name as NSString }

    /// Makes a value from a name, known or not.
    public init(rawValue: CFString) { name = String(describing: rawValue) }

    /// The number of bytes to derive.
    public static let requestedSize = SecKeyKeyExchangeParameter(rawValue: "requestedSize")
    /// The shared info: additional input of the key derivation.
    public static let sharedInfo = SecKeyKeyExchangeParameter(rawValue: "sharedInfo")
}
