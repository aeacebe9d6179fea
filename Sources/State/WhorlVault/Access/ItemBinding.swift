// SPDX-License-Identifier: Apache-2.0

import Foundation
import StateStore
import WhorlTPM
import WhorlSupport

/// The objects that an item's policy names in addition to the authority: fixed when the item is made, stored with it,
/// and covered by its MAC.
struct ItemBinding: Sendable, Hashable {
    /// The counter of the profile's fingers, and its required value; for a current-set way.
    var generation: Generation?
    /// The name of the passcode's object, 34 bytes; for a way with the passcode.
    var passcode: TPMName?
    /// The digest of the boot measurements, 32 bytes; for an item that is bound to boot.
    var boot: Data?
    /// The salt and cost for an application password.
    var applicationPassword: PasscodeDerivation?

    /// A counter and one of its values.
    struct Generation: Sendable, Hashable {
        let counter: NVCounter
        let value: UInt64
    }

    /// The encoded form: the version, then each part after its size; a missing part has size 0.
    var encoded: Data {
        var bytes = ByteWriter(CollectionOfOne(1))
        var counted = ByteWriter()
        if let generation {
            counted.append(generation.value)
            counted.append(raw: generation.counter.serialized)
        }
        bytes.append(sized: counted.data)
        bytes.append(sized: Data(passcode?.bytes ?? []))
        bytes.append(sized: boot ?? Data())
        bytes.append(sized: applicationPassword?.encoded ?? Data())
        return bytes.data
    }

    init() {}

    /// Reads the encoded form; `nil` for anything that ``encoded`` does not give.
    init?(encoded: Data) {
        // A counter's serialized form is the largest part.
        guard encoded.count <= 2048 else { return nil }
        var bytes = ByteReader(encoded)
        guard bytes.number(UInt8.self) == 1, let counted = bytes.sized(), let passcode = bytes.sized(),
            let boot = bytes.sized(), let password = bytes.sized(), bytes.isAtEnd
        else { return nil }
        if !counted.isEmpty {
            guard let generation = Generation(encoded: counted) else { return nil }
            self.generation = generation
        }
        if !passcode.isEmpty {
            guard passcode.count == 34 else { return nil }
            self.passcode = TPMName(bytes: [UInt8](passcode))
        }
        if !boot.isEmpty {
            guard boot.count == 32 else { return nil }
            self.boot = boot
        }
        if !password.isEmpty {
            guard let derivation = PasscodeDerivation(encoded: password) else { return nil }
            self.applicationPassword = derivation
        }
    }
}

extension ItemBinding.Generation {
    fileprivate init?(encoded: Data) {
        var bytes = ByteReader(encoded)
        guard let value = bytes.number(UInt64.self), let rest = bytes.take(encoded.count - 8),
            let counter = try? NVCounter(serialized: [UInt8](rest))
        else { return nil }
        self.init(counter: counter, value: value)
    }
}
