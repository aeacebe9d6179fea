// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import FoundationEssentials
import WhorlStateStore
import WhorlSupport

/// The content of the digest, which is the generation and the identifying data of each print.
///
/// Labels, names, match times and improved templates are excluded, because they may change without a finger being
/// added. The encoding, in which all numbers are big-endian, is as follows:
///
///     "WHES"  version: 1 byte, 1 without an epoch, 2 with one
///     only in version 2: epoch: 16 bytes
///     generation: 8 bytes  number of prints: 2 bytes
///     for each print, sorted by id:
///         id: 16 bytes  finger: 1 byte, 1...10
///         size of reader: 4 bytes  reader: UTF-8
///         SHA-256 of the template as it was enrolled: 32 bytes
struct EnrollmentSet: Hashable, Sendable {
    /// One print in the set.
    struct Member: Hashable, Sendable {
        let id: PrintID
        let finger: Finger
        let reader: ReaderID
        let templateDigest: Data
    }

    let generation: UInt64
    /// 16 random bytes from the last restart of the generations, which prevent a digest from reappearing, or `nil` if
    /// there was no restart.
    let epoch: Data?
    let members: [Member]

    init(generation: UInt64, epoch: Data? = nil, members: [Member]) {
        self.generation = generation
        self.epoch = epoch
        self.members = members.sorted { $0.id < $1.id }
    }

    private static let header = Data("WHES".utf8)
    private static let epochSize = 16

    /// Returns a random epoch that has never been used before.
    static func newEpoch() -> Data {
        Data((0..<epochSize).map { _ in UInt8.random(in: .min ... .max) })
    }

    /// The canonical bytes.
    ///
    /// Equal sets have equal bytes, and different sets have different bytes.
    var encoded: Data {
        var bytes = ByteWriter(EnrollmentSet.header)
        bytes.append(UInt8(epoch == nil ? 1 : 2))
        if let epoch { bytes.append(raw: epoch) }
        bytes.append(generation)
        bytes.append(UInt16(clamping: members.count))
        for member in members {
            bytes.append(raw: member.id.bytes)
            bytes.append(member.finger.number)
            bytes.append(sized: member.reader.rawValue)
            bytes.append(raw: member.templateDigest)
        }
        return Data(bytes.bytes)
    }

    /// Decodes a set, or returns `nil` for anything that ``encoded`` does not produce.
    init?(encoded: Data) {
        var bytes = ByteReader(encoded)
        guard bytes.take(EnrollmentSet.header.count) == EnrollmentSet.header,
            let version = bytes.number(UInt8.self), version == 1 || version == 2
        else { return nil }
        let epoch = version == 2 ? bytes.take(EnrollmentSet.epochSize) : nil
        guard (epoch != nil) == (version == 2),
            let generation = bytes.number(UInt64.self),
            let count = bytes.number(UInt16.self)
        else { return nil }
        var members: [Member] = []
        for _ in 0..<count {
            guard let id = bytes.take(16).flatMap(PrintID.init(bytes:)),
                let finger = bytes.number(UInt8.self).flatMap(Finger.init(number:)),
                let reader = bytes.text(),
                let digest = bytes.take(32)
            else { return nil }
            members.append(
                Member(id: id, finger: finger, reader: ReaderID(rawValue: reader), templateDigest: digest)
            )
        }
        guard bytes.isAtEnd else { return nil }
        self.init(generation: generation, epoch: epoch, members: members)
        // Members in another order would result in the same set with other bytes.
        guard self.encoded == encoded else { return nil }
    }

    /// Returns the digest for one program (32 bytes).
    ///
    /// - Parameters:
    ///   - application: The name of the program.
    ///   - keys: The keys, including the one for domain states, from which the program's key is derived.
    /// - Returns: The HMAC-SHA-256 of ``encoded``.
    func digest(application: String, keys: StateKeys) -> Data {
        EnrollmentSet.digest(of: encoded, application: application, keys: keys)
    }

    /// Returns the digest of a set that is already encoded.
    static func digest(of encoded: Data, application: String, keys: StateKeys) -> Data {
        keys.code(for: encoded, .domainState, info: "whorl domain state v1 \(application)")
    }
}

extension Finger {
    /// Creates the finger with a stored number, or returns `nil` if no finger has that number.
    init?(number: UInt8) {
        guard let finger = Finger.allCases.first(where: { $0.number == number }) else { return nil }
        self = finger
    }
}

extension PrintID {
    /// The 16 bytes that are represented by the 32 digits.
    var bytes: Data {
        let digits = description.utf8.map { $0 < 58 ? $0 - 48 : $0 - 87 }
        return Data(stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
    }

    /// Creates an ID from exactly 16 bytes, or returns `nil` for any other number of bytes.
    init?(bytes: Data) {
        let digits = Array("0123456789abcdef")
        self.init(String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }))
    }
}
