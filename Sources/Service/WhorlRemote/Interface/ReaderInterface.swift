// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlService

/// The connected readers (``ReaderService``).
enum ReaderInterface {
    struct List: ServiceOperation {
        typealias Reply = Valued<[ReaderInfo]>
        static let name = "io.whorl.Readers.List"
        static let rules = OperationRules(.repeatable, by: .unconfined)
    }

    struct Chosen: ServiceOperation {
        typealias Reply = ReaderInfo
        static let name = "io.whorl.Readers.Chosen"
        static let rules = OperationRules(.repeatable, by: .unconfined)
    }

    /// Opens a reader and closes it again, to check whether it can be used.
    struct TryOut: OfReader {
        typealias Reply = NoValue
        static let name = "io.whorl.Readers.TryOut"
        static let rules = OperationRules(change: "try a reader out", "readerTried", by: .unconfinedAtReader)

        let value: ReaderID
    }

    /// Reads the metadata of the prints stored in a reader; templates never leave the service.
    struct Prints: OfReader {
        typealias Reply = Valued<[EnrollmentMetadata]>
        static let name = "io.whorl.Readers.Prints"
        static let rules = OperationRules(.repeatable, by: .unconfinedAtReader)

        let value: ReaderID
    }

    struct LockTrouble: ServiceOperation {
        typealias Reply = Optionally<ReaderError>
        static let name = "io.whorl.Readers.LockTrouble"
        static let rules = OperationRules(.repeatable, by: .unconfined)
    }

    /// Sends an update for each reader that is connected or disconnected, until the caller closes the connection.
    struct Watch: ServiceOperation {
        typealias Reply = NoValue
        static let name = "io.whorl.Readers.Watch"
        static let rules = OperationRules(.once, by: .unconfined)
    }

    /// An operation on a reader that the caller identifies by its ID.
    protocol OfReader: ServiceOperation {
        var value: ReaderID { get }
    }
}
