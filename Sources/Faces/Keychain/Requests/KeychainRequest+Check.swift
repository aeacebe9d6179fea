// SPDX-License-Identifier: Apache-2.0

/// What a dictionary must not say at once.
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
        try checkPersistentReference()
        // To delete the first of several is no intention that anybody has.
        guard purpose != .delete || limit == nil || limit == .max else { throw KeychainError(errSecParam) }
    }

    /// What a persistent reference names is one item, which attributes cannot narrow.
    private func checkPersistentReference() throws(KeychainError) {
        guard let persistentReference else { return }
        guard itemClass == .stored(persistentReference.itemClass) else {
            throw KeychainError(errSecNoSuchClass)
        }
        let narrows = synchronizable == .yes || synchronizable == .no
        guard attributes.isEmpty, accessGroup == nil, accessible == nil, reference == nil, !narrows else {
            throw KeychainError(errSecParam)
        }
    }

    private func checkSynchronizing() throws(KeychainError) {
        guard synchronizable != .yes || accessControl?.isConstrained != true else {
            throw KeychainError(errSecParam)
        }
    }
}

extension ItemRecord {
    /// Whether the item could leave the device: not where somebody must show something, nor where the chip has it.
    ///
    /// "This device only" is no obstacle, as on Apple's systems; nothing leaves this machine anyhow.
    var maySynchronize: Bool { !protection.isConstrained && attributes["tkid"] == nil }
}
