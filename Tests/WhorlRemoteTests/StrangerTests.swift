// SPDX-License-Identifier: Apache-2.0

import FacesOverSocket
import WhorlFingerprint
import Foundation
import WhorlSecretMemory
import Testing
import WhorlIPC
import WhorlService

@testable import WhorlRemote

/// A program of the same user that speaks to the service as it likes.
@Suite("A stranger at the socket")
struct StrangerTests {
    @Test func `another user is refused whatever the message says`() async throws {
        let host = ServiceHost(
            services: { _ throws(ServiceRefusal) in throw ServiceRefusal("io.whorl.NotYours") },
            keychain: { _, _ throws(ServiceRefusal) in throw ServiceRefusal("io.whorl.NotYours") }
        )
        let server = ServiceServer(host.router(version: "test"))
        defer { server.stop() }
        for method in ["io.whorl.Fingers.List", "io.whorl.Items.List", "io.whorl.Maintenance.Facts"] {
            let (own, other) = try UnixSocket.pair()
            try server.serve(other)
            let connection = try ServiceConnection(own)
            await #expect(throws: ServiceCallError.refused(ServiceRefusal("io.whorl.NotYours"))) {
                let _: CallReply<NoValue> = try await connection.call(method, NoValue())
            }
        }
    }

    @Test func `updates that a caller makes up are no method`() async throws {
        let machine = try await RemoteMachine()
        for method in ["io.whorl.Prompt.Matched", "io.whorl.Prompt.Update", "io.whorl.Owner.Matched"] {
            let connection = try ServiceConnection(try machine.transport.connect())
            await #expect(throws: ServiceCallError.self) {
                let _: CallReply<NoValue> = try await connection.call(method, NoValue())
            }
        }
    }

    @Test func `a prompt is answered by its id alone, and an unknown one by nothing`() async throws {
        let machine = try await RemoteMachine()
        for id in ["", "0", String(repeating: "0", count: 32)] {
            let connection = try ServiceConnection(try machine.transport.connect())
            let reply: CallReply<Valued<Bool>> = try await connection.call(
                PromptInterface.Ended.name,
                PromptInterface.Ended(
                    prompt: id,
                    action: .cancel,
                    presenter: PresenterAbilities(isInteractive: true, takesPasscode: true)
                )
            )
            #expect(!reply.parameters.value)
        }
    }

    @Test func `an item of one's own does not open for a caller who shows no prompt`() async throws {
        let machine = try await RemoteMachine(reader: "mock:then=no-match", enrolled: .leftThumb)
        let item = try await machine.services.seal(
            secret("the secret"),
            access: .biometryAny,
            applicationPassword: nil
        )
        let use = UseItem(.sealed(item), for: .secret, ReleaseRequest(EvaluationRequest("x")))
        // Without "more" there are no updates; the touches are charged all the same.
        let connection = try ServiceConnection(try machine.transport.connect())
        await #expect(throws: ServiceCallError.self) {
            let _: CallReply<Prompted<UseItem.Reply>> = try await connection.call(
                UseItem.name,
                Prompting(
                    call: use,
                    presenter: PresenterAbilities(isInteractive: true, takesPasscode: true)
                )
            )
        }
        #expect(try await machine.services.ask(ListAttempts()).map(\.failures).max() == 3)
    }

    @Test func `a caller that hangs up in the middle leaves the reader to the next one`() async throws {
        let machine = try await RemoteMachine(reader: "mock:hang*9", enrolled: .leftThumb)
        for _ in 0..<5 {
            let connection = try ServiceConnection(try machine.transport.connect())
            await #expect(throws: ServiceCallError.self) {
                let _: CallReply<Prompted<Evaluation>> = try await connection.call(
                    EvaluatePolicy.name,
                    Prompting(
                        call: EvaluatePolicy(EvaluationRequest("x")),
                        presenter: PresenterAbilities(isInteractive: true, takesPasscode: false)
                    ),
                    update: { if $0.prompt != nil { connection.close() } }
                )
            }
        }
        await #expect(throws: ServiceError(.userCancel)) {
            try await machine.services.evaluate(
                EvaluationRequest("unlock"),
                presenter: ScriptedPresenter(pressing: .cancel)
            )
        }
    }

    @Test func `what was shown in a session ends with its connection, for one who knows its id too`()
        async throws
    {
        let machine = try await HostMachine()
        let application = ApplicationID(rawValue: "org.example.app")
        let session = OwnerSession()
        let client = ServiceClient(transport: machine.transport)
        try await machine.services.ask(
            AskForFinger(ConsentRequest(application: application), in: session),
            presenter: ScriptedPresenter()
        )
        let id = try #require(await RemoteSession.id(of: session, client))
        session.forget()
        await machine.sessionsHaveEnded()
        var set = SetPasscode(
            secret("2468 hunter"),
            ConsentRequest(application: application),
            shown: OwnerSession()
        )
        set.sessionID = id
        let named = set
        await #expect {
            _ = try await client.call(named)
        } throws: {
            ($0 as? ServiceError)?.code == .accessDenied
        }
    }
}
