// SPDX-License-Identifier: Apache-2.0

import WhorlStateStore
package import WhorlFingerprint
package import WhorlService

extension FingerEnroller {
    /// Removes fingers from the store and from their readers.
    ///
    /// The fingers are removed from the store first. From then on, they no longer match.
    ///
    /// - Parameters:
    ///   - selection: The fingers to remove.
    ///   - profile: The profile whose fingers are removed.
    ///   - readers: The connected readers. Only readers that store a print to be removed are used.
    ///   - force: Whether a print may be removed even though the reader that stores it is not among `readers`. It is
    ///     then deleted from the reader the next time that the reader is used for an enrollment or is reconciled.
    ///   - consent: The owner's consent to this removal. `nil` is sufficient for `all` if the set was tampered with and
    ///     no passcode is set, because such fingers cannot identify the owner.
    /// - Returns: The removed fingers, or an empty list if `all` was selected and no finger was enrolled.
    /// - Throws: `noSuchFinger`, `ownerNeeded`, `changedMeanwhile` or `readerNotConnected`, in which case nothing is
    ///   removed. If a reader does not delete a print, this is the reader's error, but the finger has been removed from
    ///   the store and the next reconciliation deletes the print. Other errors are a storage error and, except for
    ///   `all`, `enrollmentTampered` and `enrollmentRolledBack`.
    package func remove(
        _ selection: FingerSelection,
        profile: String,
        readers: [any FingerprintReader],
        force: Bool = false,
        consent: OwnerConsent?
    ) async throws(ServiceError) -> [EnrolledFinger] {
        let meant = try await removable(selection, profile: profile, readers: readers, force: force)
        let status = try await store.status(of: profile)
        // This makes an untrusted set valid again even if none of its rows can be read.
        if meant.isEmpty, status.fault == nil { return [] }
        let removed =
            if status.fault != nil, selection == .all {
                try await store.restart(status, .remove(.all), by: consent).removed
            } else {
                try await store.beginRemoval(of: selection, profile: profile, consent: consent)
            }
        var connected: [ReaderID: any FingerprintReader] = [:]
        for reader in readers { connected[await reader.info.id] = reader }
        for reader in Set(removed.filter(\.isOnReader).map(\.reader)).sorted(by: { $0.rawValue < $1.rawValue }
        ) {
            guard let reader = connected[reader] else { continue }
            try await reader.whileOpen("remove") { info throws(ServiceError) in
                _ = try await finishInterrupted(on: reader, info)
            }
        }
        return removed.map(\.enrolledFinger)
    }

    /// Returns the fingers that a removal would delete, without changing anything.
    ///
    /// This does not require the owner's consent.
    ///
    /// - Parameters: Those of ``remove(_:profile:readers:force:consent:)``.
    /// - Returns: The fingers, or an empty list if `all` was selected and no finger is enrolled or can be read.
    /// - Throws: `noSuchFinger`, `readerNotConnected`, a storage error and, except for `all`, `enrollmentTampered` and
    ///   `enrollmentRolledBack`.
    package func removable(
        _ selection: FingerSelection,
        profile: String,
        readers: [any FingerprintReader],
        force: Bool = false
    ) async throws(ServiceError) -> [EnrolledFinger] {
        var connected: Set<ReaderID> = []
        for reader in readers { connected.insert(await reader.info.id) }
        let candidates = try await store.selected(selection, of: profile)
        let away = candidates.first { $0.isOnReader && !connected.contains($0.reader) }
        if let away, !force { throw ServiceError(.readerNotConnected, details: [.reader: "\(away.reader)"]) }
        guard !candidates.isEmpty || selection == .all else { throw ServiceError(.noSuchFinger) }
        return candidates.map(\.enrolledFinger)
    }
}

extension FingerSelection {
    func includes(_ row: PrintRow) -> Bool {
        switch self {
        case .print(let id): row.id == id
        case .finger(let finger, on: let reader):
            row.finger == finger && (reader == nil || row.reader == reader)
        case .all: true
        }
    }
}

extension EnrollmentStore {
    /// Returns the enrolled prints in the selection.
    ///
    /// For `all`, the set does not have to be valid.
    fileprivate func selected(
        _ selection: FingerSelection,
        of profile: String
    ) async throws(ServiceError) -> [PrintRow] {
        let prints =
            switch selection {
            case .all: try await database.read { try Manifest($0, profile: profile).prints }
            case .print, .finger: try await snapshot(of: profile).manifest.prints
            }
        return prints.filter(selection.includes)
    }
}

extension FingerEnroller {
    /// Returns the fingers that ``accept(profile:consent:)`` would keep, without changing anything.
    ///
    /// - Returns: The fingers, or `nil` if the set is valid and there is nothing to accept.
    /// - Throws: A storage error.
    package func acceptable(profile: String) async throws(ServiceError) -> [EnrolledFinger]? {
        let status = try await store.status(of: profile)
        return status.fault == nil ? nil : status.fingers
    }

    /// Accepts the current fingers of a profile as genuine after they were tampered with or rolled back to an older
    /// state.
    ///
    /// Only prints that this machine sealed for this profile are kept, because a template that was copied from
    /// elsewhere cannot be decrypted. The set is given a new digest, so earlier domain states never reappear, and items
    /// bound to an earlier set still cannot be unlocked.
    ///
    /// - Parameters:
    ///   - profile: The profile whose fingers are accepted.
    ///   - consent: The owner's consent, which must be based on the passcode.
    /// - Returns: The fingers that are enrolled from now on, or `nil` if the set is valid and nothing was changed.
    /// - Throws: `ownerNeeded` (also if no passcode is set), `changedMeanwhile`, or a storage error.
    package func accept(
        profile: String,
        consent: OwnerConsent?
    ) async throws(ServiceError) -> AcceptedFingers? {
        let status = try await store.status(of: profile)
        guard status.fault != nil else { return nil }
        guard let consent else { throw ServiceError(.ownerNeeded) }
        let restart = try await store.restart(status, .accept, by: consent)
        return AcceptedFingers(
            kept: restart.kept.map(\.enrolledFinger),
            removed: restart.removed.map(\.enrolledFinger)
        )
    }
}
