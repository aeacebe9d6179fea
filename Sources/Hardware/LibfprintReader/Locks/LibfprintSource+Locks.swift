// SPDX-License-Identifier: Apache-2.0

public import Fingerprint

extension LibfprintSource {
    /// Why no reader can be locked for one program of this user at a time; `nil` when each can.
    ///
    /// It makes the directory of the lock files where there is none.
    public static var lockTrouble: ReaderError? { ReaderLock.trouble() }
}
