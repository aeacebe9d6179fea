// SPDX-License-Identifier: Apache-2.0

internal import CTSS2

/// What stays loaded between sequences: the authority and the key used last, as a rule.
///
/// Two objects at most. A chip may have three slots, and each command that names a persistent key needs one for it.
/// It lives on the TPM's thread, inside of its connection.
final class ObjectCache {
    static let capacity = 2

    private struct Entry {
        /// With its private area: two of one name may have other authorization values, or one may be damaged.
        let object: TPMObject
        let handle: ESYS_TR
        var isInUse: Bool
    }

    /// The least recently used one first.
    private var entries: [Entry] = []
    /// What the running sequence will need; it goes last when room is needed.
    private var wanted: Set<TPMName> = []

    var isEmpty: Bool { entries.isEmpty }

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

    /// Flushes what is not in use.
    func flushIdle(on connection: Connection) {
        for entry in entries where !entry.isInUse { connection.flush(entry.handle) }
        entries.removeAll { !$0.isInUse }
    }

    /// Flushes everything.
    func flushAll(on connection: Connection) {
        for entry in entries { connection.flush(entry.handle) }
        entries = []
    }

    /// The TPM has forgotten what was loaded: drops it without a flush, which could hit what others have loaded since.
    func forget(on connection: Connection) {
        for entry in entries { connection.close(entry.handle) }
        entries = []
    }
}
