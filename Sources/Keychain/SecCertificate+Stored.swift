// SPDX-License-Identifier: Apache-2.0

extension SecCertificate: ItemReference {
    /// What the keychain stores: the bytes, and what they say.
    package func form() throws(KeychainError) -> ReferenceForm {
        ReferenceForm(
            .certificate,
            attributes: try ItemClass.certificate.attributes(described),
            contents: .plain(bytes)
        )
    }
}
