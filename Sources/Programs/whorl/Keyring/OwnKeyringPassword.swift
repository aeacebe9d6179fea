// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlSecretMemory
import WhorlService
import WhorlSupport
import WhorlTerminalPrompt

/// The keyring's own password, which the service makes and releases, and this program sets in the keyring.
struct OwnKeyringPassword {
    private let session: Session
    private let control: KeyringControl

    /// Throws if no keyring is running.
    init(_ session: Session) throws(Failure) {
        self.session = session
        control = try KeyringControl()
    }

    /// Gives the keyring its own password instead of the login password.
    ///
    /// The service has the new password before the keyring does. The service forgets it again only if the keyring still
    /// has the login password: a lost reply does not tell whether the keyring was changed. After an attempt that did not
    /// end, `whorl keyring on --on-demand` continues.
    func set(replacing login: LoginPasswordOption, hasSheet: Bool) async throws {
        let hadOwn = try await session.services.ask(ReadKeyringStatus()).hasOwnPassword
        let loginPassword = try await login.read("Login password")
        // Before anything is changed: with another password, the keyring could not be changed at the end.
        let isNew = try control.unlock(loginPassword)
        guard isNew || hadOwn else { throw Failure.wrongKeyringPassword }
        var password = try await make(loginPassword, hasSheet)
        if isNew, hadOwn {
            // It was made by an attempt that did not end, or for another program.
            try await session.services.ask(ForgetKeyringPassword(password))
            password = try await make(loginPassword, hasSheet)
        }
        do {
            if hasSheet {
                try RecoverySheet.show(password)
                try await RecoverySheet.confirm(password)
            }
            guard try isNew ? control.change(from: loginPassword, to: password) : control.unlock(password)
            else {
                throw Failure.wrongKeyringPassword
            }
        } catch {
            // Without an answer, the keyring may have the new password.
            if isNew, (try? control.unlock(loginPassword)) == true {
                try await session.services.ask(ForgetKeyringPassword(password))
            }
            throw error
        }
        if !UserUnit.keyring.run("enable") {
            session.console.warn(
                "No program of this session shows the keyring's prompts. Install whorl-desktop, or use 'whorl keyring unlock'."
            )
        }
    }

    private func make(_ loginPassword: SecretBox, _ hasSheet: Bool) async throws -> SecretBox {
        try await session.ask(handing: nil) {
            MakeKeyringPassword(loginPassword: loginPassword, hasSheet: hasSheet, $0)
        }.password
    }

    /// Gives the keyring the login password again, and deletes its own one.
    ///
    /// A service that has lost its TPM cannot delete anything. With the recovery sheet, this is a warning only.
    func remove(
        leaving login: LoginPasswordOption,
        isOnSheet: Bool,
        handing passcode: SecretBox?
    ) async throws {
        let loginPassword = try await login.readNew("Login password", again: "Repeat the login password")
        let password =
            if isOnSheet {
                try await PasscodeReader().read("Password on the recovery sheet")
            } else {
                try await session.ask(handing: passcode) { OpenKeyring($0) }.password
            }
        // After an attempt that did not end, the keyring may have the login password already.
        _ = try control.change(from: password, to: loginPassword)
        guard try control.unlock(loginPassword) else { throw Failure.wrongKeyringPassword }
        do throws(ServiceError) {
            try await session.services.ask(ForgetKeyringPassword(password))
        } catch {
            // A sheet is for a service that has lost the password, perhaps with everything else.
            guard isOnSheet else { throw error }
            session.console.warn("The keyring's former password was not deleted: \(error.message)")
        }
        _ = UserUnit.keyring.run("disable")
    }
}

extension LoginPasswordOption {
    /// Reads the login password.
    func read(_ question: String) async throws -> SecretBox {
        if let descriptor { return try await PasscodeReader.read(from: descriptor) }
        return try await PasscodeReader().read(question)
    }

    /// Reads the login password, prompting for it twice on the terminal.
    func readNew(_ question: String, again: String) async throws -> SecretBox {
        if let descriptor { return try await PasscodeReader.read(from: descriptor) }
        return try await PasscodeReader().readNew(question, again: again)
    }
}
