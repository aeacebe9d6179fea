// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Foundation
import MockReader
import WhorlSecretMemory
import SoftwareTPM
import Synchronization
import Testing
import WhorlIPC
import WhorlService

@testable import WhorlRemote

@Suite("Services over a socket")
struct RemoteServicesTests {
    private let consent = ConsentRequest(application: ApplicationID(rawValue: "org.example.app"))

    @Test func `a finger is enrolled, recognized, listed and removed`() async throws {
        let machine = try await RemoteMachine(reader: "mock:touch right-index*8")
        let services = machine.services
        let progress = Collected<EnrollmentProgress>()
        let finger = try await services.ask(
            EnrollFinger(NewFinger(.rightIndex, label: "mine"), consent),
            presenter: ScriptedPresenter(),
            observer: { progress.add($0) }
        )
        #expect(finger.finger == .rightIndex && finger.label == "mine")
        #expect(progress.all.filter { if case .confirming = $0 { true } else { false } }.count == 1)
        let presenter = ScriptedPresenter()
        let evaluation = try await services.evaluate(EvaluationRequest("unlock"), presenter: presenter)
        #expect(evaluation.method == .biometry && evaluation.finger == .rightIndex)
        #expect(presenter.prompts.map(\.reason) == ["unlock"])
        #expect(presenter.updates.last == .matched(.rightIndex))
        #expect(try await services.ask(ListFingers()).map(\.id) == [finger.id])
        let state = try await services.ask(ReadEnrollmentState(for: services.application))
        #expect(state?.digest == evaluation.domainState)
        let removed = try await services.ask(
            RemoveFingers(.all, force: false, consent),
            presenter: ScriptedPresenter()
        )
        #expect(removed.map(\.id) == [finger.id])
    }

    @Test(.timeLimit(.minutes(1)))
    func `a private child that has ended is no zombie, though nobody asks for its status`() async throws {
        let machine = try await RemoteMachine()
        _ = try await machine.services.ask(ListFingers())
        let process = "/proc/\(machine.child.number)"
        #expect(FileManager.default.fileExists(atPath: process))
        machine.child.kill()
        while FileManager.default.fileExists(atPath: process) { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test func `a guided enrollment tells its parts and its test touches`() async throws {
        let machine = try await RemoteMachine(reader: "mock:touch right-index*12")
        let progress = Collected<EnrollmentProgress>()
        _ = try await machine.services.ask(
            EnrollFinger(NewFinger(.rightIndex, isGuided: true), consent),
            presenter: ScriptedPresenter(),
            observer: { progress.add($0) }
        )
        #expect(progress.all.contains(.area(.center)) && progress.all.contains(.area(.tip)))
        #expect(progress.all.last == .tested(recognized: 3, tested: 3, total: 3))
    }

    @Test func `a first passcode is refused where the enrolled finger was not shown`() async throws {
        let machine = try await RemoteMachine(reader: "mock:then=no-match", enrolled: .leftThumb)
        let services = machine.services
        let session = OwnerSession()
        await #expect(throws: ServiceError.self) {
            try await services.ask(AskForFinger(consent, in: session), presenter: ScriptedPresenter())
        }
        await #expect(throws: ServiceError.self) {
            try await services.ask(SetPasscode(secret("2468 hunter"), consent, shown: session))
        }
        #expect(try await !services.ask(IsPasscodeSet()))
    }

    @Test func `a session keeps a shown finger for a first passcode, until the caller lets it go`()
        async throws
    {
        let machine = try await RemoteMachine(enrolled: .leftThumb)
        let services = machine.services
        let session = OwnerSession()
        try await services.ask(AskForFinger(consent, in: session), presenter: ScriptedPresenter())
        session.forget()
        await #expect {
            try await services.ask(SetPasscode(secret("2468 hunter"), consent, shown: session))
        } throws: {
            ($0 as? ServiceError)?.code == .accessDenied
        }
        try await services.ask(AskForFinger(consent, in: session), presenter: ScriptedPresenter())
        try await services.ask(SetPasscode(secret("2468 hunter"), consent, shown: session))
        var asked = EvaluationRequest("verify the passcode")
        asked.policy = .deviceOwner
        asked.takesPasscodeAlone = true
        func method(typing passcode: String) async -> Evaluation.Method? {
            // A wrong passcode is an error of the evaluation, which is what is looked at here.
            try? await services.evaluate(asked, presenter: ScriptedPresenter(typing: [passcode])).method
        }
        #expect(await method(typing: "2468 hunter") == .passcode)
        #expect(await method(typing: "0000") == nil)
        try await services.changePasscode("2468 hunter", to: "1357 hunter")
        #expect(await method(typing: "1357 hunter") == .passcode)
    }

    @Test(arguments: [5, 1 << 20])
    func `a secret of any size comes back as it was`(count: Int) async throws {
        let machine = try await RemoteMachine(enrolled: .leftThumb)
        let services = machine.services
        let bytes = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let item = try await services.seal(
            SecretBox(SecretBytes(copying: bytes.bytes)),
            access: .biometryAny,
            applicationPassword: nil
        )
        #expect(try services.sealedItem(encoded: item.encoded) == item)
        #expect(try await services.standing(of: [item]) == [.valid])
        let released = try await services.secret(
            in: .sealed(item),
            ReleaseRequest(EvaluationRequest("open")),
            presenter: ScriptedPresenter()
        )
        #expect(released.product.bytes.withUnsafeBytes { Data($0) } == bytes)
        #expect(released.evaluations.map(\.finger) == [.leftThumb])
    }

    @Test func `a key signs, and its items have the errors and the names of the engine`() async throws {
        let machine = try await RemoteMachine(enrolled: .leftThumb)
        let services = machine.services
        let id = ItemID(.key, try ItemName("k"), of: "ada")
        let made = try await services.ask(
            AddItem(id, MakeItem(.key, access: .biometryAny, applicationPassword: nil))
        )
        let key = try #require(made)
        let digest = Data(repeating: 7, count: 32)
        let signed = try await services.signature(
            over: digest,
            with: .named(id),
            ReleaseRequest(EvaluationRequest("sign")),
            presenter: ScriptedPresenter()
        )
        #expect(key.isValid(signed.product, over: digest))
        #expect(try await services.ask(ListItems()).map(\.id) == [id])
        #expect(try await services.ask(ReadPublicKey(of: id)) == key)
        #expect(try await services.ask(ReadItemAccess(of: id)) == .biometryAny)
        await #expect(throws: ServiceError(.itemExists, "key \"k\"")) {
            try await services.ask(
                AddItem(id, MakeItem(.key, access: .biometryAny, applicationPassword: nil))
            )
        }
        try await services.ask(DeleteItem(id, consent), presenter: ScriptedPresenter())
        await #expect(throws: ServiceError(.noSuchItem, "key \"k\"")) {
            try await services.ask(DeleteItem(id, consent), presenter: ScriptedPresenter())
        }
    }

    @Test func `a secret under the name of a key is refused, and the service goes on`() async throws {
        let machine = try await RemoteMachine()
        let services = machine.services
        let id = ItemID(.key, try ItemName("k"), of: "ada")
        await #expect(throws: ServiceError.self) {
            try await services.ask(
                AddItem(id, MakeItem(.secret(secret("x")), access: .none, applicationPassword: nil))
            )
        }
        #expect(try await services.ask(ListItems()).isEmpty)
    }

    @Test func `the passcode is typed at the caller's prompt and compared by the service`() async throws {
        let machine = try await RemoteMachine(reader: "mock:then=no-match")
        let services = machine.services
        try await services.ask(SetPasscode(secret("2468 hunter"), consent, shown: OwnerSession()))
        let presenter = ScriptedPresenter(typing: ["wrong one", "2468 hunter"])
        let evaluation = try await services.evaluate(EvaluationRequest("unlock"), presenter: presenter)
        #expect(evaluation.method == .passcode && evaluation.finger == nil)
        #expect(presenter.updates.contains(.wrongPasscode(triesLeft: 4)))
        #expect(presenter.updates.last == .verified)
    }

    @Test func `a button ends the evaluation, and a cancelled task does`() async throws {
        let machine = try await RemoteMachine(reader: "mock:hang*9", enrolled: .leftThumb)
        let services = machine.services
        await #expect(throws: ServiceError(.userCancel)) {
            try await services.evaluate(
                EvaluationRequest("unlock"),
                presenter: ScriptedPresenter(pressing: .cancel)
            )
        }
        let presenter = ScriptedPresenter()
        let asking = Task {
            try await services.evaluate(EvaluationRequest("unlock"), presenter: presenter)
        }
        while presenter.prompts.isEmpty { await Task.yield() }
        asking.cancel()
        await #expect(throws: ServiceError(.appCancel)) { try await asking.value }
        // The reader is free again.
        await #expect(throws: ServiceError(.userCancel)) {
            try await services.evaluate(
                EvaluationRequest("unlock"),
                presenter: ScriptedPresenter(pressing: .cancel)
            )
        }
    }

    @Test func `long lines of the log come in several replies`() async throws {
        let machine = try await RemoteMachine(enrolled: .leftThumb)
        let services = machine.services
        // Of a reason, 200 characters are kept, which can be much longer than 200 bytes.
        let jamo = String(repeating: "\u{1100}", count: 20_000)
        let count = 300
        for number in 0..<count {
            let request = EvaluationRequest("\(number) \(jamo)")
            _ = try await services.evaluate(request, presenter: ScriptedPresenter())
        }
        var lines: [AuditEntry] = []
        while true {
            let page = try await services.ask(ReadLog(limit: 1000, before: lines.last?.id))
            guard !page.isEmpty else { break }
            lines += page
        }
        #expect(lines.count == count)
        #expect(Set(lines.map(\.id)).count == count)
    }

    @Test func `readers, tries, the log and the status come over the wire`() async throws {
        let machine = try await RemoteMachine(enrolled: .leftThumb)
        let services = machine.services
        _ = try await services.evaluate(EvaluationRequest("unlock"), presenter: ScriptedPresenter())
        let reader = try await services.readers.chosenReader()
        #expect(await reader.info.kind == .mock)
        await #expect(throws: ReaderError.self) {
            _ = try await reader.capture(whenBusy: .fail, observer: { _ in })
        }
        #expect(try await services.ask(ListAttempts()).map(\.failures) == [0, 0])
        let log = try await services.ask(ReadLog(limit: 5))
        #expect(log.map(\.outcome) == ["matched"])
        #expect(try await services.ask(ReadLog(limit: 5, before: log[0].id)).isEmpty)
        let status = try await services.ask(ReadVaultStatus())
        #expect(status.isProvisioned && status.isSimulated && status.obstacle == nil)
        let facts = await services.facts()
        #expect(facts.statePath == machine.tpm.directory.path + "/whorl")
        #expect(facts.usedSimulatedTPM)
        #expect(try await services.ask(HasState()))
        let preflight = await services.preflight(.biometrics, for: services.application)
        #expect(preflight.canEvaluate && preflight.hasReader)
    }

    @Test func `a reader that a prompt uses is not tried out, and the prompt goes on`() async throws {
        let machine = try await RemoteMachine(reader: "mock:hang,match", enrolled: .leftThumb)
        let services = machine.services
        let reader = try await services.readers.chosenReader()
        let presenter = ScriptedPresenter()
        let asking = Task {
            try await services.evaluate(EvaluationRequest("unlock"), presenter: presenter)
        }
        // The prompt has the reader once it asks for a touch.
        while !presenter.updates.contains(.scan(.touch)) { await Task.yield() }
        let busy = await #expect(throws: ReaderError.self) { try await reader.open() }
        #expect(busy?.code == .busy)
        await #expect(throws: ReaderError.self) { try await reader.storedPrints(whenBusy: .wait) }
        #expect(presenter.updates == [.scan(.touch)])
        asking.cancel()
        await #expect(throws: ServiceError(.appCancel)) { try await asking.value }
        let evaluation = try await services.evaluate(
            EvaluationRequest("unlock"),
            presenter: ScriptedPresenter()
        )
        #expect(evaluation.finger == .leftThumb)
        // The prompt lets the reader go a moment after its answer.
        var obstacle: ReaderError? = busy
        while obstacle?.code == .busy {
            try await Task.sleep(for: .milliseconds(50))
            do throws(ReaderError) {
                try await reader.open()
                obstacle = nil
            } catch {
                obstacle = error
            }
        }
        #expect(obstacle == nil)
    }

    @Test func `a print of another user in a reader is told without a name`() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "prints-\(UUID()).txt")
        defer { try? FileManager.default.removeItem(at: file) }
        let script = "storage=reader,storage-file=\(file.path)"
        let reader = try MockReader(script: script + ",then=match")
        try await reader.open()
        for user in ["ada", "bob"] {
            let metadata = EnrollmentMetadata(finger: .rightIndex, userName: user)
            _ = try await reader.enroll(metadata, whenBusy: .fail, observer: { _ in })
        }
        try await reader.close()
        let machine = try await RemoteMachine(reader: "mock:\(script)", enrolled: .leftThumb)
        let compared = try #require(try await machine.services.ask(ReconcileReader()))
        #expect(compared.strays.map(\.userName) == ["ada", nil])
        #expect(compared.strays.map(\.finger) == [.rightIndex, nil])
        let prints = try await machine.services.readers.chosenReader().storedPrints(whenBusy: .wait)
        #expect(prints.map(\.metadata.userName) == ["ada", nil])
        #expect(prints.map(\.metadata.finger) == [.rightIndex, nil])
    }

    @Test func `a service that has gone is an error with its cause, never an answer`() async throws {
        let services = Services.remote(
            profile: "ada",
            application: ApplicationID(rawValue: "org.example.app"),
            over: GoneTransport()
        )
        let preflight = await services.preflight(.biometrics, for: services.application)
        let gone = try #require(preflight.obstacle)
        #expect(gone.code == .serviceUnavailable && !gone.cause.isEmpty)
        await #expect(throws: gone) {
            try await services.evaluate(EvaluationRequest("unlock"), presenter: ScriptedPresenter())
        }
        await #expect(throws: gone) { try await services.ask(ListFingers()) }
        let facts = await services.facts()
        #expect(facts.statePath.isEmpty)
    }
}

/// A transport to a service that hangs up at once.
private struct GoneTransport: ServiceTransport {
    func connect() throws(SystemCallError) -> Descriptor { try UnixSocket.pair().0 }
}

/// Values that a callback gave, in their order.
private final class Collected<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])
    var all: [Value] { values.withLock(\.self) }
    func add(_ value: Value) { values.withLock { $0.append(value) } }
}
