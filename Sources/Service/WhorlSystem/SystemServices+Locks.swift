// SPDX-License-Identifier: Apache-2.0

public import Fingerprint
internal import LibfprintReader

extension SystemServices {
    /// The reason why readers cannot be locked for one program of this user at a time; `nil` when each can.
    public var readerLockTrouble: ReaderError? { LibfprintSource.lockTrouble }
}
