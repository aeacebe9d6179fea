// SPDX-License-Identifier: Apache-2.0

import CWhorlCurl
import Glibc
import LoginTransport
import WhorlSecretMemory

/// One login request and its response, exchanged with libcurl.
///
/// It does not follow redirects, does not store cookies, credentials or responses, and stops reading a response that is
/// larger than any in the protocol. It requires TLS 1.2 or later, and verifies the server's certificate and name.
///
/// This program stores the password and the token in locked memory. libcurl and the TLS library copy sent and received
/// data to buffers that are never wiped. These buffers exist only until the process exits, and no other process of the
/// user can read its memory.
struct CurlRequest {
    private let request: LoginRequest
    private let authorities: String?

    /// The maximum time for the whole request, in milliseconds.
    private static let wait = 30_000
    /// The maximum size of a response's header, in bytes; the header of a login response is smaller than 1 KiB.
    fileprivate static let longestHeader = 16_384

    /// - Parameters:
    ///   - request: The request.
    ///   - authorities: A PEM file of the certificate authorities to trust; `nil` for the system's.
    init(_ request: LoginRequest, authorities: String?) {
        self.request = request
        self.authorities = authorities
    }

    /// Sends the request and returns the response, regardless of its status; blocks the caller.
    func send() -> Result<LoginResponse, LoginTransportError> {
        guard curl_global_init(whorl_curl_global_default) == CURLE_OK, let handle = curl_easy_init() else {
            return .failure(.failed)
        }
        defer { curl_easy_cleanup(handle) }
        var options = Options(handle: handle)
        setServer(&options)
        let answer = Answer()
        return withExtendedLifetime(answer) {
            answer.receive(&options)
            return withBody(&options) { options in
                withHeader(&options) { options in
                    guard options.areSet else { return .failure(.failed) }
                    return answer.outcome(of: curl_easy_perform(handle), handle)
                }
            }
        }
    }

    /// Whether the program that reads the answer has exited.
    private static var hasNoReader: Bool {
        var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
        return poll(&output, 1, 0) > 0 && output.revents & Int16(POLLERR | POLLHUP) != 0
    }

    private func setServer(_ options: inout Options) {
        let origin = request.origin.text
        let isSecure = origin.hasPrefix("https:")
        options.set(CURLOPT_URL, origin + request.path)
        options.set(CURLOPT_PATH_AS_IS, 1)
        options.take(whorl_curl_set_protocol(options.handle, isSecure ? 1 : 0))
        options.set(CURLOPT_FOLLOWLOCATION, 0)
        // One request does not need more, and HTTP/1 has less code that parses network data.
        options.set(CURLOPT_HTTP_VERSION, whorl_curl_http_1_1)
        options.set(CURLOPT_HTTP09_ALLOWED, 0)
        options.set(CURLOPT_NETRC, whorl_curl_netrc_ignored)
        options.set(CURLOPT_TIMEOUT_MS, Self.wait)
        options.set(CURLOPT_NOSIGNAL, 1)
        // A request ends if no one will read its answer, because the calling program was killed.
        options.take(whorl_curl_set_watch(options.handle) { _, _, _, _, _ in Self.hasNoReader ? 1 : 0 })
        options.take(whorl_curl_set_quick_exit(options.handle))
        // Unencrypted requests stay on this machine; a proxy would forward them elsewhere. An empty string disables the
        // proxy.
        if !isSecure { options.set(CURLOPT_PROXY, "") }
        // A proxy on the way to a TLS server learns the server's name, but neither password nor token.
        options.set(CURLOPT_HEADEROPT, whorl_curl_header_separate)
        options.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        options.set(CURLOPT_SSLVERSION, whorl_curl_tls_1_2)
        options.set(CURLOPT_SSL_VERIFYPEER, 1)
        options.set(CURLOPT_SSL_VERIFYHOST, 2)
        guard let authorities else { return }
        options.set(CURLOPT_CAINFO, authorities)
        // Otherwise, Debian's libcurl also searches the system's folder.
        options.set(CURLOPT_CAPATH, nil)
    }

    /// Sets the method and the body while `perform` runs, because libcurl reads the body in place.
    private func withBody<Value>(_ options: inout Options, _ perform: (inout Options) -> Value) -> Value {
        guard let body = request.body else {
            options.set(CURLOPT_HTTPGET, 1)
            options.set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
            return perform(&options)
        }
        return body.bytes.withUnsafeBytes { bytes in
            options.set(CURLOPT_POST, 1)
            options.set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
            options.take(
                whorl_curl_set_size(options.handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(bytes.count))
            )
            // Without an address, libcurl would read standard input.
            if let start = bytes.baseAddress {
                options.take(whorl_curl_set_pointer(options.handle, CURLOPT_POSTFIELDS, start))
            } else {
                options.set(CURLOPT_POSTFIELDS, "")
            }
            return perform(&options)
        }
    }

    /// Sets the header fields while `perform` runs.
    private func withHeader<Value>(_ options: inout Options, _ perform: (inout Options) -> Value) -> Value {
        var list: UnsafeMutablePointer<curl_slist>?
        defer { curl_slist_free_all(list) }
        // Do not ask the server whether it would accept a body of this size.
        for line in request.fields.map({ "\($0.name): \($0.value)" }) + ["Expect:"] {
            guard let longer = curl_slist_append(list, line) else {
                options.take(CURLE_OUT_OF_MEMORY)
                break
            }
            list = longer
        }
        guard let authorization = request.authorization else {
            options.take(whorl_curl_set_pointer(options.handle, CURLOPT_HTTPHEADER, list))
            return perform(&options)
        }
        let line = Self.line(authorization)
        return line.withUnsafeBytes { bytes in
            // A line break would start another field, or the body.
            options.take(
                bytes.dropLast().allSatisfy { (0x20..<0x7F).contains($0) }
                    ? CURLE_OK : CURLE_BAD_FUNCTION_ARGUMENT
            )
            // curl_slist_append() would copy the secret to ordinary memory. libcurl only reads the list.
            let text = UnsafeMutableRawPointer(mutating: bytes.baseAddress)?
                .assumingMemoryBound(to: CChar.self)
            var first = curl_slist(data: text, next: list)
            return withUnsafePointer(to: &first) { first in
                options.take(whorl_curl_set_pointer(options.handle, CURLOPT_HTTPHEADER, first))
                return perform(&options)
            }
        }
    }

    /// Returns the header field with the user's credentials, as a C string.
    private static func line(_ authorization: SecretBox) -> SecretBytes {
        let name = "Authorization: "
        var line = SecretBuffer(capacity: name.utf8.count + authorization.bytes.count + 1)
        line.append(contentsOf: name.utf8)
        line.append(contentsOf: authorization.bytes)
        _ = line.append(0)
        return line.take()
    }
}

/// The options of a request.
///
/// If libcurl refuses one, the request is not sent.
private struct Options {
    let handle: UnsafeMutableRawPointer
    private(set) var areSet = true

    init(handle: UnsafeMutableRawPointer) { self.handle = handle }

    mutating func take(_ status: CURLcode) { areSet = areSet && status == CURLE_OK }

    mutating func set(_ option: CURLoption, _ value: Int) {
        take(whorl_curl_set_number(handle, option, value))
    }

    mutating func set(_ option: CURLoption, _ value: String?) {
        take(whorl_curl_set_text(handle, option, value))
    }
}

/// A response while it is being received.
private final class Answer {
    private var body = SecretBuffer(capacity: LoginResponse.longestBody)
    private var headerSize = 0
    private var isTooLarge = false

    /// Makes libcurl pass the response to this object, which must outlive the request.
    func receive(_ options: inout Options) {
        let context = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
        // Stops early if the response announces too large a size.
        options.take(
            whorl_curl_set_size(
                options.handle,
                CURLOPT_MAXFILESIZE_LARGE,
                curl_off_t(LoginResponse.longestBody)
            )
        )
        options.take(whorl_curl_set_pointer(options.handle, CURLOPT_HEADERDATA, context))
        options.take(
            whorl_curl_set_receiver(options.handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
                Answer.from(context)?.takeHeader(size * count) == true ? size * count : 0
            }
        )
        options.take(whorl_curl_set_pointer(options.handle, CURLOPT_WRITEDATA, context))
        options.take(
            whorl_curl_set_receiver(options.handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
                let part = UnsafeRawBufferPointer(start: bytes, count: size * count)
                return Answer.from(context)?.takeBody(part) == true ? part.count : 0
            }
        )
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> Answer? {
        context.map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }

    /// Counts a line of a header, including those of interim responses, or of a trailer; returning `false` ends the
    /// request.
    private func takeHeader(_ size: Int) -> Bool {
        headerSize += size
        if headerSize > CurlRequest.longestHeader { isTooLarge = true }
        return !isTooLarge
    }

    /// Appends a part of the body; returning `false` ends the request.
    private func takeBody(_ part: UnsafeRawBufferPointer) -> Bool {
        if !body.append(contentsOf: part) { isTooLarge = true }
        return !isTooLarge
    }

    func outcome(
        of status: CURLcode,
        _ handle: UnsafeMutableRawPointer
    ) -> Result<LoginResponse, LoginTransportError> {
        if isTooLarge { return .failure(.tooLarge) }
        guard status == CURLE_OK else { return .failure(LoginTransportError(status)) }
        var number = 0
        guard whorl_curl_get_number(handle, CURLINFO_RESPONSE_CODE, &number) == CURLE_OK, number > 0 else {
            return .failure(.malformed)
        }
        var wait: curl_off_t = 0
        let hasWait = whorl_curl_get_size(handle, CURLINFO_RETRY_AFTER, &wait) == CURLE_OK && wait > 0
        return .success(
            LoginResponse(
                status: number,
                contentType: whorl_curl_get_text(handle, CURLINFO_CONTENT_TYPE).map { String(cString: $0) },
                retryAfter: hasWait ? Int(wait) : nil,
                body: SecretBox(body.take())
            )
        )
    }
}

extension LoginTransportError {
    /// Creates the error that corresponds to a libcurl status.
    fileprivate init(_ status: CURLcode) {
        switch status {
        case CURLE_OPERATION_TIMEDOUT: self = .timedOut
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT, CURLE_PROXY,
            CURLE_SEND_ERROR, CURLE_RECV_ERROR:
            self = .unreachable
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER: self = .notSecured
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_CERTPROBLEM, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
            self = .notTrusted
        // libcurl stores a header line in memory up to a limit, and reports a longer one as out of memory, or as
        // CURLE_TOO_LARGE (8.6), which older headers do not have.
        case CURLE_FILESIZE_EXCEEDED, CURLE_OUT_OF_MEMORY, CURLcode(rawValue: 100): self = .tooLarge
        // The first is HTTP/0.9, which has neither status nor header.
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE,
            CURLE_BAD_CONTENT_ENCODING:
            self = .malformed
        default: self = .failed
        }
    }
}
