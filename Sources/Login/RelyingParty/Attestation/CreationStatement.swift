// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import WhorlSupport

/// A TPM's statement that it has made an object, TPMS_ATTEST of TPM2_CertifyCreation.
///
/// Source: TPM 2.0 Library Part 2, 10.12.12.
struct CreationStatement: Sendable, Hashable {
    private static let magic: UInt32 = 0xff54_4347
    private static let creation: UInt16 = 0x801a

    /// The bytes that the caller gave the TPM to repeat.
    let extraData: Data
    /// The name of the object.
    let name: Data

    /// Reads a statement; `nil` for any other kind, and for bytes that no TPM signs.
    init?(_ statement: Data) {
        var bytes = ByteReader(statement)
        guard bytes.number(UInt32.self) == Self.magic, bytes.number(UInt16.self) == Self.creation,
            // The signer's name among its ancestors; clock, resets and restarts; the firmware's version.
            bytes.sized(by: UInt16.self) != nil, let extraData = bytes.sized(by: UInt16.self),
            bytes.take(17) != nil, bytes.take(8) != nil, let name = bytes.sized(by: UInt16.self),
            bytes.sized(by: UInt16.self)?.count == 32, bytes.isAtEnd
        else { return nil }
        self.extraData = Data(extraData)
        self.name = Data(name)
    }
}
