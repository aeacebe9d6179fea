// SPDX-License-Identifier: Apache-2.0

internal import CTSS2

/// What stays loaded between sequences: the authority and the key used last, as a rule, and the session that authorities
/// are asked by.
///
/// Two objects at most. A chip may have three slots, and each command that names a persistent key needs one for it.
/// One session: a chip may have three slots for them too. It lives on the TPM's thread, inside of its connection.
final class SlotCache {
    static let capacity = 2

    private struct Entry {
        /// With its private area: two of one name may have other authorization values, or one may be damaged.
        let object: TPMObject
        let handle: ESYS_TR
        var isInUse: Bool
    }

    private struct SessionEntry {
        let handle: ESYS_TR
        /// The name of the root that it is salted to.
        let root: TPMName
        var isInUse: Bool
    }

    /// The least recently used one first.
    private var entries: [Entry] = []
    private var session: SessionEntry?
    /// What the running sequence will need; it goes last when room is needed.
    private var wanted: Set<TPMName> = []

    var isEmpty: Bool { entries.isEmpty && session == nil }

    /// Tells what the coming commands will need.
    func announce(_ names: Set<TPMName>) { wanted = names }

    /// The loaded object, now in use, if it is there.
    func borrow(_ object: TPMObject) -> ESYS_TR? {
        guard let index = entries.firstIndex(where: { $0.object == object }) else { return nil }
        var entry = entries.remove(at: index)
        entry.isInUse = true
        entries.append(entry)
        return entry.handle
    }

    /// Takes over a loaded object, which is in use.
    func adopt(_ handle: ESYS_TR, _ object: TPMObject) {
        entries.append(Entry(object: object, handle: handle, isInUse: true))
    }

    /// The object is not in use any more, but may stay.
    func giveBack(_ handle: ESYS_TR) {
        guard let index = entries.firstIndex(where: { $0.handle == handle }) else { return }
        entries[index].isInUse = false
    }

    /// Flushes as many as it takes for one more to have its place.
    func makeRoom(on connection: Connection) {
        while entries.count >= Self.capacity, let index = nextToGo() {
            connection.flush(entries.remove(at: index).handle)
        }
    }

    private func nextToGo() -> Int? {
        entries.firstIndex { !$0.isInUse && !wanted.contains($0.object.name) }
            ?? entries.firstIndex { !$0.isInUse }
    }

    /// Flushes one object, if it is loaded.
    func flush(_ object: TPMObject, on connection: Connection) {
        guard let index = entries.firstIndex(where: { $0.object == object && !$0.isInUse }) else { return }
        connection.flush(entries.remove(at: index).handle)
    }

    // MARK: The session

    /// The kept session, now in use, if there is one that is salted to this root.
    func borrowSession(saltedTo root: TPMName) -> ESYS_TR? {
        guard session?.root == root else { return nil }
        session?.isInUse = true
        return session?.handle
    }

    /// Takes over a session, which is in use, in place of one that is salted to another root.
    func adopt(session handle: ESYS_TR, saltedTo root: TPMName, on connection: Connection) {
        if let session { connection.flush(session.handle) }
        session = SessionEntry(handle: handle, root: root, isInUse: true)
    }

    /// The session is not in use any more, but may stay.
    func giveBack(session handle: ESYS_TR) {
        if session?.handle == handle { session?.isInUse = false }
    }

    /// Drops the kept session without flushing it: another program's may have its handle.
    func forgetSession(on connection: Connection) {
        if let session { connection.close(session.handle) }
        session = nil
    }

    // MARK: Letting go

    /// Flushes what is not in use.
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

    /// The TPM has forgotten something that was loaded: drops everything.
    ///
    /// What others have loaded since may have its handle. Behind a resource manager nothing is flushed, since that flushes
    /// at the end. Elsewhere somebody may have flushed one thing of ours only, and the rest is flushed where it still is
    /// what it was.
    func forget(on connection: Connection) {
        let handles = entries.map(\.handle) + [session?.handle].compactMap(\.self)
        (entries, session) = ([], nil)
        let leftovers = connection.address.flushesAtClose ? [] : handles.compactMap(connection.leftover)
        for handle in handles { connection.close(handle) }
        connection.flush(leftovers)
    }
}
