// SPDX-License-Identifier: Apache-2.0

extension SecKey {
    /// Puts a key that was made as a permanent one into the keychain.
    func store() throws(KeyFailure) {
        throw .status(errSecUnimplemented, "no keychain yet")
    }
}
