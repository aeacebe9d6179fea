// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird

/// A file embedded in the program.
struct Asset: Sendable {
    let mediaType: String
    let bytes: [UInt8]

    static let openAPI = Asset(mediaType: "application/yaml", bytes: PackageResources.openapi_yaml)
    static let adminOpenAPI = Asset(mediaType: "application/yaml", bytes: PackageResources.admin_yaml)
    static let accountPage = Asset(
        mediaType: "text/html; charset=utf-8",
        bytes: PackageResources.account_html
    )
    static let accountStyle = Asset(mediaType: "text/css; charset=utf-8", bytes: PackageResources.account_css)
    static let accountScript = Asset(
        mediaType: "text/javascript; charset=utf-8",
        bytes: PackageResources.account_js
    )
    static let icon = Asset(mediaType: "image/svg+xml", bytes: PackageResources.icon_svg)

    /// The content security policy of the page: it loads nothing from elsewhere, sends nothing elsewhere, and cannot be
    /// framed.
    ///
    /// Inline code does not run: script and style are separate files.
    static let contentSecurityPolicy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
        base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'
        """

    var handler: Endpoint.Handler {
        { _, _ in
            var response = Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
            response.headers[.contentType] = mediaType
            response.headers[.contentSecurityPolicy] = Self.contentSecurityPolicy
            // A new version of the server contains a new version of the page.
            response.headers[.cacheControl] = "no-cache"
            return response
        }
    }
}
