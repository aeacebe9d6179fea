// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint

/// A class of readers whose tries are counted together.
///
/// The class follows from the code that made the reader (``ReaderInfo/Kind``), never from a text: a script, a variable
/// or a device can take any name, and none of them can make a mock real. Tries are not counted for each reader's
/// identity: then every further reader that is plugged in, or claims to be another one, would bring five tries of its
/// own.
///
/// So a match on a mock does not reset the tries on a real reader, and failures on a mock do not lock a real one.
public enum ReaderClass: String, Sendable, Hashable, CaseIterable, Codable {
    /// Hardware that a driver speaks to.
    case real
    /// A script, or one of libfprint's virtual readers.
    case pretended

    /// Makes the class of a kind of reader.
    public init(_ kind: ReaderInfo.Kind) {
        switch kind {
        case .hardware: self = .real
        case .virtual, .mock: self = .pretended
        }
    }
}
