// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import WhorlLibfprint
internal import WhorlFingerprint
internal import WhorlRemote
internal import WhorlService
internal import WhorlUSB

/// The rule that a real reader belongs to the system service.
///
/// Mock, virtual and emulated readers belong to the program that selects them.
enum ReaderOwnership {
    /// Throws if a reader is a real one that this process cannot use.
    static func refuse(_ reader: any FingerprintReader) async throws(ServiceError) {
        guard let reader = reader as? LibfprintReader, let node = await reader.node else { return }
        guard !ServiceInstallation().isInstalled else { throw .readerIsTheServices }
        guard access(node.path, R_OK | W_OK) == 0 else { throw .readerNeedsService }
    }

    /// Throws if a connected reader is missing from libfprint's list because this process cannot open it.
    static func refuseUnlisted(isService: Bool) throws(ServiceError) {
        guard !isService, let device = USBReaders.connected().first, !device.isAccessible else { return }
        throw ServiceInstallation().isInstalled ? .readerIsTheServices : .readerNeedsService
    }
}

extension ServiceError {
    fileprivate static var readerIsTheServices: ServiceError {
        ServiceError(
            .readerNotPermitted,
            message: "The fingerprint reader is reserved for the service whorld.",
            recovery: """
                Let the service use it: leave out WHORL_SERVICE, and options and variables that choose a directory, a \
                profile, a reader or a TPM.
                """,
            cause: "the reader's device node belongs to the service"
        )
    }

    fileprivate static var readerNeedsService: ServiceError {
        ServiceError(
            .readerNotPermitted,
            message:
                "Using the fingerprint reader requires the service whorld.",
            recovery: "Ask an administrator to install it: the package whorld, or `sudo make install`.",
            cause: "you are not allowed to open the reader's device node"
        )
    }
}
