// SPDX-License-Identifier: Apache-2.0

import WhorlLibfprint
import WhorlFingerprint
import WhorlFprint
import WhorlRemote
import WhorlSystem

extension DirectWork {
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
        let ours = prints.users().flatMap { user in prints.fingers(of: user, on: key).map { (user, $0) } }
        let templates = ours.compactMap { user, finger in prints.template(finger, of: user, on: key) }
        let areReadable = reader.assumeIsolated { reader in
            templates.allSatisfy { reader.metadata(of: $0) != nil }
        }
        if templates.count == ours.count, areReadable { return templates }
        log("The reader keeps its prints: not all of those here can be read.")
        return nil
    }

    func isSame(_ first: Template, _ second: Template) -> Bool {
        reader.assumeIsolated { $0.isSamePrint(first, second) }
    }

    // MARK: - Deleting

    func delete(
        _ fingers: [Finger],
        of user: String,
        _ isClaimed: @Sendable () -> Bool
    ) async throws(FprintError) {
        var isGoneFromReader = true
        if features.contains(.storage) {
            isGoneFromReader = try await deleteFromReader(fingers, of: user, isClaimed)
        }
        // No wait from here to the end: no client sees a part of it.
        let stay = fingers.filter { !removed($0, of: user) }
        guard stay.isEmpty else { throw .printsNotDeleted }
        guard isGoneFromReader else { throw .printsNotDeletedFromDevice }
    }

    /// Deletes prints from the reader's own storage, which is opened for that where no client has it.
    ///
    /// - Returns: Whether all are gone.
    private func deleteFromReader(
        _ fingers: [Finger],
        of user: String,
        _ isClaimed: @Sendable () -> Bool
    ) async throws(FprintError) -> Bool {
        let isOurs = !isClaimed()
        if isOurs { try await open() }
        var areGone = true
        for finger in fingers {
            guard let template = prints.template(finger, of: user, on: key) else { continue }
            do throws(DirectFailure) {
                try await reader.deleteDirectly(template)
            } catch {
                log("The print of the \(finger.rawValue) stays in the reader: \(error.cause)")
                areGone = false
            }
        }
        // Also after a client that released the reader in between, which could not be closed then.
        if isOurs || !isClaimed(), await reader.isOpen {
            do throws(DirectFailure) {
                try await reader.closeDirectly()
            } catch {
                log("The reader could not be closed: \(error.cause)")
            }
        }
        return areGone
    }

    /// Removes a print here, and returns whether it is gone.
    func removed(_ finger: Finger, of user: String) -> Bool {
        do {
            try prints.remove(finger, of: user, on: key)
            return true
        } catch {
            log("The print of the \(finger.rawValue) could not be deleted: \(error)")
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
            return log("The reader did not list its prints: \(error.cause)")
        }
        for print in allPrints where !known.contains(where: { isSame($0.template, print.template) }) {
            log(
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
