// SPDX-License-Identifier: Apache-2.0

import Authentication
import AuthenticationContext
import Enrollment
import Fingerprint
import Foundation
import SecretMemory
import SoftwareMachine
import SoftwareTPM
import Vault
import WhorlService
import WhorlSystem

/// A machine with a TPM, two fingers and a passcode, and one program for each person, all of which were started before
/// anything happened.
final class Machine: Sendable {
    static let applicationPassword = Data("sesame".utf8)

    let tpm: SoftwareTPM
    private let line: Interposer
    private let programs: [Showing: Program]

    init() async throws {
        let tpm = try SoftwareTPM()
        let line = try Interposer(inFrontOf: tpm)
        self.tpm = tpm
        self.line = line
        programs = Dictionary(
            uniqueKeysWithValues: Showing.allCases.map { ($0, Program($0, tpm, through: line.address)) }
        )
        let first = program(of: .fingerFirst)
        for finger in [Finger.leftIndex, .rightIndex] { try await first.services.enroll(finger) }
        let passcode = SecretBox(Person.secret(Person.passcode))
        try await first.services.vault().setPasscode(
            passcode,
            of: first.services.profile,
            shown: .matchedFinger(of: first.services.profile)
        )
        for showing in Showing.allCases {
            await letGo()
            // From here on the program has the database and its key.
            _ = try await program(of: showing).services.stateAccess.existing()
        }
        await letGo()
    }

    func program(of showing: Showing) -> Program {
        guard let program = programs[showing] else { preconditionFailure("each person has one") }
        return program
    }

    /// Lets the next program have the chip, which has no resource manager here.
    func letGo() async {
        for program in programs.values { await program.services.services.maintenance.close() }
    }

    /// Lets something happen to the machine.
    func change(by happening: Happening) async throws {
        await letGo()
        let services = program(of: .fingerFirst).services
        switch happening {
        case .nothing: break
        case .fingerAdded: try await services.enroll(.leftThumb)
        case .fingerRemoved:
            let selection = FingerSelection.finger(.rightIndex, on: nil)
            let standing = try await services.store().standing(of: services.profile)
            _ = try await services.enroller().remove(
                selection,
                profile: services.profile,
                readers: [],
                consent: OwnerConsent(to: .remove(selection), in: standing, by: .passcode)
            )
        case .otherStart: try tool("pcrextend", "7:sha256=" + String(repeating: "a5", count: 32))
        case .counterLost:
            for index in try tpm.handles(from: 0x0100_0000) where index >> 8 == 0x01_8057 {
                try tool("nvundefine", "-C", "o", "0x" + String(index, radix: 16))
            }
        case .chipBusy: line.decide { _, _ in .cut }
        case .chipCleared: try tool("clear", "-c", "p")
        }
        await letGo()
    }

    /// The chip answers again.
    func answerAgain() { line.decide { _, _ in .pass } }

    private func tool(_ arguments: String...) throws {
        let result = try tpm.tool(arguments: arguments)
        guard result.status == 0 else { throw ToolFailed(words: result.errors) }
    }

    private struct ToolFailed: Error { let words: String }
}

/// A program that one person uses.
final class Program: Sendable {
    let showing: Showing
    let person: Person
    let services: SystemServices
    let parts: ContextParts

    init(_ showing: Showing, _ tpm: SoftwareTPM, through address: String) {
        self.showing = showing
        person = Person(showing: showing)
        var configuration = SystemConfiguration(environment: [:])
        configuration.stateDirectory = tpm.directory.path + "/whorl"
        configuration.profile = "ada"
        configuration.reader = person.reader
        configuration.tpm = address
        configuration.allowsSimulatedTPM = true
        configuration.application = ApplicationID(rawValue: "org.example.app")
        services = SystemServices(configuration)
        parts = ContextParts(
            service: services.authentication,
            presenter: person,
            application: services.application,
            state: services.stateAccess,
            profile: services.profile,
            hasChip: { true }
        )
    }

    /// Runs the calls of the program on a thread of their own: they wait for the engine, which may need a thread of the
    /// shared pool.
    func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let parts = parts
        let result = await withCheckedContinuation { done in
            Thread {
                done.resume(returning: Result { try ContextParts.$ofTask.withValue(parts) { try body() } })
            }.start()
        }
        return try result.get()
    }

    /// The same for what waits without a thread.
    func run<Value: Sendable>(waiting body: @Sendable () async throws -> Value) async throws -> Value {
        try await ContextParts.$ofTask.withValue(parts) { try await body() }
    }
}
