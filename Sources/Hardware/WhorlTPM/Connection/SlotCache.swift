// SPDX-License-Identifier: Apache-2.0

internal import CWhorlTSS2

/// The resources that stay loaded between sequences.
///
/// These are usually the authority, the last used key, and the session that authorizes commands with the values of
/// authorities.
///
/// The cache contains at most two objects, because a TPM may have only three slots, and each command with a persistent
/// key needs one of them for that key. The cache contains only one session, because a TPM may have only three session
/// slots as well. It is used only on the TPM's thread, inside its connection.
final class SlotCache {
    static let capacity = 2

    private struct Entry {
        /// The object, including its private area, because two objects with the same name may have different
        /// authorization values, or one may be damaged.
        let object: TPMObject
        let handle: ESYS_TR
        var isInUse: Bool
    }

    private struct SessionEntry {
        let handle: ESYS_TR
        /// The name of the root that the session is salted to.
        let root: TPMName
        var isInUse: Bool
    }

    /// The loaded objects, least recently used first.
    private var entries: [Entry] = []
    private var session: SessionEntry?
    /// The names of the objects that the current sequence needs.
    ///
    /// These objects are flushed last.
    private var wanted: Set<TPMName> = []

    var isEmpty: Bool { entries.isEmpty && session == nil }

    /// Sets the names of the objects that the next commands need.
    func announce(_ names: Set<TPMName>) { wanted = names }

    /// Returns the handle of an object and marks it as in use, or returns `nil` if the object is not loaded.
    func borrow(_ object: TPMObject) -> ESYS_TR? {
        guard let index = entries.firstIndex(where: { $0.object == object }) else { return nil }
        var entry = entries.remove(at: index)
        entry.isInUse = true
        entries.append(entry)
        return entry.handle
    }

    /// Takes over a loaded object that is in use.
    func adopt(_ handle: ESYS_TR, _ object: TPMObject) {
        entries.append(Entry(object: object, handle: handle, isInUse: true))
    }

    /// Marks an object as no longer in use.
    ///
    /// The object may stay loaded.
    func giveBack(_ handle: ESYS_TR) {
        guard let index = entries.firstIndex(where: { $0.handle == handle }) else { return }
        entries[index].isInUse = false
    }

    /// Flushes as many objects as necessary to make room for one more.
    func makeRoom(on connection: Connection) {
        while entries.count >= Self.capacity, let index = nextToGo() {
            connection.flush(entries.remove(at: index).handle)
        }
    }

    private func nextToGo() -> Int? {
        entries.firstIndex { !$0.isInUse && !wanted.contains($0.object.name) }
            ?? entries.firstIndex { !$0.isInUse }
    }

    /// Flushes one object if it is loaded.
    func flush(_ object: TPMObject, on connection: Connection) {
        guard let index = entries.firstIndex(where: { $0.object == object && !$0.isInUse }) else { return }
        connection.flush(entries.remove(at: index).handle)
    }

    // MARK: The session

    /// Returns the cached session and marks it as in use, or returns `nil` if there is none that is salted to this
    /// root.
    func borrowSession(saltedTo root: TPMName) -> ESYS_TR? {
        guard session?.root == root else { return nil }
        session?.isInUse = true
        return session?.handle
    }

    /// Takes over a session that is in use and flushes the previously cached one.
    func adopt(session handle: ESYS_TR, saltedTo root: TPMName, on connection: Connection) {
        if let session { connection.flush(session.handle) }
        session = SessionEntry(handle: handle, root: root, isInUse: true)
    }

    /// Marks the session as no longer in use.
    ///
    /// The session may stay loaded.
    func giveBack(session handle: ESYS_TR) {
        if session?.handle == handle { session?.isInUse = false }
    }

    /// Drops the cached session without flushing it, because its handle may now belong to another program's session.
    func forgetSession(on connection: Connection) {
        if let session { connection.close(session.handle) }
        session = nil
    }

    // MARK: Letting go

    /// Flushes all resources that are not in use.
    func flushIdle(on connection: Connection) {
        for entry in entries where !entry.isInUse { connection.flush(entry.handle) }
        entries.removeAll { !$0.isInUse }
        guard let session, !session.isInUse else { return }
        connection.flush(session.handle)
        self.session = nil
    }

    /// Flushes everything.
    func flushAll(on connection: Connection) {
        for entry in entries { connection.flush(entry.handle) }
        entries = []
        if let session { connection.flush(session.handle) }
        session = nil
    }

    /// Drops all resources after the TPM has forgotten a loaded object.
    ///
    /// The handles may now belong to other programs' objects. If there is a resource manager, nothing is flushed,
    /// because the resource manager does so at the end. Without one, another program may have flushed only one of our
    /// objects. The others are then flushed if they are still the same.
    func forget(on connection: Connection) {
        let handles = entries.map(\.handle) + [session?.handle].compactMap(\.self)
        (entries, session) = ([], nil)
        let leftovers = connection.address.flushesAtClose ? [] : handles.compactMap(connection.leftover)
        for handle in handles { connection.close(handle) }
        connection.flush(leftovers)
    }
}
