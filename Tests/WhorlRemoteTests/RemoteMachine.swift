// SPDX-License-Identifier: Apache-2.0

import FacesOverSocket
import WhorlFingerprint
import Foundation
import WhorlSecretMemory
import SoftwareMachine
import SoftwareTPM
import Synchronization
import WhorlIPC
import WhorlRemote
import WhorlService
import WhorlSupport
import WhorlSystem

/// A machine whose engine runs in a private child, the program whorld, with a simulated TPM of its own.
final class RemoteMachine {
    let tpm: SoftwareTPM
    /// The services over the socket.
    let services: Services
    let transport: CountedTransport
    let child: ChildProcess

    /// Makes a machine.
    ///
    /// - Parameters:
    ///   - tpm: The chip, beside whose state the machine's lies; `nil` makes one.
    ///   - reader: The script of the child's mock reader.
    ///   - enrolled: The finger that is enrolled before the child starts, if any.
    /// - Throws: where the simulated TPM or the child cannot be started.
    init(on tpm: SoftwareTPM? = nil, reader: String = "mock:then=match", enrolled: Finger? = nil) async throws
    {
        let chip: SoftwareTPM
        if let tpm { chip = tpm } else { chip = try SoftwareTPM() }
        if let enrolled {
            let root = InProcessRoot(on: chip)
            try await root.enroll(enrolled)
            // The simulated TPM serves one connection at a time.
            await root.services.close()
        }
        var environment = [
            "WHORL_STATE_DIR": chip.directory.path + "/whorl", "WHORL_PROFILE": "ada",
            "WHORL_READER": reader, "WHORL_TCTI": chip.address,
        ]
        // A sanitizer's own, without which it reports what is in order (Tests/Sanitizers).
        for name in ["PATH", "LD_PRELOAD", "TSAN_OPTIONS", "ASAN_OPTIONS"] {
            environment[name] = ProcessInfo.processInfo.environment[name]
        }
        let started = try PrivateChild.start(ServiceChoices(environment))
        transport = CountedTransport(started.transport)
        child = ChildProcess(number: started.process)
        services = .remote(
            profile: "ada",
            application: ApplicationID(rawValue: "org.example.app"),
            over: transport
        )
        self.tpm = chip
    }
}

/// A child of this process.
struct ChildProcess: Sendable {
    let number: pid_t

    /// Kills the child with SIGKILL.
    func kill() { Glibc.kill(number, SIGKILL) }

    /// Waits until the child has ended, and its status was taken.
    func waitForEnd() async {
        while Glibc.kill(number, 0) == 0 {
            // The wait of a test ends with the test.
            try? await Task.sleep(for: .milliseconds(5))
        }
    }

    /// The open descriptors and the resident memory.
    func usage() throws -> (descriptors: Int, kibibytes: Int) {
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(number)/fd").count
        let status = try String(contentsOfFile: "/proc/\(number)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return (descriptors, Int(line?.split(separator: " ").dropFirst().first ?? "") ?? 0)
    }
}

/// A transport that counts its connections.
final class CountedTransport: ServiceTransport {
    private let transport: any ServiceTransport
    private let state = Mutex(0)

    init(_ transport: any ServiceTransport) { self.transport = transport }

    /// The number of connections that were made.
    var count: Int { state.withLock(\.self) }

    func connect() throws(SystemCallError) -> Descriptor {
        state.withLock { $0 += 1 }
        return try transport.connect()
    }
}

/// Runs what blocks its thread on one of its own, so that a service of this process has the pool.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { done in
        requireThread("test") { done.resume(with: Result { try body() }) }
    }
}

/// A presenter that shows nothing and acts as a test says.
final class ScriptedPresenter: PromptPresenter {
    /// The passcodes that are typed, one for each prompt that asks for one.
    private let passcodes: Mutex<[String]>
    private let action: PromptAction?
    private let isShown: Bool
    private let seen = Mutex<(prompts: [Prompt], updates: [PromptUpdate])>(([], []))

    init(typing passcodes: [String] = [], pressing action: PromptAction? = nil, isInteractive: Bool = true) {
        isShown = isInteractive
        self.passcodes = Mutex(passcodes)
        self.action = action
    }

    var isInteractive: Bool { get async { isShown } }
    var takesPasscode: Bool { get async { passcodes.withLock { !$0.isEmpty } } }
    var prompts: [Prompt] { seen.withLock(\.prompts) }
    var updates: [PromptUpdate] { seen.withLock(\.updates) }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        seen.withLock { $0.prompts.append(prompt) }
        if let action { return action }
        func type() {
            guard prompt.parts.contains(.passcode) else { return }
            let next = passcodes.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            if let next { entry.submit(secret(next).bytes.copy()) }
        }
        type()
        for await update in entry.updates {
            seen.withLock { $0.updates.append(update) }
            if case .wrongPasscode = update { type() }
        }
        return nil
    }
}

extension Services {
    /// Changes the passcode of the test's user, who types the present one.
    func changePasscode(_ old: String, to new: String) async throws(ServiceError) {
        let new = SecretBox(SecretBytes(copying: new.utf8.span.bytes))
        try await ask(
            ChangePasscode(to: new, ConsentRequest(application: application)),
            presenter: ScriptedPresenter(typing: [old])
        )
    }
}

func secret(_ text: String) -> SecretBox { SecretBox(SecretBytes(copying: text.utf8.span.bytes)) }

extension SecretBytes {
    func copy() -> SecretBytes {
        withUnsafeBytes { bytes in SecretBytes(count: bytes.count) { $0.copyBytes(from: bytes) } }
    }
}

extension EvaluationRequest {
    init(_ reason: String, session: OwnerSession? = nil) {
        self.init(
            policy: .deviceOwner,
            purpose: .yes,
            reason: reason,
            application: ApplicationID(rawValue: "org.example.app")
        )
        self.session = session
    }
}
