// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The endorsement key of a TPM, as its certificate and its public area have it.
public enum EndorsementKey: Sendable, Hashable {
    /// A key of P-256: its point, 4, x, y.
    case p256(point: Data)
    /// A key of RSA with 2,048 bits and the exponent 65,537: its modulus, 256 bytes.
    case rsa2048(modulus: Data)
}
