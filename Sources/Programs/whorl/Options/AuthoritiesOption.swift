// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import WhorlSupport

/// The option that specifies the certificate authorities to trust for a server.
struct AuthoritiesOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Trust the certificate authorities in this PEM file instead of the system’s",
            valueName: "file"
        ),
        completion: .file()
    )
    var cacert: String?

    /// The first certificate must begin within this many bytes; a bundle of all common authorities is about 200 KiB.
    private static let searched = 262_144

    /// Returns the path of the file; `nil` if none is specified.
    ///
    /// The file is also read here, because the network program can only report that a server is not trusted.
    func path() throws(Failure) -> String? {
        guard let cacert else { return nil }
        let file = open(cacert, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw unreadable(String(cString: strerror(errno))) }
        defer { close(file) }
        var status = stat()
        // The other program opens it again by name, and would find a pipe empty.
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw unreadable("Not a regular file")
        }
        var bytes = [UInt8](repeating: 0, count: Self.searched)
        let count = read(file, &bytes, bytes.count)
        guard count >= 0 else { throw unreadable(String(cString: strerror(errno))) }
        guard bytes.prefix(count).contains("CERTIFICATE-----".utf8) else {
            throw .usage(
                "No certificate in PEM format found in \(DisplayText.quoted(cacert)).",
                hint: "Convert one in DER format: `openssl x509 -inform DER -in FILE -out FILE.pem`."
            )
        }
        // A name such as /dev/fd/3 refers to another file in another process.
        guard let resolved = realpath(cacert, nil) else { return cacert }
        defer { free(resolved) }
        return String(validatingCString: resolved) ?? cacert
    }

    private func unreadable(_ reason: String) -> Failure {
        Failure(
            code: "usage",
            status: .usage,
            message: "Cannot read the certificate authorities in \(DisplayText.quoted(cacert ?? "")).",
            reason: reason,
            recovery: "Check its name and permissions; --cacert takes a PEM file."
        )
    }
}
