// SPDX-License-Identifier: Apache-2.0

extension SecCertificate: ItemReference {
    /// A certificate.
    package static let itemClass = ItemClass.certificate

    /// What the keychain stores: the bytes, and what they say.
    package func form() throws(KeychainError) -> ReferenceForm {
        ReferenceForm(
            .certificate,
            attributes: try ItemClass.certificate.attributes(described),
            contents: .plain(bytes)
        )
    }
}
