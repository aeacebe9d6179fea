// SPDX-License-Identifier: Apache-2.0

/// What a key does: which mathematics, on what, in which form; the raw values are Apple's.
///
/// Whether a key can do it here is told by ``SecKeyIsAlgorithmSupported(_:_:_:)``.
public struct SecKeyAlgorithm: RawRepresentable, Hashable, Sendable {
    let name: String

    /// Apple's name of the algorithm.
    public var rawValue: CFString { name as NSString }

    /// Takes a name, known or not.
    public init(rawValue: CFString) { name = String(describing: rawValue) }

    init(_ name: String) { self.name = name }
}

/// What is done with a key; the raw values are Apple's.
public enum SecKeyOperationType: CFIndex, Hashable, Sendable {
    /// A private key signs.
    case sign = 0
    /// A public key tells whether a signature is right.
    case verify = 1
    /// A public key encrypts.
    case encrypt = 2
    /// A private key decrypts.
    case decrypt = 3
    /// A private key and another's public key give a secret that both can have.
    case keyExchange = 4
}

/// What ``SecKeyCopyKeyExchangeResult(_:_:_:_:_:)`` takes besides the keys.
public struct SecKeyKeyExchangeParameter: RawRepresentable, Hashable, Sendable {
    let name: String

    /// The parameter's key in the dictionary.
    public var rawValue: CFString { name as NSString }

    /// Takes a name, known or not.
    public init(rawValue: CFString) { name = String(describing: rawValue) }

    /// How many bytes to derive.
    public static let requestedSize = SecKeyKeyExchangeParameter(rawValue: "requestedSize")
    /// What the derivation takes in besides the secret.
    public static let sharedInfo = SecKeyKeyExchangeParameter(rawValue: "sharedInfo")
}
