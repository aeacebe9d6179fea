// SPDX-License-Identifier: Apache-2.0

internal import CPAM

/// Authenticates a user by a fingerprint, or passes on a password that was typed instead.
///
/// It succeeds only if the service matched a finger of the user. A typed password is never a success; it is passed to
/// the module that checks it.
@c @implementation
public func pam_sm_authenticate(
    _ handle: OpaquePointer!,
    _ flags: Int32,
    _ count: Int32,
    _ words: UnsafeMutablePointer<UnsafePointer<CChar>?>!
) -> Int32 {
    guard let module = unsafe Module(handle, count, words) else { return PAM_SERVICE_ERR }
    return module.options.keepsPassword ? module.keepPassword() : module.authenticate()
}

/// Unlocks the user's keyring, if this is the end of a screen lock and the touch has released the keyring's own password.
///
/// A locker that runs as root, such as GDM's, begins no session, but renews the credentials of the one that was locked.
@c @implementation
public func pam_sm_setcred(
    _ handle: OpaquePointer!,
    _ flags: Int32,
    _ count: Int32,
    _ words: UnsafeMutablePointer<UnsafePointer<CChar>?>!
) -> Int32 {
    if flags & Int32(PAM_REINITIALIZE_CRED | PAM_REFRESH_CRED) != 0, let handle = unsafe handle {
        unsafe whorl_open_keyring(handle)
    }
    return PAM_SUCCESS
}

/// Returns `PAM_IGNORE`, so that a line of this type alone never grants access.
@c @implementation
public func pam_sm_acct_mgmt(
    _ handle: OpaquePointer!,
    _ flags: Int32,
    _ count: Int32,
    _ words: UnsafeMutablePointer<UnsafePointer<CChar>?>!
) -> Int32 { PAM_IGNORE }

/// Unlocks the user's keyring, if the login has got the keyring's own password.
@c @implementation
public func pam_sm_open_session(
    _ handle: OpaquePointer!,
    _ flags: Int32,
    _ count: Int32,
    _ words: UnsafeMutablePointer<UnsafePointer<CChar>?>!
) -> Int32 {
    if let handle = unsafe handle { unsafe whorl_open_keyring(handle) }
    return PAM_IGNORE
}

/// Does nothing.
@c @implementation
public func pam_sm_close_session(
    _ handle: OpaquePointer!,
    _ flags: Int32,
    _ count: Int32,
    _ words: UnsafeMutablePointer<UnsafePointer<CChar>?>!
) -> Int32 { PAM_IGNORE }

/// Tells the service that the login password has been changed.
///
/// It does not change the password itself.
@c @implementation
public func pam_sm_chauthtok(
    _ handle: OpaquePointer!,
    _ flags: Int32,
    _ count: Int32,
    _ words: UnsafeMutablePointer<UnsafePointer<CChar>?>!
) -> Int32 {
    guard flags & PAM_UPDATE_AUTHTOK != 0, let module = unsafe Module(handle, count, words) else {
        return PAM_IGNORE
    }
    return module.passwordChanged()
}

/// One call of PAM.
@safe private struct Module {
    let handle: OpaquePointer
    private(set) var options = Options()

    /// Parses the arguments of the line; `nil` without a handle.
    init?(
        _ handle: OpaquePointer?,
        _ count: Int32,
        _ words: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    ) {
        guard let handle = unsafe handle else { return nil }
        unsafe self.handle = handle
        guard let words = unsafe words else { return }
        for index in 0..<max(Int(count), 0) {
            let word = unsafe Bytes(copying: words[index]) ?? []
            if !options.take(word) { log(Bytes("not an option: ") + word) }
        }
    }

    /// Passes on a password that earlier modules have verified.
    ///
    /// The login continues as if the line were not there.
    func keepPassword() -> Int32 {
        guard let login = login(), !login.isOfUser else { return PAM_IGNORE }
        let file = unsafe whorl_password_file(handle, PAM_AUTHTOK)
        guard file >= 0 else { return PAM_IGNORE }
        tell(Call.keep(login), for: login, within: 8, with: file)
        close(file)
        return PAM_IGNORE
    }

    /// Passes on both passwords, or says that one of them is unknown.
    func passwordChanged() -> Int32 {
        guard let login = login(), !login.isOfUser else { return PAM_IGNORE }
        let old = unsafe whorl_password_file(handle, PAM_OLDAUTHTOK)
        let new = unsafe whorl_password_file(handle, PAM_AUTHTOK)
        let isKnown = old >= 0 && new >= 0
        tell(
            Call.passwordChanged(login, withPasswords: isKnown),
            for: login,
            // The old copy is opened and a new one is made, which nobody waits for at a prompt.
            within: 20,
            with: isKnown ? old : -1,
            isKnown ? new : -1
        )
        close(old)
        close(new)
        return PAM_IGNORE
    }

    /// Sends a call whose reply has no effect on the login, and waits for the reply for a number of seconds.
    private func tell(
        _ call: Bytes,
        for login: Login,
        within seconds: Int64,
        with file: Int32,
        _ second: Int32 = -1
    ) {
        guard var connection = Connection(options), connection.prove(),
            connection.send(call, with: file, second)
        else { return }
        if let reply = connection.waitForReply(seconds), reply.error == nil, reply.hasKeyringPassword,
            connection.file >= 0
        {
            unsafe whorl_keep_for_session(handle, login.user, connection.file)
        }
    }

    func authenticate() -> Int32 {
        // An earlier module has already prompted for a password.
        guard unsafe whorl_item(handle, PAM_AUTHTOK) == nil, var login = login(), !login.isRemote
        else {
            return PAM_AUTHINFO_UNAVAIL
        }
        var options = options
        if login.isOfUser, !options.isFingerOnly, let outcome = lockerEntry(login, &options) {
            return outcome
        }
        if login.service.isText("polkit-1") { login.agent = whorl_agent() }
        defer { close(login.agent) }
        // The user may suspend the job repeatedly. Each time, the touch is requested again.
        for _ in 0..<100 {
            let (outcome, result) = ask(login, options)
            guard outcome == .stopped else { return result }
        }
        return PAM_AUTHINFO_UNAVAIL
    }

    /// Prompts for a password first in a screen locker that calls PAM when the user presses Enter.
    ///
    /// An empty password requests a touch, for which the locker does not wait as long as a login does, because it accepts
    /// no password in the meantime. KDE calls `kde-fingerprint` for the touch, at the same time as its other services.
    ///
    /// - Returns: The result of the module; `nil` if a touch follows.
    private func lockerEntry(_ login: Login, _ options: inout Options) -> Int32? {
        let part = unsafe whorl_part(handle)
        if part != 0 { return part < 0 ? PAM_AUTHINFO_UNAVAIL : nil }
        if let name = login.terminal, Terminal(named: name) != nil { return nil }
        guard unsafe whorl_password_is_empty(handle) != 0 else { return PAM_AUTHINFO_UNAVAIL }
        if options.timeout > 10 { options.timeout = 10 }
        return nil
    }

    /// The login that PAM authenticates; `nil` if a fingerprint cannot be used.
    private func login() -> Login? {
        var name: UnsafePointer<CChar>?
        guard unsafe pam_get_user(handle, &name, nil) == PAM_SUCCESS, let name = unsafe name else {
            return nil
        }
        let asker = geteuid()
        // The service answers programs of other users only about themselves.
        guard let user = unsafe UInt32(exactly: whorl_uid(handle, name)), asker == 0 || asker == user else {
            return nil
        }
        return unsafe Login(
            user: user,
            isOfUser: asker != 0,
            service: Bytes(copying: whorl_item(handle, PAM_SERVICE), limit: 256) ?? [],
            terminal: Bytes(copying: whorl_item(handle, PAM_TTY), limit: 256),
            // A host that cannot be read counts as remote.
            remoteHost: whorl_item(handle, PAM_RHOST).map {
                unsafe Bytes(copying: $0, limit: 256) ?? Bytes("?")
            },
            passwordChangedOn: options.opensKeyring || options.keepsPassword
                ? whorl_changed_on(handle, name) : -1
        )
    }

    private func ask(_ login: Login, _ options: Options) -> (Outcome, Int32) {
        guard var prompt = unsafe Prompt(login, options, handle) else {
            return (.unavailable, PAM_AUTHINFO_UNAVAIL)
        }
        let outcome = prompt.run()
        if let sentence = prompt.farewell { unsafe whorl_say(handle, PAM_ERROR_MSG, sentence.terminated) }
        switch outcome {
        case .matched:
            if options.opensKeyring, prompt.file >= 0 {
                if prompt.hasKeyringPassword {
                    unsafe whorl_keep_for_session(handle, login.user, prompt.file)
                } else {
                    unsafe whorl_hand_over(handle, prompt.file)
                }
            }
            return (outcome, PAM_SUCCESS)
        case .typed:
            let isKept = unsafe pam_set_item(handle, PAM_AUTHTOK, prompt.password) == PAM_SUCCESS
            return (outcome, isKept ? PAM_AUTHINFO_UNAVAIL : PAM_BUF_ERR)
        case .notMatched: return (outcome, PAM_AUTH_ERR)
        case .unavailable, .stopped: return (outcome, PAM_AUTHINFO_UNAVAIL)
        case .interrupted: return (outcome, PAM_CONV_ERR)
        }
    }

    /// Writes a warning to the system's log.
    private func log(_ text: Bytes) {
        unsafe whorl_log(handle, LOG_WARNING, text.terminated)
    }
}
