// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Foundation
import WhorlSecretMemory
import Testing
import WhorlIPC
import WhorlService

@testable import WhorlRemote

@Suite("The traffic of the service")
struct TrafficTests {
    @Test func `holds no byte run of a secret or a passcode over a whole session`() async throws {
        let machine = try await RemoteMachine(enrolled: .leftThumb)
        let tap = TapTransport(machine.transport)
        let services = Services.remote(
            profile: "ada",
            application: ApplicationID(rawValue: "org.example.app"),
            over: tap
        )
        let words = ["ztq8 vb1x 4kwj", "hm0c yd6r 9pfl", "g3xz 7nqo u2ta", "w5be k8sj i1mv"]
        let consent = ConsentRequest(application: services.application)
        let session = OwnerSession()
        try await services.ask(AskForFinger(consent, in: session), presenter: ScriptedPresenter())
        try await services.ask(SetPasscode(secret(words[0]), consent, shown: session))
        try await services.changePasscode(words[0], to: words[1])
        let id = ItemID(.secret, try ItemName("s"), of: "ada")
        _ = try await services.ask(
            AddItem(
                id,
                MakeItem(
                    .secret(secret(words[3])),
                    access: .biometryAny.withApplicationPassword,
                    applicationPassword: secret(words[2])
                )
            )
        )
        let released = try await services.secret(
            in: .named(id),
            ReleaseRequest(EvaluationRequest("open"), applicationPassword: secret(words[2])),
            presenter: ScriptedPresenter()
        )
        let isWhole = SecretBytes.areEqual(released.product.bytes, secret(words[3]).bytes)
        #expect(isWhole)
        _ = try await services.evaluate(
            EvaluationRequest("unlock"),
            presenter: ScriptedPresenter(typing: [words[1]])
        )
        let recorded = tap.recorded
        // The tap sees the calls: otherwise it would find nothing anywhere.
        #expect(recorded.range(of: Data("io.whorl.Passcode.Change".utf8)) != nil)
        #expect(recorded.range(of: Data("io.whorl.Items.Use".utf8)) != nil)
        for word in words {
            let bytes = Data(word.utf8)
            for start in 0...bytes.count - 6 {
                let run = bytes[start..<start + 6]
                #expect(recorded.range(of: run) == nil, "\(word)")
            }
            #expect(recorded.range(of: Data(bytes.base64EncodedString().prefix(8).utf8)) == nil, "\(word)")
        }
    }
}
