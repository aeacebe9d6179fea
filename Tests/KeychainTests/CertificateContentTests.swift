// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainServices
import Testing

@Suite struct `What a certificate says` {
    @Test(arguments: [30, 20_000]) func `its validity is the one that openssl prints`(days: Int) throws {
        let authority = try CertificateAuthority("/CN=Root")
        let bytes = try authority.issue("/CN=ada", for: softwareKey(256), days: days)
        let printed = try run(
            "openssl",
            ["x509", "-inform", "DER", "-noout", "-startdate", "-enddate", "-dateopt", "iso_8601"],
            input: bytes
        )
        let lines = try #require(String(data: printed, encoding: .utf8)).split(separator: "\n")
        let dates = try lines.map { line in
            let text = try #require(line.split(separator: "=").last).replacing(" ", with: "T")
            return try Date.ISO8601FormatStyle().parse(String(text))
        }
        try #require(dates.count == 2)
        let read = try certificate(bytes)
        #expect(SecCertificateCopyNotValidBeforeDate(read) as Date? == dates[0])
        #expect(SecCertificateCopyNotValidAfterDate(read) as Date? == dates[1])
        #expect(dates[1].timeIntervalSince(dates[0]) == Double(days) * 86_400)
    }

    @Test func `the leap day and the last second of a century are themselves`() throws {
        let bytes = try CertificateAuthority("/CN=Root").issue("/CN=ada", for: softwareKey(256), days: 20_000)
        let end = try #require(bytes.firstRange(of: Data([0x18, 15])))
        for (text, seconds) in [
            ("20000229235959Z", 951_868_799.0), ("20000301000000Z", 951_868_800), ("19691231235959Z", -1),
            ("20991231235959Z", 4_102_444_799), ("21000301000000Z", 4_107_542_400),
        ] {
            var changed = bytes
            changed.replaceSubrange(end.upperBound..<end.upperBound + 15, with: Data(text.utf8))
            let date = SecCertificateCopyNotValidAfterDate(try certificate(changed)) as Date?
            #expect(date == Date(timeIntervalSince1970: seconds), "\(text)")
        }
        for text in [
            "20000230000000Z", "20001301000000Z", "2000022900000-Z", "200002290000000", "20000229240000Z",
        ] {
            var changed = bytes
            changed.replaceSubrange(end.upperBound..<end.upperBound + 15, with: Data(text.utf8))
            #expect(SecCertificateCopyNotValidAfterDate(try certificate(changed)) == nil, "\(text)")
        }
    }

    @Test func `addresses of the alternative names come before that of the name`() throws {
        let authority = try CertificateAuthority("/CN=Root")
        let key = try softwareKey(256)
        for (subject, names, wanted) in [
            ("/CN=ada", nil as String?, [] as [String]),
            ("/CN=ada/emailAddress=ada@example.org", nil, ["ada@example.org"]),
            (
                "/CN=ada", "email:a@example.org,DNS:example.org,email:b@example.org",
                ["a@example.org", "b@example.org"]
            ),
            (
                "/CN=ada/emailAddress=c@example.org", "email:a@example.org",
                ["a@example.org", "c@example.org"]
            ),
            ("/CN=ada", "DNS:example.org", []),
        ] {
            let read = try certificate(authority.issue(subject, for: key, alternativeNames: names))
            var addresses: CFArray?
            #expect(SecCertificateCopyEmailAddresses(read, &addresses) == errSecSuccess)
            #expect(addresses as? [String] == wanted)
        }
    }
}
