// SPDX-License-Identifier: Apache-2.0

package import WhorlService

extension SecCertificate: ItemReference {
    /// The item class of certificates.
    package static let itemClass = KeychainClass.certificate

    /// Returns the form in which the keychain stores the certificate: its bytes and the attributes parsed from them.
    package func form() throws(KeychainError) -> ReferenceForm {
        ReferenceForm(
            .certificate,
            attributes: try KeychainClass.certificate.attributes(described),
            contents: .plain(bytes)
        )
    }
}
