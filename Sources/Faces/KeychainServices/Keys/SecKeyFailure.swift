// SPDX-License-Identifier: Apache-2.0

internal import WhorlService

extension ServiceError {
    /// The error to report if a key cannot be used.
    ///
    /// The error is in `LAErrorDomain` if the owner was not recognized or the context has ended. Otherwise, it has a
    /// status.
    var ofKeyUse: NSError { code.appleCode == nil ? statusOfKey : LAError(self)._nsError }

    /// The error to report if a key cannot be created.
    ///
    /// Creating a key does not prompt, so only errors of the context are in `LAErrorDomain`.
    var ofKeyMaking: NSError {
        [.invalidContext, .appCancel, .notInteractive].contains(code) ? LAError(self)._nsError : statusOfKey
    }

    private var statusOfKey: NSError {
        // A key that can never be used again is treated as missing.
        let isGone = [.chipCleared, .counterLost, .itemTampered].contains(code)
        return NSError(
            domain: NSOSStatusErrorDomain,
            code: Int(isGone ? errSecItemNotFound : code.keychainStatus),
            userInfo: [NSLocalizedDescriptionKey: message, NSUnderlyingErrorKey: self]
        )
    }
}

extension NSError {
    /// Creates an error with a status and a reason.
    static func status(_ status: OSStatus, _ reason: String) -> NSError { NSError(status: status, reason) }

    /// The status that corresponds to the error, for functions that return a status.
    var status: OSStatus {
        guard domain != NSOSStatusErrorDomain else { return OSStatus(code) }
        return (userInfo[NSUnderlyingErrorKey] as? ServiceError)?.code.keychainStatus ?? errSecAuthFailed
    }
}

/// A pointer through which one of Apple's functions returns its error.
typealias CFErrorPointer = UnsafeMutablePointer<Unmanaged<CFError>?>?

/// Runs the body of one of Apple's functions.
///
/// If the body fails, this function stores the error in the caller's pointer and returns `nil`.
func reporting<Value>(
    to error: CFErrorPointer,
    _ body: () throws(NSError) -> Value
) -> Value? {
    do throws(NSError) {
        return try body()
    } catch let failure {
        error?.pointee = .passRetained(failure)
        return nil
    }
}
