// SPDX-License-Identifier: Apache-2.0

/// The sizes of a secret.
public enum SecretSize {
    /// The sizes that a secret may have, in bytes: 1 byte to 1 MiB.
    public static let allowed = 1...(1 << 20)
}
