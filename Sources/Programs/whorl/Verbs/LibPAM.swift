// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The system's libpam.
///
/// It is loaded only for a trial, because the rest of this program does not use it.
struct LibPAM {
    private typealias Talk =
        @convention(c) (
            CInt, UnsafePointer<UnsafeRawPointer?>?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
            UnsafeMutableRawPointer?
        ) -> CInt
    private typealias Start =
        @convention(c) (
            UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeRawPointer, UnsafePointer<CChar>,
            UnsafeMutablePointer<OpaquePointer?>
        ) -> CInt
    private typealias SetItem = @convention(c) (OpaquePointer, CInt, UnsafeRawPointer) -> CInt
    private typealias Authenticate = @convention(c) (OpaquePointer, CInt) -> CInt
    private typealias ErrorText = @convention(c) (OpaquePointer, CInt) -> UnsafePointer<CChar>?

    /// The number of the PAM item for the terminal (`PAM_TTY`).
    private static let terminalItem: CInt = 3
    private static let success: CInt = 0

    private let start: Start
    private let setItem: SetItem
    private let authenticate: Authenticate
    private let end: Authenticate
    private let errorText: ErrorText

    /// Loads the library; returns `nil` if it is not installed, or cannot read files from another folder (before 1.4).
    init?() {
        guard let library = dlopen("libpam.so.0", RTLD_NOW | RTLD_LOCAL) else { return nil }
        guard let start = dlsym(library, "pam_start_confdir"), let setItem = dlsym(library, "pam_set_item"),
            let authenticate = dlsym(library, "pam_authenticate"), let end = dlsym(library, "pam_end"),
            let errorText = dlsym(library, "pam_strerror")
        else { return nil }
        self.start = unsafeBitCast(start, to: Start.self)
        self.setItem = unsafeBitCast(setItem, to: SetItem.self)
        self.authenticate = unsafeBitCast(authenticate, to: Authenticate.self)
        self.end = unsafeBitCast(end, to: Authenticate.self)
        self.errorText = unsafeBitCast(errorText, to: ErrorText.self)
    }

    /// Authenticates a user with a service's file in a folder; returns `nil` on success, otherwise libpam's message.
    func authenticate(
        _ service: String,
        _ user: String,
        in folder: String,
        on terminal: String
    ) -> String? {
        let talk: Talk = { count, messages, responses, _ in
            TerminalConversation.answer(count, messages, responses)
        }
        // The library copies the pair: the function, and its argument.
        var conversation = (unsafeBitCast(talk, to: UnsafeRawPointer.self), UnsafeRawPointer?.none)
        var handle: OpaquePointer?
        guard start(service, user, &conversation, folder, &handle) == Self.success, let handle else {
            return "cannot start libpam"
        }
        var result = terminal.withCString { setItem(handle, Self.terminalItem, $0) }
        if result == Self.success { result = authenticate(handle, 0) }
        let sentence =
            result == Self.success
            ? nil : errorText(handle, result).map { String(cString: $0) } ?? "error \(result)"
        _ = end(handle, result)
        return sentence
    }
}
