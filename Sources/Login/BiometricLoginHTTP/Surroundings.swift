// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import LoginAssertion

/// What the variables of the process would have libcurl do.
enum Surroundings {
    /// Whether a request goes straight to the server, and to no other.
    ///
    /// What is not encrypted goes to this machine alone (`LoginOrigin`), so it must not take the way over a proxy; what
    /// is encrypted may, since the certificate is the server's.
    static func areSound(for origin: LoginOrigin) -> Bool {
        guard origin.text.hasPrefix("http:") else { return true }
        let variables = ProcessInfo.processInfo.environment
        return URLSessionTransport.proxies.allSatisfy { variables[$0]?.isEmpty ?? true }
    }
}
