// SPDX-License-Identifier: Apache-2.0

package import CGLib

/// The content of a `GError`, copied out of the C object.
package struct GErrorText: Sendable {
    /// The error's domain as a quark, for comparison with the `…_quark()` functions.
    package let domain: GQuark
    /// The number within the domain.
    package let code: Int
    /// The domain's name, the number and the message, for logs.
    package let text: String

    /// Takes and frees `error` (transfer full); `nil` if `error` is null.
    package init?(taking error: UnsafeMutablePointer<GError>?) {
        guard let error else { return nil }
        self.init(copying: error)
        g_error_free(error)
    }

    /// Copies `error` (transfer none).
    package init(copying error: UnsafePointer<GError>) {
        domain = error.pointee.domain
        code = Int(error.pointee.code)
        let name = g_quark_to_string(domain).map { String(cString: $0) } ?? "unknown"
        let message = error.pointee.message.map { String(cString: $0) } ?? "no message"
        text = "\(name) \(code): \(message)"
    }
}
