// SPDX-License-Identifier: Apache-2.0

internal import SecretMemory

extension SecKey {
    /// The X coordinate of this private key's product with a public one.
    func sharedSecret(with other: ECPublicKey) throws(KeyFailure) -> SecretBox {
        switch material {
        case .privateEC(let key): try key.sharedSecret(with: other)
        case .enclave(let item, _): try chipSharedSecret(with: other, of: item)
        case .publicEC, .publicRSA, .privateRSA: throw .status(errSecParam, "\(self) exchanges no keys")
        }
    }

    /// What a key exchange gives: the X coordinate, or what is derived from it.
    func exchange(
        _ algorithm: SecKeyAlgorithm,
        with other: SecKey,
        _ parameters: ExchangeParameters
    ) throws(KeyFailure) -> Data {
        guard let known = KeyAlgorithm(algorithm), case .keyExchange(let hash) = known,
            supports(.keyExchange, known)
        else { throw .unsupported(algorithm, self) }
        guard case .publicEC(let point) = other.material.publicMaterial,
            point.x963.count == material.publicBytes.count
        else { throw .status(errSecParam, "the public key lies on another curve") }
        guard let hash else {
            return try sharedSecret(with: point).bytes.withUnsafeBytes { Data($0) }
        }
        guard let count = parameters.requestedSize, (1...ExchangeParameters.largest).contains(count) else {
            throw .status(errSecParam, "the requested size is missing or makes no sense")
        }
        let secret = try sharedSecret(with: point)
        return hash.derive(from: secret.bytes, sharedInfo: parameters.sharedInfo, count: count)
            .withUnsafeBytes { Data($0) }
    }

    /// The same for another module of the package.
    ///
    /// - Throws: as ``SecKeyCopyKeyExchangeResult(_:_:_:_:_:)`` leaves it.
    package func exchanged(
        _ algorithm: SecKeyAlgorithm,
        with other: SecKey,
        _ parameters: ExchangeParameters
    ) throws(NSError) -> Data {
        try throwing { () throws(KeyFailure) in try exchange(algorithm, with: other, parameters) }
    }
}

/// What a program gives to a key exchange besides the keys.
package struct ExchangeParameters: Sendable {
    /// More than any cipher takes; a bound, so that a wrong number is an error and not the end of the memory.
    static let largest = 1 << 20

    let requestedSize: Int?
    let sharedInfo: Data

    init(_ dictionary: CFDictionary) throws(KeyFailure) {
        let parameters = KeyParameters(dictionary)
        requestedSize = try parameters.number(SecKeyKeyExchangeParameter.requestedSize.name)
        sharedInfo = try parameters.data(SecKeyKeyExchangeParameter.sharedInfo.name) ?? Data()
    }

    /// Takes a program's, whose keys are those of ``SecKeyKeyExchangeParameter`` or their texts.
    ///
    /// - Throws: `errSecParam` for a value of the wrong type.
    package init(named parameters: [AnyHashable: Any]) throws(NSError) {
        let named = parameters.map { key, value in
            ((key.base as? SecKeyKeyExchangeParameter).map { AnyHashable($0.name) } ?? key, value)
        }
        let dictionary = Dictionary(named) { first, _ in first } as NSDictionary
        self = try throwing { () throws(KeyFailure) in try ExchangeParameters(dictionary) }
    }
}

/// Gives the secret that a private key and another's public key have in common.
///
/// The standard and the cofactor algorithms without a derivation give the X coordinate; those of ANSI X9.63 give as many
/// bytes as `kSecKeyKeyExchangeParameterRequestedSize` asks for, 1 byte to 1 MiB, and take
/// `kSecKeyKeyExchangeParameterSharedInfo` in. The result is ordinary memory, as with Apple.
///
/// - Parameters:
///   - privateKey: A private key; one in the chip multiplies there, which may prompt and blocks the caller.
///   - algorithm: One that ``SecKeyIsAlgorithmSupported(_:_:_:)`` names for the key exchange.
///   - publicKey: The other's, on the same curve.
///   - parameters: What the algorithm takes besides; may be empty.
///   - error: Where to leave an error: of `NSOSStatusErrorDomain`, or of `LAErrorDomain` when the owner was not recognised.
/// - Returns: The secret; `nil` with an error.
@discardableResult
public func SecKeyCopyKeyExchangeResult(
    _ privateKey: SecKey,
    _ algorithm: SecKeyAlgorithm,
    _ publicKey: SecKey,
    _ parameters: CFDictionary,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    reporting(to: error) { () throws(KeyFailure) in
        try privateKey.exchange(algorithm, with: publicKey, try ExchangeParameters(parameters))
    }.map { $0 as NSData }
}
