// SPDX-License-Identifier: Apache-2.0

internal import FacesOverSocket
internal import WhorlEngine
internal import WhorlContext
internal import WhorlEnrollment
package import WhorlFingerprint
internal import Foundation
internal import WhorlSecretMemory
internal import SoftwareMachine
internal import WhorlVault
package import WhorlService
package import WhorlSystem

/// A program that one person uses.
package final class Program: Sendable {
    /// The time limit of prompts: on a busy machine with a chip in software, a minute is little.
    static let patience = Duration.seconds(600)

    package let showing: Showing
    package let person: Person
    package let services: InProcessRoot
    package let parts: ContextParts

    /// A program whose state lies in a directory, with the TPM at an address (a TCTI string).
    package init(_ showing: Showing, directory: String, tpm address: String) {
        self.showing = showing
        person = Person(showing: showing)
        var configuration = SystemConfiguration(environment: [:])
        configuration.stateDirectory = directory
        configuration.profile = "ada"
        configuration.reader = person.reader
        configuration.tpm = address
        configuration.allowsSimulatedTPM = true
        configuration.application = ApplicationID(rawValue: "org.example.app")
        services = InProcessRoot(configuration)
        parts =
            ContextParts(
                asker: services.services,
                presenter: person,
                application: services.application,
                keychain: services.services.keychain,
                hasChip: { true }
            ).asTested
    }

    /// Runs the calls of the program on a thread of their own: they wait for the engine, which may need a thread of the
    /// shared pool.
    package func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let parts = parts
        let result = await withCheckedContinuation { done in
            Thread {
                done.resume(returning: Result { try ContextParts.$ofTask.withValue(parts) { try body() } })
            }.start()
        }
        return try result.get()
    }

    /// The same for what waits without a thread.
    package func run<Value: Sendable>(waiting body: @Sendable () async throws -> Value) async throws -> Value
    {
        try await ContextParts.$ofTask.withValue(parts) { try await body() }
    }
}

/// One program for each person, on one machine.
package struct Programs: Sendable {
    private let all: [Showing: Program]

    /// Programs that are started now; none has opened anything.
    package init(directory: String, tpm address: String) {
        all = Dictionary(
            uniqueKeysWithValues: Showing.allCases.map {
                ($0, Program($0, directory: directory, tpm: address))
            }
        )
    }

    package subscript(showing: Showing) -> Program {
        guard let program = all[showing] else { preconditionFailure("each person has one") }
        return program
    }

    /// Has each program open the state: from here on it has the database and its key.
    package func openAll() async throws {
        for program in all.values {
            await letGo()
            _ = try await program.services.engine.state.existing()
        }
        await letGo()
    }

    /// Lets the next program have the chip, which has no resource manager here.
    package func letGo() async {
        for program in all.values { await program.services.services.close() }
    }

    // MARK: - The owner's acts

    private var services: InProcessRoot { self[.fingerFirst].services }

    /// Enrolls two fingers and sets the passcode.
    package func prepare() async throws {
        for finger in [Finger.leftIndex, .rightIndex] { try await add(finger) }
        try await services.vault().setPasscode(
            SecretBox(Person.secret(Person.passcode)),
            of: services.profile,
            shown: .matchedFinger(of: services.profile)
        )
    }

    /// Enrolls a finger; the owner agrees.
    package func add(_ finger: Finger) async throws { try await services.enroll(finger) }

    /// Removes a finger; the owner agrees.
    package func remove(_ finger: Finger) async throws {
        let selection = FingerSelection.finger(finger, on: nil)
        let status = try await services.store().status(of: services.profile)
        _ = try await services.enroller().remove(
            selection,
            profile: services.profile,
            readers: [],
            consent: OwnerConsent(to: .remove(selection), in: status, by: .passcode)
        )
    }

    /// The fingers that are enrolled.
    package func fingers() async throws -> Set<Finger> {
        Set(try await services.store().fingers(of: services.profile).map(\.finger))
    }

    /// Has the owner show a finger or the passcode: it ends the row of failures that killed programs have left.
    package func show(_ showing: Showing) async throws {
        let program = self[showing]
        var request = EvaluationRequest(
            policy: .deviceOwner,
            purpose: .yes,
            reason: "show",
            application: program.services.application
        )
        request.takesPasscodeAlone = showing == .passcode
        request.timeout = Program.patience
        _ = try await program.services.engine.evaluate(request, presenter: program.person)
        await letGo()
    }
}
