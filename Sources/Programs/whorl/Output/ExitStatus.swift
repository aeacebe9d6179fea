// SPDX-License-Identifier: Apache-2.0

/// The exit status of the program.
///
/// Scripts rely on it, so the meaning of a number never changes.
enum ExitStatus: Int32, Sendable, CaseIterable {
    case success = 0
    /// A failure without a specific status.
    case failure = 1
    case authenticationFailed = 10
    case userCancel = 11
    case userFallback = 12
    case systemCancel = 13
    case passcodeNotSet = 14
    case biometryNotAvailable = 15
    case biometryNotEnrolled = 16
    case biometryLockout = 17
    case appCancel = 18
    case invalidContext = 19
    case notInteractive = 20
    case biometryDisconnected = 21
    /// The enrollment was changed, tampered with, or rolled back.
    case enrollmentUntrusted = 30
    case noTPM = 31
    case noSuchItem = 32
    /// The key or secret is no longer valid.
    case noLongerValid = 33
    case existsAlready = 34
    case readerInUse = 35
    /// The system's rules do not allow it.
    case notPermitted = 36
    case usage = 64
    /// The login server cannot be reached, or its response is not that of a login server.
    case serverUnavailable = 69
    /// The disk or the database failed.
    case storeFailed = 74
    /// The login server refused the request.
    case serverRefused = 77
}
