// SPDX-License-Identifier: Apache-2.0

package import WhorlFingerprint
import FoundationEssentials
package import WhorlSQLite
package import WhorlStateStore
import WhorlSupport

/// A match that a later evaluation can reuse instead of requiring a new touch.
///
/// It is valid only during the same boot and the same stay in a login session, until the machine goes to sleep. It is
/// bound to the profile, the set of enrolled fingers, the reader and the kind of reader. So it can no longer be used
/// after a restart, sleep, a screen lock, or adding or removing a finger, or with another reader. A match on a mock
/// reader is never reused for a real one.
package struct ReusableMatch: Sendable, Hashable {
    /// The print that matched.
    package let print: PrintID
    /// The finger of that print.
    package let finger: Finger
    /// The profile to which the finger belongs.
    package let profile: String
    /// The generation of the set of enrolled fingers at the time of the match.
    package let generation: UInt64
    /// The reader on which the finger matched.
    package let reader: ReaderID
    /// The kind of that reader.
    package let kind: ReaderInfo.Kind
    /// The ID of the boot during which the match was made.
    package let bootID: String
    /// The time of the match, in milliseconds of the boot clock.
    package let sinceBoot: Int64
    /// The time that the machine had spent asleep before the match, in milliseconds.
    package let asleep: Int64
    /// The stay in a login session during which the match was made (``SessionPeriods``).
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

    /// Returns whether the match can be reused now with these bindings and was made within the last `window`.
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
        // Without a boot ID, a restart cannot be detected, so nothing is reused.
        guard !bootID.isEmpty else { return false }
        let then = Moment(bootID: bootID, sinceBoot: sinceBoot, wall: 0, asleep: asleep)
        return now.isAwake(since: then, within: window)
    }
}

/// The last match of each profile, which is stored in the table `reuse` and authenticated with a MAC.
///
/// The MAC prevents a program that can write to the database but does not have the key from forging a match.
package struct ReuseWindow: Sendable {
    /// The maximum window, to which longer requests are limited.
    package static let longest = Duration.seconds(300)

    private let keys: StateKeys

    /// Creates a reuse window that uses the reuse key to authenticate matches.
    package init(keys: StateKeys) { self.keys = keys }

    /// Returns the recorded match of a profile; `nil` if there is none or it is not authentic.
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

    /// Records a match, replacing the previous one.
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

    /// The canonical encoding: a version byte, the finger's number, the other numbers as 8 bytes each (big endian), and
    /// then each text as a 4-byte length followed by UTF-8.
    ///
    /// Two different matches never have the same encoding.
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
