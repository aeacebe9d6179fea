// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The memory and the descriptors that all connections of one user hold together, so that many of them hold no more than one
/// may.
///
/// Messages count from their first byte until they have been answered, and answers until the client has read them.
final class UserShare: Sendable {
    private struct Held {
        var bytes = 0
        var descriptors = 0
    }

    private let mostBytes: Int
    private let mostDescriptors: Int
    private let held = Mutex(Held())

    /// Allows so many bytes and descriptors.
    init(mostBytes: Int, mostDescriptors: Int) {
        self.mostBytes = mostBytes
        self.mostDescriptors = mostDescriptors
    }

    /// The number of bytes that are held now.
    var bytesHeld: Int { held.withLock(\.bytes) }

    /// The number of descriptors that are held now.
    var descriptorsHeld: Int { held.withLock(\.descriptors) }

    /// Counts bytes and descriptors that came or went.
    ///
    /// - Returns: `false` when more came, and more are held now than may be; they count all the same until they go.
    func change(bytes: Int, descriptors: Int) -> Bool {
        held.withLock { held in
            held.bytes += bytes
            held.descriptors += descriptors
            return (bytes <= 0 || held.bytes <= mostBytes)
                && (descriptors <= 0 || held.descriptors <= mostDescriptors)
        }
    }

    /// Counts the messages that came or went.
    func change(by messages: [Frame], _ sign: Int) -> Bool {
        change(
            bytes: sign * messages.reduce(0) { $0 + $1.bytes.count },
            descriptors: sign * messages.reduce(0) { $0 + $1.descriptors.count }
        )
    }
}

extension ServiceRefusal {
    /// The refusal of what exceeds a user's share of the service.
    ///
    /// - Parameter what: The share, such as `connections`.
    /// - Returns: The refusal, which names the share.
    static func quota(_ what: String) -> ServiceRefusal {
        ServiceRefusal(
            "io.whorl.Connection.QuotaReached",
            [
                "quota": what,
                "message": "The programs of this user hold as many \(what) of the service as one user may.",
                "recovery": "End the program that holds them; `journalctl -u whorld` names those that ask.",
            ]
        )
    }

    /// The refusal of a connection where the service has as many as it can take from all users.
    static let crowded = ServiceRefusal(
        "io.whorl.Connection.QuotaReached",
        [
            "quota": "all connections",
            "message": "The service has as many connections as it takes from all users together.",
            "recovery": "Try again in a moment.",
        ]
    )
}

/// The contents of a call, which its handler lets go as soon as it has read them.
final class CallContents: Sendable {
    private let kept: Mutex<[UInt8]>

    init(_ bytes: [UInt8]) { kept = Mutex(bytes) }

    /// The JSON of the call; empty once it was let go.
    var bytes: [UInt8] { kept.withLock(\.self) }

    /// Frees the memory.
    func letGo() { kept.withLock { $0 = [] } }
}
