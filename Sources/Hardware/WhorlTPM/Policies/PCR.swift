// SPDX-License-Identifier: Apache-2.0

internal import CWhorlTSS2
internal import Crypto

/// A selection of measured-boot registers (PCRs) in the SHA-256 bank.
package struct PCRSelection: Sendable, Hashable {
    /// The registers, 0 to 23.
    package let indices: Set<Int>

    /// Selects registers.
    ///
    /// - Throws: ``TPMError/Code-swift.enum/unsupported`` if the set is empty or contains a register that PCs do not
    ///   have.
    package init(_ indices: Set<Int>) throws(TPMError) {
        guard !indices.isEmpty, indices.allSatisfy({ 0...23 ~= $0 }) else {
            throw TPMError(.unsupported, cause: "PCRs are numbered 0 to 23")
        }
        self.indices = indices
    }

    /// The selection as three bytes, in which bit `i % 8` of byte `i / 8` stands for register `i`.
    private var map: [UInt8] {
        (0..<3).map { byte in
            (0..<8).reduce(0) { indices.contains(byte * 8 + $1) ? $0 | 1 << UInt8($1) : $0 }
        }
    }

    /// The marshalled TPML_PCR_SELECTION, which selects registers in the SHA-256 bank only, with three bytes.
    var bytes: [UInt8] { UInt32(1).bigEndianBytes + [0x00, 0x0b, 3] + map }

    var structure: TPML_PCR_SELECTION {
        var list = TPML_PCR_SELECTION()
        list.count = 1
        list.pcrSelections.0.hash = TPM2_ALG_SHA256
        list.pcrSelections.0.sizeofSelect = 3
        let map = map
        list.pcrSelections.0.pcrSelect = (map[0], map[1], map[2], 0)
        return list
    }
}

/// The values of registers.
package struct PCRValues: Sendable, Hashable {
    /// The registers' values by number, 32 bytes each.
    package let values: [Int: [UInt8]]

    /// The SHA-256 digest of the values in order of the registers' numbers, as used by ``TPMPolicy/pcrs(_:digest:)``.
    package var digest: [UInt8] {
        Array(SHA256.hash(data: values.sorted { $0.key < $1.key }.flatMap(\.value)))
    }
}

extension TPMCommands {
    /// Reads registers, with one command for every eight of them.
    ///
    /// - Throws: ``TPMError/Code-swift.enum/unsupported`` if the TPM has no SHA-256 bank with these registers.
    ///
    /// Source: TPM 2.0 Library Part 3, TPM2_PCR_Read.
    package func readPCRs(_ selection: PCRSelection) throws(TPMError) -> PCRValues {
        var values: [Int: [UInt8]] = [:]
        var missing = selection.indices.sorted()[...]
        while !missing.isEmpty {
            let asked = Array(missing.prefix(8))
            let digests = try connection.readPCRs(PCRSelection(Set(asked)))
            guard digests.count == asked.count else {
                throw TPMError(
                    .unsupported,
                    command: "TPM2_PCR_Read",
                    cause: "no SHA-256 bank with these PCRs"
                )
            }
            for (index, digest) in zip(asked, digests) { values[index] = digest }
            missing = missing.dropFirst(asked.count)
        }
        return PCRValues(values: values)
    }
}

extension Connection {
    fileprivate func readPCRs(_ selection: PCRSelection) throws(TPMError) -> [[UInt8]] {
        var wanted = selection.structure
        var digests: UnsafeMutablePointer<TPML_DIGEST>?
        try call("TPM2_PCR_Read") {
            Esys_PCR_Read($0, Fixed.none, Fixed.none, Fixed.none, &wanted, nil, nil, &digests)
        }
        return try CMemory.take(digests, of: "TPM2_PCR_Read") { list in
            withUnsafeBytes(of: list.pointee.digests) { bytes in
                bytes.bindMemory(to: TPM2B_DIGEST.self).prefix(Int(list.pointee.count)).map(\.bytes)
            }
        }
    }
}
