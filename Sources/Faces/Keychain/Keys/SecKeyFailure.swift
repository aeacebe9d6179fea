// SPDX-License-Identifier: Apache-2.0

internal import Vault

/// Why a key did not do what was asked.
enum KeyFailure: Error {
    /// A status, and in words why.
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

    /// The error that the program gets: of `LAErrorDomain` when the owner was not recognised, as it is, and else a status.
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
        case .noChip, .passcodeNotSet: errSecNotAvailable
        // What can never be opened again is not there.
        case .enrollmentChanged, .noSuchItem, .itemTampered, .chipCleared, .counterLost: errSecItemNotFound
        case .accessDenied, .applicationPasswordNeeded, .applicationPasswordWrong, .passcodeWrong,
            .passcodeThrottled, .measuredBootChanged, .chipLockedOut:
            errSecAuthFailed
        case .accessRefused, .nameRefused, .secretEmpty, .secretTooLarge, .digestWrongSize,
            .passcodeWrongSize,
            .publicKeyRefused:
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

/// Where a function of Apple's leaves its error.
typealias CFErrorPointer = UnsafeMutablePointer<Unmanaged<CFError>?>?

/// Does something for another module of the package, which gets the error that a program would get.
func throwing<Value>(_ body: () throws(KeyFailure) -> Value) throws(NSError) -> Value {
    do throws(KeyFailure) {
        return try body()
    } catch let failure {
        throw failure.cfError
    }
}

/// Does what a function of Apple's shall do; its error goes where the caller wants it, and `nil` says that there is one.
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
