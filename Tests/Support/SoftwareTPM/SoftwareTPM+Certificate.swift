// SPDX-License-Identifier: Apache-2.0

/// The maker of a simulated TPM, which certifies its endorsement key as the makers of real ones do.
extension SoftwareTPM {
    /// The kinds of endorsement keys that makers certify.
    public enum Endorsement: Sendable, CaseIterable {
        case p256
        case rsa2048
        /// RSA, and the key stays in the chip, where makers and firmware put it.
        case keptRSA2048

        fileprivate var algorithm: String { self == .p256 ? "ecc" : "rsa" }
        /// What tpm2-tools use the key by, once it was made.
        fileprivate var context: String { self == .keptRSA2048 ? "0x81010001" : "ek.ctx" }
        /// The index where a maker puts the certificate.
        fileprivate var certificateIndex: String { self == .p256 ? "0x1c0000a" : "0x1c00002" }
        fileprivate var usage: String { self == .p256 ? "keyAgreement" : "keyEncipherment" }
    }

    /// Has openssl make a maker's authority, and a certificate of the endorsement key, which is put into the TPM.
    ///
    /// Afterwards ``directory`` has the authority's certificate, `maker.pem`, and the endorsement key's public area, `ek.pub`.
    ///
    /// - Parameters:
    ///   - maker: The directory of a chip whose maker certifies this one too; `nil` for a maker of its own.
    ///   - key: The kind of the endorsement key.
    ///   - days: The days for which the certificate is valid.
    ///   - padding: The number of bytes behind the certificate in the TPM.
    /// - Returns: The certificate, X.509 in DER.
    /// - Throws: When a tool fails.
    @discardableResult
    public func certify(
        by maker: SoftwareTPM? = nil,
        _ key: Endorsement = .p256,
        days: Int = 30,
        padding: Int = 0
    ) throws -> [UInt8] {
        try must(tool("createek", "-Q", "-G", key.algorithm, "-c", key.context, "-u", "ek.pub"))
        try must(tool("readpublic", "-Q", "-c", key.context, "-f", "pem", "-o", "ek.pem"))
        try must(tool("flushcontext", "-t"))
        if let maker {
            for name in ["maker.pem", "maker.key"] { try write(maker.read(name), to: name) }
        } else {
            try makeAuthority()
        }
        // As the TCG's profile wants it: no subject, and the TPM's maker, model and version in the alternative name.
        let extensions = """
            basicConstraints = critical, CA:FALSE
            keyUsage = critical, \(key.usage)
            extendedKeyUsage = 2.23.133.8.1
            subjectAltName = critical, dirName:tpm
            [tpm]
            1.2.23.133.2.1 = id:00001014
            2.2.23.133.2.2 = swtpm
            3.2.23.133.2.3 = id:20191023
            """
        try write(Array(extensions.utf8), to: "ek.cnf")
        try must(
            run(
                "openssl",
                "x509",
                "-new",
                "-force_pubkey",
                "ek.pem",
                "-subj",
                "/",
                "-CA",
                "maker.pem",
                "-CAkey",
                "maker.key",
                "-days",
                "\(days)",
                "-extfile",
                "ek.cnf",
                "-outform",
                "DER",
                "-out",
                "ek.der"
            )
        )
        let certificate = try read("ek.der")
        let kept = certificate + Array(repeating: 0xff, count: padding)
        try write(kept, to: "ek.nv")
        try must(
            tool(
                "nvdefine",
                "-Q",
                key.certificateIndex,
                "-C",
                "o",
                "-s",
                "\(kept.count)",
                "-a",
                "ownerread|ownerwrite|authread|no_da"
            )
        )
        try must(tool("nvwrite", "-Q", key.certificateIndex, "-C", "o", "-i", "ek.nv"))
        return certificate
    }

    private func makeAuthority() throws {
        try must(
            run(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:P-256",
                "-nodes",
                "-keyout",
                "maker.key",
                "-out",
                "maker.pem",
                "-subj",
                "/CN=A maker of TPMs",
                "-days",
                "365",
                "-addext",
                "keyUsage=critical,keyCertSign"
            )
        )
    }

    private func must(_ result: ToolResult) throws {
        guard result.status == 0 else { throw CertificateError(words: result.errors) }
    }
}

/// What a tool complained about.
struct CertificateError: Error {
    let words: String
}
