// SPDX-License-Identifier: Apache-2.0

internal import AuthenticationContext

/// Keys that are made in the chip, the TPM, and never leave it.
///
///     let key = try SecureEnclave.P256.Signing.PrivateKey()
///     let signature = try key.signature(for: message)
///
/// It has the names and the behaviour of CryptoKit's. A key lies with the program, as its `dataRepresentation`: bytes that
/// hold no secret, and that only the chip that made them can use, for the user whose vault it was.
public enum SecureEnclave {
    /// Whether there is a chip that this user may use.
    ///
    /// It looks anew each time, makes nothing, and blocks the caller meanwhile.
    public static var isAvailable: Bool {
        let parts = ContextParts.current
        return WorkerThread.preflights.wait { await parts.hasChip() }
    }

    /// Keys on the curve P-256, the only one that the chip does.
    public enum P256 {
        /// Keys that sign.
        public enum Signing {}
        /// Keys that agree on secrets.
        public enum KeyAgreement {}
    }
}
