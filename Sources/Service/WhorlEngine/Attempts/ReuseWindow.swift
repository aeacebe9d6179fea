// SPDX-License-Identifier: Apache-2.0

package import WhorlFingerprint
import FoundationEssentials
package import WhorlSQLite
package import WhorlStateStore
import WhorlSupport

/// A match that a later evaluation may take instead of a new touch.
///
/// It holds only in the boot, until the machine sleeps, for the profile, in the stay in a login session, for the set of
/// enrolled fingers, for the reader and for the kind of reader that it was made with. So a restart, a sleep, a lock of the
/// screen, an added or removed finger, and another reader end it. A match on a mock is never taken for one on hardware.
package struct ReusableMatch: Sendable, Hashable {
    /// The print that matched.
    package let print: PrintID
    /// The finger of that print.
    package let finger: Finger
    /// The profile that the finger belongs to.
    package let profile: String
    /// The generation of the set of enrolled fingers.
    package let generation: UInt64
    /// The reader that the finger matched on.
    package let reader: ReaderID
    /// The kind of that reader.
    package let kind: ReaderInfo.Kind
    /// The identifier of the boot in which the match was made.
    package let bootID: String
    /// The time of the match, in milliseconds by the boot clock.
    package let sinceBoot: Int64
    /// The time that the machine had slept by then, in milliseconds.
    package let asleep: Int64
    /// The stay in a login session in which the match was made (``SessionPeriods``).
    package let stay: String

    package init(
        print: PrintID,
        finger: Finger,
        profile: String,
        generation: UInt64,
        reader: ReaderInfo,
        in stay: String,
        at moment: Moment
    ) {
        self.print = print
        self.finger = finger
        self.profile = profile
        self.generation = generation
        self.reader = reader.id
        self.kind = reader.kind
        self.bootID = moment.bootID
        self.sinceBoot = moment.sinceBoot
        self.asleep = moment.asleep
        self.stay = stay
    }

    /// Returns whether the match may be taken now, for these bindings, if it was made within the last `window`.
    package func holds(
        for profile: String,
        generation: UInt64,
        reader: ReaderInfo,
        in stay: String,
        at now: Moment,
        window: Duration
    ) -> Bool {
        guard self.profile == profile, self.generation == generation,
            self.reader == reader.id, kind == reader.kind, self.stay == stay
        else { return false }
        // A machine whose boots have no names cannot tell a restart: nothing is reused there.
        guard !bootID.isEmpty else { return false }
        let then = Moment(bootID: bootID, sinceBoot: sinceBoot, wall: 0, asleep: asleep)
        return now.isAwake(since: then, within: window)
    }
}

/// The last match of each profile, in the table `reuse`, authenticated by a MAC.
///
/// The MAC prevents a program that can write the database but does not have the key from forging a match.
package struct ReuseWindow: Sendable {
    /// The longest window; a request for more counts as this.
    package static let longest = Duration.seconds(300)

    private let keys: StateKeys

    /// Makes a reuse window that authenticates matches with the key for reuse.
    package init(keys: StateKeys) { self.keys = keys }

    /// Returns the recorded match of a profile; `nil` if none is recorded, or it is not authentic.
    package func match(of profile: String, in db: Database) throws -> ReusableMatch? {
        let match = try db.first(
            sql: "SELECT payload, mac FROM reuse WHERE profile = ?",
            arguments: [profile]
        ) { row -> ReusableMatch? in
            let payload: Data = try row.column(0)
            guard keys.isValid(try row.column(1), for: payload, .reuse) else { return nil }
            return ReusableMatch(decoding: payload)
        }
        return match ?? nil
    }

    /// Records a match in place of an earlier one.
    package func remember(_ match: ReusableMatch, in db: Database) throws {
        let payload = match.encoding
        try db.execute(
            sql: "INSERT OR REPLACE INTO reuse (profile, payload, mac) VALUES (?, ?, ?)",
            arguments: [match.profile, payload, keys.code(for: payload, .reuse)]
        )
    }

    /// Deletes the recorded match of a profile.
    package static func forget(_ profile: String, in db: Database) throws {
        try db.execute(sql: "DELETE FROM reuse WHERE profile = ?", arguments: [profile])
    }
}

extension ReusableMatch {
    private static let version: UInt8 = 3

    /// The canonical encoding: a version byte, the finger's number, the other numbers as 8 bytes each (big endian),
    /// then each text as 4 bytes of length and UTF-8.
    ///
    /// Two different matches never have the same bytes.
    fileprivate var encoding: Data {
        var bytes = ByteWriter([Self.version, finger.number])
        bytes.append(generation)
        bytes.append(sinceBoot)
        bytes.append(asleep)
        for text in [profile, reader.rawValue, kind.rawValue, bootID, stay, print.description] {
            bytes.append(sized: text)
        }
        return Data(bytes.bytes)
    }

    fileprivate init?(decoding data: Data) {
        var bytes = ByteReader(data)
        guard bytes.number() == Self.version, let fingerNumber: UInt8 = bytes.number(),
            let finger = Finger.allCases.first(where: { $0.number == fingerNumber }),
            let generation: UInt64 = bytes.number(), let sinceBoot: Int64 = bytes.number(),
            let asleep: Int64 = bytes.number(),
            let profile = bytes.text(), let reader = bytes.text(),
            let kind = bytes.text().flatMap(ReaderInfo.Kind.init(rawValue:)), let bootID = bytes.text(),
            let stay = bytes.text(),
            let print = bytes.text().flatMap({ PrintID($0) }), bytes.isAtEnd
        else { return nil }
        self.print = print
        self.finger = finger
        self.profile = profile
        self.generation = generation
        self.reader = ReaderID(rawValue: reader)
        self.kind = kind
        self.bootID = bootID
        self.sinceBoot = sinceBoot
        self.asleep = asleep
        self.stay = stay
    }
}
