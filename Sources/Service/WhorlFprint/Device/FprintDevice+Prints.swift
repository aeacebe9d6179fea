// SPDX-License-Identifier: Apache-2.0

internal import LibfprintReader
internal import WhorlFingerprint

extension FprintDevice {
    /// A print that can be used with this reader.
    struct UsablePrint {
        let user: String
        let finger: Finger
        let template: Template
    }

    var key: ReaderKey {
        reader.assumeIsolated { ReaderKey(driver: $0.info.driver, number: $0.deviceNumber) }
    }

    var features: ReaderFeatures { reader.assumeIsolated { $0.info.features } }

    /// Returns a user's prints that load, fit the reader, and are that user's and finger's by their own word.
    func usablePrints(of user: String) -> [UsablePrint] {
        prints.fingers(of: user, on: key).compactMap { finger in
            guard let template = prints.template(finger, of: user, on: key),
                let written = reader.assumeIsolated({ $0.metadata(of: template) }),
                written.finger == finger, written.userName == user
            else { return nil }
            return UsablePrint(user: user, finger: finger, template: template)
        }
    }

    /// The usable prints of all users.
    var allPrints: [UsablePrint] { prints.users().flatMap(usablePrints) }

    /// The prints of all users, before one that none of them has is deleted from the reader.
    ///
    /// It is `nil` where some could not be read: the reader's print may be one of those.
    func allPrintsForCertain() -> [Template]? {
        do throws(PrintStoreFault) {
            var templates: [Template] = []
            for (user, finger) in try prints.everything(on: key) {
                guard let template = prints.template(finger, of: user, on: key),
                    reader.assumeIsolated({ $0.metadata(of: template) }) != nil
                else {
                    report("The reader keeps its prints: the \(finger.rawValue) of \(user) cannot be read.")
                    return nil
                }
                templates.append(template)
            }
            return templates
        } catch {
            report("The reader keeps its prints: those here cannot be listed: \(error.cause)")
            return nil
        }
    }

    func isSame(_ first: Template, _ second: Template) -> Bool {
        reader.assumeIsolated { $0.isSamePrint(first, second) }
    }

    func list(_ client: String, _ name: String) async throws(FprintError) -> [Finger] {
        let user = try await user(named: name, by: client)
        try await require(.verify, client)
        let fingers = usablePrints(of: user).map(\.finger)
        guard !fingers.isEmpty else { throw .noEnrolledPrints }
        return fingers
    }

    // MARK: - Deleting

    func deleteAll(_ client: String, ofUser name: String) async throws(FprintError) {
        try state.requireFreeOrHeld(by: client)
        let user = try await user(named: name, by: client)
        try await require(.enroll, client)
        try state.requireFreeOrHeld(by: client)
        try await delete(prints.fingers(of: user, on: key), of: user)
    }

    func deleteAll(_ client: String) async throws(FprintError) {
        let user = try await userOfHolder(client)
        try await delete(prints.fingers(of: user, on: key), of: user)
    }

    func delete(_ client: String, _ name: String) async throws(FprintError) {
        let user = try await userOfHolder(client)
        guard let finger = Finger(rawValue: name) else { throw .invalidFingername(name) }
        try await delete(prints.fingers(of: user, on: key).filter { $0 == finger }, of: user)
    }

    /// Returns the user for whom a client has claimed the reader, if it may enroll.
    func userOfHolder(_ client: String) async throws(FprintError) -> String {
        try state.requireHeld(by: client)
        try await require(.enroll, client)
        try state.requireHeld(by: client)
        return state.holder?.user ?? ""
    }

    private func delete(_ fingers: [Finger], of user: String) async throws(FprintError) {
        try state.requireIdle()
        guard !fingers.isEmpty else { throw .noEnrolledPrints }
        var isGoneFromReader = true
        if features.contains(.storage) {
            try state.begin(.delete)
            isGoneFromReader = try await deleteFromReader(fingers, of: user)
        }
        // No wait from here to the end: no client sees a part of it.
        let stay = fingers.filter { !removed($0, of: user) }
        state.end(.delete)
        leaveIfUnplugged()
        guard stay.isEmpty else { throw .printsNotDeleted }
        guard isGoneFromReader else { throw .printsNotDeletedFromDevice }
    }

    /// Deletes prints from the reader's own storage, which is opened for that where no client has it.
    ///
    /// - Returns: Whether all are gone.
    private func deleteFromReader(_ fingers: [Finger], of user: String) async throws(FprintError) -> Bool {
        let isOurs = state.holder == nil
        if isOurs {
            do throws(DirectFailure) {
                try await reader.openDirectly()
            } catch {
                state.end(.delete)
                throw .internal("Open failed with error: \(error.cause)")
            }
        }
        var areGone = true
        for finger in fingers {
            guard let template = prints.template(finger, of: user, on: key) else { continue }
            do throws(DirectFailure) {
                try await reader.deleteDirectly(template)
            } catch {
                report("The print of the \(finger.rawValue) stays in the reader: \(error.cause)")
                areGone = false
            }
        }
        // Also after a client that released the reader in between, which could not be closed then.
        if isOurs || state.holder == nil, await reader.isOpen {
            do throws(DirectFailure) {
                try await reader.closeDirectly()
            } catch {
                report("The reader could not be closed: \(error.cause)")
            }
        }
        return areGone
    }

    /// Removes a print here, and returns whether it is gone.
    func removed(_ finger: Finger, of user: String) -> Bool {
        do throws(PrintStoreFault) {
            try prints.remove(finger, of: user, on: key)
            return true
        } catch {
            report("The print of the \(finger.rawValue) could not be deleted: \(error.cause)")
            return false
        }
    }

    // MARK: - Comparing with the reader's storage

    /// Deletes the prints here that the reader does not know any longer, where it lists those that it has.
    ///
    /// A list that does not come deletes nothing.
    func forgetPrintsUnknownToReader() async {
        guard features.contains(.storageList) else { return }
        hasComparedStorage = true
        let known: [StoredPrint]
        do throws(DirectFailure) {
            known = try await reader.listDirectly()
        } catch {
            return report("The reader did not list its prints: \(error.cause)")
        }
        for print in allPrints where !known.contains(where: { isSame($0.template, print.template) }) {
            report(
                "The reader has lost the \(print.finger.rawValue) of \(print.user); it is deleted here too."
            )
            _ = removed(print.finger, of: print.user)
        }
    }

    /// Deletes one print from the reader that no user here has, the newest first; `false` if there is none.
    func deleteUnknownFromReader() async -> Bool {
        guard features.contains(.storageList) else { return false }
        // A reader that does not answer has made no room.
        guard let known = try? await reader.listDirectly(), let ours = allPrintsForCertain() else {
            return false
        }
        let unknown = known.filter { stored in !ours.contains { isSame($0, stored.template) } }
        guard let newest = unknown.max(by: { Self.date($0) < Self.date($1) }) else { return false }
        do throws(DirectFailure) {
            try await reader.deleteDirectly(newest.template)
            return true
        } catch {
            return false
        }
    }

    private static func date(_ print: StoredPrint) -> Int {
        print.metadata.date.map { ($0.year * 100 + $0.month) * 100 + $0.day } ?? 0
    }
}
