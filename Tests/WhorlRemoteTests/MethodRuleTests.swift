// SPDX-License-Identifier: Apache-2.0

import Testing
import WhorlFingerprint
import WhorlIPC
import WhorlService

@testable import WhorlRemote

@Suite("The programs that may call a method")
struct MethodRuleTests {
    /// All methods that a confined program may call.
    private static let openToConfined: Set<String> = [
        "io.whorl.Owner.Preflight", "io.whorl.Owner.Evaluate", "io.whorl.Owner.Session",
        "io.whorl.Owner.IsOptedOut", "io.whorl.Owner.SetOptedOut",
        "io.whorl.Items.HasChip", "io.whorl.Items.Make", "io.whorl.Items.Decode", "io.whorl.Items.Standing",
        "io.whorl.Items.Use", "io.whorl.Items.Prepare", "io.whorl.Items.Add", "io.whorl.Items.List",
        "io.whorl.Items.Access", "io.whorl.Items.PublicKey", "io.whorl.Items.Delete",
        "io.whorl.Keychain.Find", "io.whorl.Keychain.Add", "io.whorl.Keychain.Update",
        "io.whorl.Keychain.Delete", "io.whorl.Maintenance.Log",
        "io.whorl.Prompt.Submit", "io.whorl.Prompt.Typing", "io.whorl.Prompt.Close", "io.whorl.Prompt.Ended",
    ]

    /// Calls a method without parameters, and returns the name of the refusal; `nil` if there was none.
    private func refusal(of method: String, _ machine: RuledMachine) async throws -> String? {
        let connection = try ServiceConnection(try machine.connect())
        defer { connection.close() }
        let (outcomes, sink) = AsyncStream.makeStream(of: String?.self)
        let call = Task {
            do throws(ServiceCallError) {
                let _: CallReply<NoValue> = try await connection.call(
                    method,
                    NoValue(),
                    // A call that lasts as long as its connection says first that it has begun.
                    update: { _ in sink.yield(nil) }
                )
                sink.yield(nil)
            } catch {
                if case .refused(let refusal) = error {
                    sink.yield(refusal.name)
                } else {
                    sink.yield("\(error)")
                }
            }
        }
        defer { call.cancel() }
        for await outcome in outcomes { return outcome }
        return nil
    }

    /// The methods of logins that users call.
    private static let loginsOfUsers = [LoginInterface.Unlock.name, LoginInterface.UnlockScreen.name]

    private static func described() -> [String] {
        InterfaceText.all.flatMap { interface in
            interface.text.matches(of: /(?m)^method (\w+)\(/).map { "\(interface.name).\($0.1)" }
        }
    }

    @Test func `an operation of any program says what of it belongs to a confined one`() {
        let open = Operations.all.filter { $0.rules.callers == .anyProgram }
        #expect(open.count > 10)
        var silent: Set<String> = []
        for operation in open {
            let isConfined = (operation as? any ConfinedOperation.Type) != nil
            let isSame = (operation as? any ProgramIndependent.Type) != nil
            if !isConfined, !isSame { silent.insert(operation.name) }
        }
        // The host has methods of its own for these: they take the name that the system knows.
        #expect(silent.isSubset(of: ["io.whorl.Owner.Evaluate", "io.whorl.Owner.Preflight"]))
    }

    // Docs/Security.md: C15a
    @Test func `a confined program may call what its row allows, and nothing else`() async throws {
        let machine = try await RuledMachine(loginsOf: 4711)
        machine.rules.set(.id("snap.vault.app"))
        #expect(Set(Self.described()).isSuperset(of: Self.openToConfined))
        for method in Self.described() {
            let refusal = try await refusal(of: method, machine)
            if method.hasPrefix("io.whorl.Login."), !Self.loginsOfUsers.contains(method) {
                #expect(refusal == LoginRefused.rootAlone, "\(method)")
            } else if Self.openToConfined.contains(method) {
                #expect(refusal != "io.whorl.Connection.Confined", "\(method)")
            } else {
                #expect(refusal == "io.whorl.Connection.Confined", "\(method)")
            }
        }
    }

    // Docs/Security.md: C15a
    @Test func `a program that may be confined may call no more than a confined one`() async throws {
        let machine = try await RuledMachine(loginsOf: 4711)
        machine.rules.set(isUnknown: true)
        for method in Self.described()
        where Self.loginsOfUsers.contains(method)
            || !method.hasPrefix("io.whorl.Login.") && !Self.openToConfined.contains(method)
        {
            #expect(try await refusal(of: method, machine) == "io.whorl.Connection.NotProven", "\(method)")
        }
    }

    @Test func `the refusal of a confined program reaches people as a sentence with a remedy`() async throws {
        let machine = try await RuledMachine()
        machine.rules.set(.id("snap.vault.app"))
        let refused = await #expect(throws: ServiceError.self) {
            _ = try await machine.services().ask(ReadChipIdentity())
        }
        #expect(refused?.code == .notPermitted)
        #expect(refused?.message == "Sandboxed programs cannot do this.")
        #expect(refused?.recovery == "Use `whorl` outside the sandbox.")
    }

    @Test func `a confined program learns whether there is a chip, and nothing about it`() async throws {
        let machine = try await RuledMachine()
        let services = machine.services()
        machine.rules.set(.id("snap.vault.app"))
        #expect(await services.hasChip())
        await #expect(throws: ServiceError.self) { _ = try await services.ask(ReadVaultStatus()) }
    }

    // Docs/Security.md: C16
    @Test(arguments: ["io.whorl.Readers.TryOut", "io.whorl.Readers.Prints", "io.whorl.Fingers.Reconcile"])
    func `a reader is tried out, listed or reset only from where a finger may be asked for`(
        method: String
    ) async throws {
        let machine = try await RuledMachine()
        let elsewhere = ServiceError(.notInteractive, message: "This session is at another machine.")
        machine.rules.set(obstacle: elsewhere)
        #expect(try await refusal(of: method, machine) == "io.whorl.Connection.NotAtReader")
        machine.rules.set()
        #expect(try await refusal(of: method, machine) != "io.whorl.Connection.NotAtReader")
    }

    @Test func `a refusal because of the place reaches people with its reason`() async throws {
        let machine = try await RuledMachine()
        let services = machine.services()
        let reader = try #require(try await services.readers.readers().first)
        machine.rules.set(
            obstacle: ServiceError(.notInteractive, message: "This session is at another machine.")
        )
        let refused = await #expect(throws: ReaderError.self) { try await reader.open() }
        #expect(refused?.code == .permissionDenied)
        #expect(refused?.cause == "This session is at another machine.")
    }
}
