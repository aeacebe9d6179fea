// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint

/// The person of a small group who touched the reader.
///
/// It tells who is there, as a list of guests does. It opens no item and is no login: the more people, the more often a
/// stranger is taken for one of them (``chance``).
public struct IdentifiedPerson: Sendable, Hashable, Codable {
    /// The number of the user.
    public let user: UInt32
    /// The finger that matched.
    public let finger: Finger
    /// The chance that one touch of a stranger is taken for somebody of this group, from 0 to 1; `nil` where it is not known.
    public let chance: Double?
    /// The number of strangers' touches of which about one is taken for somebody; `nil` where it is not known.
    public var strangerOneIn: Int? { chance.flatMap { Int(exactly: (1 / $0).rounded(.down)) } }
    /// The users whose fingers were not compared, with the code of the reason.
    public let leftOut: [LeftOut]

    /// A user whose fingers were not compared.
    public struct LeftOut: Sendable, Hashable, Codable {
        /// The number of the user.
        public let user: UInt32
        /// The reason.
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

/// The limits of a machine for identifying one of several people.
package struct GroupRules: Sendable, Hashable {
    /// The most people of one question; 0 allows none.
    package var mostPeople = 0
    /// The least number of strangers' touches of which one may be taken for somebody; 1 takes any chance, also an unknown one.
    package var strangerOneIn = 100

    package init() {}
}
