// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The judge of endorsement certificates: it knows the makers of TPMs that the operator trusts.
///
/// The relying party has no X.509 of its own; the login server brings one.
public protocol EndorsementAuthority: Sendable {
    /// Returns the key of a certificate that an authority of the operator's has signed, and that is valid now.
    ///
    /// - Parameter certificate: X.509 in DER, at most 4 KiB, from outside.
    /// - Returns: The key; `nil` for any other certificate.
    func endorsedKey(in certificate: Data) async -> EndorsementKey?
}

/// The authority of a server that trusts no maker.
public struct NoEndorsements: EndorsementAuthority {
    /// Makes it.
    public init() {}

    /// Returns `nil`.
    public func endorsedKey(in _: Data) async -> EndorsementKey? { nil }
}
