// SPDX-License-Identifier: Apache-2.0

internal import CTSS2

/// Stored bytes, with the handle and the name that they must stand for.
struct Pin: Hashable {
    let resource: [UInt8]
    let handle: UInt32
    let name: TPMName
}

/// The pinned resources that this connection has checked, so that ESAPI need not compute their names again.
///
/// A name is a hash of the stored bytes, which are the same each time; with OpenSSL 3, tpm2-tss 3 needs about as long
/// for it as the TPM for its answer. The state of the TPM is never remembered here.
struct Pins {
    /// The largest number of remembered pins: a root and the counters of some profiles.
    private static let most = 16

    private var checked: Set<Pin> = []
    private var names: [ESYS_TR: TPMName] = [:]

    /// Whether these bytes were checked to have this handle and this name.
    func isChecked(_ pin: Pin) -> Bool { checked.contains(pin) }

    mutating func noteChecked(_ pin: Pin) {
        if checked.count >= Self.most { checked = [] }
        checked.insert(pin)
    }

    /// Records the name of a pinned resource's ESAPI handle, until the handle is taken back.
    mutating func lend(_ object: ESYS_TR, named name: TPMName) { names[object] = name }
    mutating func takeBack(_ object: ESYS_TR) { names[object] = nil }

    /// Returns the name of a lent handle.
    func name(of object: ESYS_TR) -> TPMName? { names[object] }
}
