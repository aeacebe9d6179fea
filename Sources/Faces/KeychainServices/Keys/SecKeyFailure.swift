// SPDX-License-Identifier: Apache-2.0

internal import WhorlService

/// An error of an operation with a key.
enum KeyFailure: Error {
    /// A status, with the reason in words.
    case status(OSStatus, String)
    /// The owner was not recognised, or the context has ended.
    case context(LAError)
    /// The vault or the chip refused.
    case vault(VaultError)

    init(_ failure: ReleaseFailure) {
        switch failure {
        case .context(let error): self = .context(error)
        case .vault(let error): self = .vault(error)
        }
    }

    /// The error that the program receives: the error of `LAErrorDomain` if the owner was not recognised, otherwise an
    /// error with a status.
    var cfError: CFError {
        switch self {
        case .status(let status, let reason): NSError(status: status, reason)
        case .context(let error): error._nsError
        case .vault(let error): NSError(status: error.keyStatus, error.message, underlying: error)
        }
    }
}

extension VaultError {
    /// The status for a key that the vault or the chip refused to use or to make.
    var keyStatus: OSStatus {
        switch code {
        case .noChip, .passcodeNotSet, .noEndorsement: errSecNotAvailable
        // An item that can never be opened again counts as missing.
        case .enrollmentChanged, .noSuchItem, .itemTampered, .chipCleared, .counterLost: errSecItemNotFound
        case .accessDenied, .applicationPasswordNeeded, .applicationPasswordWrong, .passcodeWrong,
            .passcodeThrottled, .passcodeBusy, .applicationPasswordThrottled, .measuredBootChanged,
            .chipLockedOut:
            errSecAuthFailed
        case .accessRefused, .nameRefused, .secretEmpty, .secretTooLarge, .digestWrongSize,
            .passcodeWrongSize,
            .publicKeyRefused, .credentialRefused:
            errSecParam
        case .itemExists, .passcodeExists: errSecDuplicateItem
        case .chipBusy, .chipCrowded, .chipFailed, .chipFull, .ownerAuthorizationNeeded, .passcodeNeeded,
            .store:
            errSecIO
        }
    }
}

extension NSError {
    fileprivate convenience init(status: OSStatus, _ reason: String, underlying: any Error) {
        self.init(
            domain: NSOSStatusErrorDomain,
            code: Int(status),
            userInfo: [NSLocalizedDescriptionKey: reason, NSUnderlyingErrorKey: underlying]
        )
    }
}

/// A pointer through which one of Apple's functions returns its error.
typealias CFErrorPointer = UnsafeMutablePointer<Unmanaged<CFError>?>?

/// Runs a body for another module of the package, which receives the error that a program would receive.
func throwing<Value>(_ body: () throws(KeyFailure) -> Value) throws(NSError) -> Value {
    do throws(KeyFailure) {
        return try body()
    } catch let failure {
        throw failure.cfError
    }
}

/// Runs the body of one of Apple's functions; if it fails, stores its error at the caller's pointer and returns `nil`.
func reporting<Value>(
    to error: CFErrorPointer,
    _ body: () throws(KeyFailure) -> Value
) -> Value? {
    do throws(KeyFailure) {
        return try body()
    } catch let failure {
        error?.pointee = .passRetained(failure.cfError)
        return nil
    }
}
