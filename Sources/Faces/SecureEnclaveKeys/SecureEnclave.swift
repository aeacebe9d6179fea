// SPDX-License-Identifier: Apache-2.0

internal import AuthenticationContext
internal import GLibRuntime

/// Keys that are made in the chip, the TPM, and never leave it.
///
///     let key = try SecureEnclave.P256.Signing.PrivateKey()
///     let signature = try key.signature(for: message)
///
/// It has the names and the behaviour of CryptoKit's. The program stores a key as its `dataRepresentation`: bytes that
/// are not secret, and that only the chip that made them can use, for the user whose vault it was.
public enum SecureEnclave {
    /// Whether this machine has a chip that this user may use.
    ///
    /// It checks the machine on every call, creates nothing, and blocks the caller until the check is done.
    public static var isAvailable: Bool {
        let parts = ContextParts.current
        return WorkerThread.preflights.wait { await parts.hasChip() }
    }

    /// Keys on the curve P-256, the only curve that the chip supports.
    public enum P256 {
        /// Keys that sign.
        public enum Signing {}
        /// Keys that agree on secrets.
        public enum KeyAgreement {}
    }
}
