// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint

/// The member of a small group who touched the reader.
///
/// Like a guest list, it identifies a person, but it does not unlock items and is not a login. The larger the group,
/// the more often a stranger is mistaken for one of its members (``chance``).
public struct IdentifiedPerson: Sendable, Hashable, Codable {
    /// The user ID.
    public let user: UInt32
    /// The finger that matched.
    public let finger: Finger
    /// The probability, from 0 to 1, that a single touch by a stranger matches a member of this group; `nil` if
    /// unknown.
    public let chance: Double?
    /// The probability expressed as one in this number of touches by strangers; `nil` if unknown.
    public var strangerOneIn: Int? { chance.flatMap { Int(exactly: (1 / $0).rounded(.down)) } }
    /// The users whose fingers were not compared, with the reasons.
    public let leftOut: [LeftOut]

    /// A user whose fingers were not compared.
    public struct LeftOut: Sendable, Hashable, Codable {
        /// The user ID.
        public let user: UInt32
        /// The reason why the user's fingers were not compared.
        public let reason: ServiceError.Code

        package init(user: UInt32, reason: ServiceError.Code) {
            self.user = user
            self.reason = reason
        }
    }

    package init(user: UInt32, finger: Finger, chance: Double?, leftOut: [LeftOut]) {
        self.user = user
        self.finger = finger
        self.chance = chance
        self.leftOut = leftOut
    }
}

/// A machine's limits for identifying one of several people.
package struct GroupRules: Sendable, Hashable {
    /// The maximum number of people in one request; 0 disables identification.
    package var mostPeople = 0
    /// The minimum number of strangers' touches per false match; 1 accepts any probability, even an unknown one.
    package var strangerOneIn = 100

    package init() {}
}
