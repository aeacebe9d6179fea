// SPDX-License-Identifier: Apache-2.0

public import Fingerprint
internal import LibfprintReader

extension SystemServices {
    /// Why no reader can be locked for one program of this user at a time; `nil` when each can.
    public var readerLockTrouble: ReaderError? { LibfprintSource.lockTrouble }
}
