// SPDX-License-Identifier: Apache-2.0

internal import WhorlSecretMemory

extension SecKey {
    /// Returns the X coordinate of the product of this private key and a public key.
    func sharedSecret(with other: ECPublicKey) throws(NSError) -> SecretBox {
        switch material {
        case .privateEC(let key): try key.sharedSecret(with: other)
        case .enclave(let item, _): try chipSharedSecret(with: other, of: item)
        case .publicEC, .publicRSA, .privateRSA: throw .status(errSecParam, "\(self) cannot exchange keys")
        }
    }

    /// Returns the result of a key exchange: the X coordinate, or a key derived from it.
    ///
    /// - Throws: The error that ``SecKeyCopyKeyExchangeResult(_:_:_:_:_:)`` reports.
    package func exchange(
        _ algorithm: SecKeyAlgorithm,
        with other: SecKey,
        _ parameters: ExchangeParameters
    ) throws(NSError) -> Data {
        guard case .keyExchange(let hash) = try supported(algorithm, .keyExchange) else {
            throw .unsupported(algorithm, self)
        }
        guard case .publicEC(let point) = other.material.publicMaterial,
            point.x963.count == material.publicBytes.count
        else { throw .status(errSecParam, "the public key is on a different curve") }
        guard let hash else {
            return try sharedSecret(with: point).bytes.withUnsafeBytes { Data($0) }
        }
        guard let count = parameters.requestedSize, (1...ExchangeParameters.largest).contains(count) else {
            throw .status(errSecParam, "the requested size is missing or not valid")
        }
        let secret = try sharedSecret(with: point)
        return hash.derive(from: secret.bytes, sharedInfo: parameters.sharedInfo, count: count)
            .withUnsafeBytes { Data($0) }
    }
}

/// The parameters of a key exchange.
package struct ExchangeParameters: Sendable {
    /// The maximum number of bytes to derive.
    ///
    /// This exceeds the needs of any cipher, and prevents a wrong number from exhausting memory.
    static let largest = 1 << 20

    let requestedSize: Int?
    let sharedInfo: Data

    init(_ dictionary: CFDictionary) throws(NSError) {
        let parameters = KeyParameters(dictionary)
        requestedSize = try parameters.number(SecKeyKeyExchangeParameter.requestedSize.name)
        sharedInfo = try parameters.data(SecKeyKeyExchangeParameter.sharedInfo.name) ?? Data()
    }

    /// Parses a program's parameters, in which the keys are ``SecKeyKeyExchangeParameter`` values or their strings.
    ///
    /// - Throws: `errSecParam` for a value of the wrong type.
    package init(named parameters: [AnyHashable: Any]) throws(NSError) {
        let named = parameters.map { key, value in
            ((key.base as? SecKeyKeyExchangeParameter).map { AnyHashable($0.name) } ?? key, value)
        }
        try self.init(Dictionary(named) { first, _ in first } as NSDictionary)
    }
}

/// Performs a key exchange with a private key and another party's public key, and returns the shared secret.
///
/// Algorithms without a key derivation return the X coordinate. Algorithms with ANSI X9.63 return
/// `kSecKeyKeyExchangeParameterRequestedSize` bytes, 1 byte to 1 MiB, and use `kSecKeyKeyExchangeParameterSharedInfo`
/// as input. As on Apple's systems, the result is in ordinary memory.
///
/// - Parameters:
///   - privateKey: A private key. Using a key in the TPM may show a prompt, which blocks the caller.
///   - algorithm: An algorithm for which ``SecKeyIsAlgorithmSupported(_:_:_:)`` returns `true` for key exchange.
///   - publicKey: The other party's public key, on the same curve.
///   - parameters: The parameters of the algorithm, which may be empty.
///   - error: On failure, receives an error in `NSOSStatusErrorDomain`, or in `LAErrorDomain` if the owner was not
///     recognized.
/// - Returns: The shared secret, or `nil` if an error occurred.
@discardableResult
public func SecKeyCopyKeyExchangeResult(
    _ privateKey: SecKey,
    _ algorithm: SecKeyAlgorithm,
    _ publicKey: SecKey,
    _ parameters: CFDictionary,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    reporting(to: error) { () throws(NSError) in
        try privateKey.exchange(algorithm, with: publicKey, try ExchangeParameters(parameters))
    }.map { $0 as NSData }
}
