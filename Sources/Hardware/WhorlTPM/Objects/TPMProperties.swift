// SPDX-License-Identifier: Apache-2.0

internal import CWhorlTSS2

/// The types of handles that a TPM can list.
package enum HandleKind: Sendable, CaseIterable {
    /// Loaded objects.
    case transient
    /// Persistent objects.
    case persistent
    /// NV indices.
    case nvIndices
    /// Sessions in the TPM's memory.
    case loadedSessions
    /// Sessions whose context is saved outside the TPM.
    case savedSessions

    /// The first handle of the type, as passed to TPM2_GetCapability.
    var first: UInt32 {
        switch self {
        case .transient: 0x8000_0000
        case .persistent: 0x8100_0000
        case .nvIndices: 0x0100_0000
        case .loadedSessions: 0x0200_0000
        case .savedSessions: 0x0300_0000
        }
    }
}

/// The state of the TPM's counter of wrong authorization values, and its limits.
package struct DictionaryAttackState: Sendable, Hashable {
    /// The current number of counted wrong values.
    package let failures: Int
    /// The number at which the TPM locks out.
    package let limit: Int
    /// The number of seconds after which one failure is forgotten.
    ///
    /// 0 means never.
    package let recoverySeconds: Int
    /// The number of seconds for which the lockout hierarchy is blocked after a wrong value.
    ///
    /// 0 means until a restart.
    package let lockoutRecoverySeconds: Int
    /// Whether the TPM is locked out.
    package let inLockout: Bool

    /// The maximum time in seconds until another attempt is possible, or `nil` if the TPM is not locked out or does not
    /// recover on its own.
    package var secondsToNextTry: Int? { inLockout && recoverySeconds > 0 ? recoverySeconds : nil }
}

/// The identity and configuration of a TPM.
package struct TPMProperties: Sendable, Hashable {
    /// The manufacturer's four letters, such as `IFX`.
    package let manufacturer: String
    /// The vendor string.
    package let vendor: String
    /// The firmware version.
    package let firmware: String
    /// The revision of the specification, such as `1.59`.
    package let specRevision: String
    /// The minimum number of objects that can be loaded at the same time.
    package let objectSlots: Int
    /// The minimum number of sessions that can be loaded at the same time.
    package let sessionSlots: Int
    /// The number of free object slots.
    package let objectSlotsFree: Int
    /// The number of defined NV counters, if the TPM reports it.
    package let nvCounters: Int?
    /// The number of NV counters that can still be defined, if the TPM reports it.
    package let nvCountersFree: Int?
    /// Whether the owner hierarchy has an authorization value.
    package let ownerAuthSet: Bool
    /// Whether the endorsement hierarchy has an authorization value.
    package let endorsementAuthSet: Bool
    /// Whether the lockout hierarchy has an authorization value.
    ///
    /// Without one, any program can reset the failure count.
    package let lockoutAuthSet: Bool
    /// The counter of wrong authorization values.
    package let dictionaryAttack: DictionaryAttackState

    init(_ values: [UInt32: UInt32]) {
        func number(_ property: Property) -> UInt32 { values[property.rawValue] ?? 0 }
        manufacturer = words([number(.manufacturer)])
        vendor = words([number(.vendor1), number(.vendor2), number(.vendor3), number(.vendor4)])
        let (high, low) = (number(.firmware1), number(.firmware2))
        firmware = [high >> 16, high & 0xffff, low >> 16, low & 0xffff].map(String.init).joined(
            separator: "."
        )
        let revision = number(.revision)
        specRevision = "\(revision / 100)." + (revision % 100 < 10 ? "0" : "") + "\(revision % 100)"
        objectSlots = Int(number(.objectSlots))
        sessionSlots = Int(number(.sessionSlots))
        objectSlotsFree = Int(number(.objectSlotsFree))
        nvCounters = values[Property.nvCounters.rawValue].map(Int.init)
        nvCountersFree = values[Property.nvCountersFree.rawValue].map(Int.init)
        let permanent = number(.permanent)
        ownerAuthSet = permanent & 1 != 0
        endorsementAuthSet = permanent & 2 != 0
        lockoutAuthSet = permanent & 4 != 0
        dictionaryAttack = DictionaryAttackState(
            failures: Int(number(.lockoutCounter)),
            limit: Int(number(.maximumFailures)),
            recoverySeconds: Int(number(.lockoutInterval)),
            lockoutRecoverySeconds: Int(number(.lockoutRecovery)),
            inLockout: permanent & 0x200 != 0
        )
    }

    /// Whether the TPM is locked out after too many wrong values.
    package var inLockout: Bool { dictionaryAttack.inLockout }
}

/// The property tags (TPM_PT).
///
/// The corresponding C constants are `TPM2_PT_…`. Source: TPM 2.0 Library Part 2, 6.13.
enum Property: UInt32 {
    case revision = 0x102
    case manufacturer = 0x105
    case vendor1 = 0x106
    case vendor2 = 0x107
    case vendor3 = 0x108
    case vendor4 = 0x109
    case firmware1 = 0x10b
    case firmware2 = 0x10c
    case objectSlots = 0x10e
    case sessionSlots = 0x110
    case permanent = 0x200
    case objectSlotsFree = 0x207
    case nvCounters = 0x20a
    case nvCountersFree = 0x20b
    case lockoutCounter = 0x20e
    case maximumFailures = 0x20f
    case lockoutInterval = 0x210
    case lockoutRecovery = 0x211

    static let fixed: UInt32 = 0x100
    static let variable: UInt32 = 0x200
}

/// Returns the printable characters in the numbers, four in each.
///
/// TPMs use zeros and blanks as padding.
private func words(_ numbers: [UInt32]) -> String {
    let bytes = numbers.flatMap(\.bigEndianBytes).filter { 0x20...0x7e ~= $0 }
    return String(decoding: bytes, as: UTF8.self).split(separator: " ").joined(separator: " ")
}

extension TPMCommands {
    /// Returns the identity and configuration of the TPM, with two or three commands.
    ///
    /// Source: TPM 2.0 Library Part 3, TPM2_GetCapability.
    package func properties() throws(TPMError) -> TPMProperties {
        let fixed = try connection.properties(from: Property.fixed)
        return TPMProperties(try connection.properties(from: Property.variable).merging(fixed) { $1 })
    }

    /// Returns the current handles of a type, including those of other programs.
    package func handles(_ kind: HandleKind) throws(TPMError) -> [UInt32] {
        var handles: [UInt32] = []
        var next = kind.first
        var isMore = true
        while isMore {
            let page = try connection.capability(TPM2_CAP_HANDLES, from: next) { data, more in
                let list = data.data.handles
                isMore = more && list.count > 0
                return withUnsafeBytes(of: list.handle) { bytes in
                    Array(bytes.bindMemory(to: UInt32.self).prefix(Int(list.count)))
                }
            }
            handles += page
            // A page that repeats itself, or ends at the highest number, is the last one.
            guard let last = page.max(), last >= next, last < .max else { break }
            next = last + 1
        }
        return handles
    }
}

extension Connection {
    /// Returns all properties of one group, which has 256 tags.
    func properties(from first: UInt32) throws(TPMError) -> [UInt32: UInt32] {
        var properties: [UInt32: UInt32] = [:]
        var next = first
        var isMore = true
        while isMore {
            let page = try capability(TPM2_CAP_TPM_PROPERTIES, from: next) { data, more in
                let list = data.data.tpmProperties
                isMore = more && list.count > 0
                return withUnsafeBytes(of: list.tpmProperty) { bytes in
                    bytes.bindMemory(to: TPMS_TAGGED_PROPERTY.self).prefix(Int(list.count))
                        .map { ($0.property, $0.value) }
                }
            }
            for (property, value) in page where property & ~0xff == first { properties[property] = value }
            // A page that repeats itself, or continues with another group, is the last one.
            guard let last = page.map(\.0).max(), last >= next, last & ~0xff == first else { break }
            next = last + 1
        }
        return properties
    }

    fileprivate func capability<Value>(
        _ capability: TPM2_CAP,
        from first: UInt32,
        _ read: (borrowing TPMS_CAPABILITY_DATA, _ isMore: Bool) -> Value
    ) throws(TPMError) -> Value {
        var more: TPMI_YES_NO = 0
        var data: UnsafeMutablePointer<TPMS_CAPABILITY_DATA>?
        try call("TPM2_GetCapability") {
            Esys_GetCapability(
                $0,
                Fixed.none,
                Fixed.none,
                Fixed.none,
                capability,
                first,
                254,
                &more,
                &data
            )
        }
        return try CMemory.take(data, of: "TPM2_GetCapability") { read($0.pointee, more != 0) }
    }
}
