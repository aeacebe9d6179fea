// SPDX-License-Identifier: Apache-2.0

package import SecretMemory

/// The state key in a file of 32 bytes, for a system without a TPM: it protects from another user and from a
/// copy of the database alone, not from a copy of the whole directory.
package struct FileKeySource: StateKeySource {
    package let path: String
    let directory: StateDirectory

    package init(directory: StateDirectory) {
        self.directory = directory
        self.path = directory.keyPath
    }

    package func load() throws(StateError) -> SecretBytes? { fatalError() }

    package func loadOrCreate() throws(StateError) -> SecretBytes { fatalError() }
}
