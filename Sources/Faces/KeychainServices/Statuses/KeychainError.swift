// SPDX-License-Identifier: Apache-2.0

package import WhorlService

/// An error that occurs in a keychain call.
package struct KeychainError: Error, Sendable, Hashable {
    /// The status that the program receives.
    package let status: OSStatus
    /// The failure of the service that caused the error, if any.
    package let cause: ServiceError?

    /// Creates an error with a status.
    package init(_ status: OSStatus) {
        self.status = status
        cause = nil
    }

    /// Creates an error from a failure of the service.
    package init(_ error: ServiceError) {
        status = error.code.keychainStatus
        cause = error
    }
}
