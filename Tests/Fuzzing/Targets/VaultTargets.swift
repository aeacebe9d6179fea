// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import WhorlSecretMemory
import WhorlTPM

@testable import WhorlVault
import WhorlService

extension FuzzTarget {
    static let vaultTargets: [FuzzTarget] = [
        FuzzTarget(name: "access-control", longestInput: 220, check: accessControl),
        FuzzTarget(name: "item-name", longestInput: 300, check: itemName),
        FuzzTarget(name: "item-forms", longestInput: 2048, check: itemForms),
        FuzzTarget(name: "tpm-object", longestInput: 1024, check: tpmObject),
        FuzzTarget(name: "sealed-item", longestInput: 2048, check: sealedItem),
        FuzzTarget(name: "vault-file", longestInput: 1024, check: vaultFile),
        FuzzTarget(name: "tpm-address", longestInput: 520, check: tpmAddress),
    ]

    /// What is read reads back, from its own text and from its own bytes, as the same.
    private static func accessControl(_ input: [UInt8]) throws(BrokenPromise) {
        guard let access = try? AccessControl(String(decoding: input, as: UTF8.self)) else { return }
        try promise((try? AccessControl(access.text)) == access, "\(access.text) is another access control")
        try promise(AccessControl(encoded: access.encoded) == access, "\(access.text) has other bytes")
    }

    /// A name acts on no terminal, holds no path, and is its own name.
    private static func itemName(_ input: [UInt8]) throws(BrokenPromise) {
        guard let name = try? ItemName(String(decoding: input, as: UTF8.self)) else { return }
        try promise(
            name.text.unicodeScalars.allSatisfy { isHarmless($0) && $0 != "/" }
                && name.text.utf8.count <= ItemName.longest,
            "\(name.text.debugDescription) is a name"
        )
        let again = try? ItemName(name.text)
        try promise(
            again.map { Array($0.text.utf8) == Array(name.text.utf8) } ?? false,
            "\(name.text.debugDescription) is another name"
        )
    }

    /// Only canonical bytes are read: one value, one encoding.
    private static func itemForms(_ input: [UInt8]) throws(BrokenPromise) {
        let bytes = Data(input.dropFirst())
        switch (input.first ?? 0) % 3 {
        case 0:
            try promise(
                AccessControl(encoded: bytes).map { $0.encoded == bytes } ?? true,
                "an access control"
            )
        case 1: try promise(ItemBinding(encoded: bytes).map { $0.encoded == bytes } ?? true, "a binding")
        default:
            try promise(
                PasscodeDerivation(encoded: bytes).map { $0.encoded == bytes } ?? true,
                "a derivation"
            )
        }
    }

    /// The same for what the TPM keeps outside of itself.
    private static func tpmObject(_ input: [UInt8]) throws(BrokenPromise) {
        if let object = try? TPMObject(serialized: input) {
            try promise(object.serialized == input, "an object is written as other bytes")
        }
        if let counter = try? NVCounter(serialized: input) {
            try promise(counter.serialized == input, "a counter is written as other bytes")
        }
    }

    /// The same for what lies with a keeper; what is read says what the bytes say.
    private static func sealedItem(_ input: [UInt8]) throws(BrokenPromise) {
        let bytes = Data(input)
        guard let item = try? SealedItem(encoded: bytes) else { return }
        guard let parts = DetachedItem(encoded: bytes) else {
            throw BrokenPromise("it is read in one way only")
        }
        try promise(
            parts.encoded == bytes && item.encoded == bytes,
            "a sealed item is written as other bytes"
        )
        try promise(item.access == parts.access && item.profile == parts.profile, "it says something else")
        try promise(
            (item.kind == .key) == (item.publicKey?.count == 65) && !(item.kind == .key && parts.body != nil),
            "a key without a public half, or with a body"
        )
    }

    /// The same for a whole file of the vault; the input is the file without its checksum.
    private static func vaultFile(_ input: [UInt8]) throws(BrokenPromise) {
        let contents = input + SHA256.hash(data: input)
        for kind in [VaultFile.Kind.authority, .stateKey] {
            let secret = SecretBytes(count: contents.count) { $0.copyBytes(from: contents) }
            guard let file = VaultFile(secret, as: kind) else { continue }
            let written = file.encoded(as: kind).withUnsafeBytes { Array($0) }
            try promise(written == contents, "a file of \(kind) is written as other bytes")
        }
    }

    /// An address that is taken for hardware leads to a device file or to the resource manager's service.
    private static func tpmAddress(_ input: [UInt8]) throws(BrokenPromise) {
        let text = String(decoding: input, as: UTF8.self)
        guard let address = try? TPMAddress(text) else { return }
        try promise(address.text == text, "\(text.debugDescription) became \(address.text.debugDescription)")
        guard !address.isNone, !address.isSimulated else { return }
        let behind = text.hasPrefix("pcap:") ? text.dropFirst("pcap:".count) : text[...]
        try promise(
            behind.hasPrefix("device:/") || behind.hasPrefix("tabrmd:"),
            "\(text.debugDescription) is taken for hardware"
        )
    }
}
