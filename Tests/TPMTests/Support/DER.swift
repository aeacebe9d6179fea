// SPDX-License-Identifier: Apache-2.0

import WhorlTPM

/// A P-256 public key as openssl takes it: SubjectPublicKeyInfo in DER.
func subjectPublicKeyInfo(_ point: ECPoint) -> [UInt8] {
    [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86,
        0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    ] + point.x + point.y
}

/// An ECDSA signature in DER.
func derSignature(_ signature: ECDSASignature) -> [UInt8] {
    let numbers = derInteger(signature.r) + derInteger(signature.s)
    return [0x30, UInt8(numbers.count)] + numbers
}

private func derInteger(_ number: [UInt8]) -> [UInt8] {
    let digits = Array(number.drop { $0 == 0 })
    let positive = (digits.first ?? 0) < 0x80 ? digits : [0] + digits
    return [0x02, UInt8(positive.count)] + positive
}
