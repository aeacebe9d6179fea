// SPDX-License-Identifier: Apache-2.0

internal import WhorlService

/// Checks a dictionary for contradictions.
extension KeychainRequest {
    /// - Throws: `errSecParam`; `errSecNoSuchClass` for a persistent reference of another class, as on Apple's systems.
    func check(_ purpose: Purpose) throws(KeychainError) {
        if let accessControl, let accessible, accessControl.protection != accessible {
            throw KeychainError(errSecParam)
        }
        if purpose == .add || purpose == .change { try checkSynchronizing() }
        guard purpose != .change else { return }
        guard itemClass != nil else { throw KeychainError(errSecParam) }
        if let reference, itemClass != .stored(type(of: reference).itemClass) {
            throw KeychainError(errSecParam)
        }
        if identity != nil, itemClass != .identity { throw KeychainError(errSecParam) }
        // Nothing but a certificate says what these filters ask for.
        if !certificates.isEmpty, itemClass != .identity, itemClass != .stored(.certificate) {
            throw KeychainError(errSecParam)
        }
        try checkPersistentReference()
        // Deleting only the first of several items is never what a program intends.
        guard purpose != .delete || limit == nil || limit == .max else { throw KeychainError(errSecParam) }
    }

    /// Checks that a persistent reference, which names one item, is not combined with attributes.
    private func checkPersistentReference() throws(KeychainError) {
        guard let persistentReference else { return }
        guard itemClass == persistentReference.requestClass else {
            throw KeychainError(errSecNoSuchClass)
        }
        let narrows = synchronizable == .yes || synchronizable == .no
        guard attributes.isEmpty, accessGroup == nil, accessible == nil, reference == nil, identity == nil,
            !narrows
        else {
            throw KeychainError(errSecParam)
        }
    }

    private func checkSynchronizing() throws(KeychainError) {
        guard synchronizable != .yes || accessControl?.isConstrained != true else {
            throw KeychainError(errSecParam)
        }
    }
}

extension PersistentReference {
    /// The class of what the reference names.
    var requestClass: KeychainRequest.Class { namesIdentity ? .identity : .stored(itemClass) }
}

extension KeychainRecord {
    /// Whether the item could leave the device: not if it requires authentication, nor if it is in the chip.
    ///
    /// "This device only" does not prevent it, as on Apple's systems; in fact no item leaves this machine.
    var maySynchronize: Bool { !protection.isConstrained && attributes["tkid"] == nil }
}
