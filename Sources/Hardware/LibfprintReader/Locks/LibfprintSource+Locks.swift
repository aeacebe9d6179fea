// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint

extension LibfprintSource {
    /// The error that keeps readers from being locked for one program of this user at a time; `nil` if they can be
    /// locked.
    ///
    /// Reading it creates the directory of the lock files if it does not exist.
    public static var lockTrouble: ReaderError? { ReaderLock.trouble() }
}
