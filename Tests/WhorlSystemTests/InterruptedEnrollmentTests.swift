// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoftwareTPM
import Testing
import WhorlFingerprint
import WhorlService
import WhorlSystem

@Suite(.timeLimit(.minutes(5))) struct `An enrollment that is interrupted` {
    /// A presenter of a person who looks on.
    private struct Onlooker: PromptPresenter {
        func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? { nil }
        var isInteractive: Bool { get async { true } }
    }

    @Test(arguments: Interruption.allCases)
    func `says why, and enrolls nothing`(_ interruption: Interruption) async throws {
        let tpm = try SoftwareTPM()
        var configuration = SystemConfiguration(environment: [:])
        configuration.stateDirectory = tpm.directory.path + "/whorl"
        configuration.tpm = "none"
        // One stage, and then nothing more.
        configuration.reader = "mock:touch right-index-finger,hang"
        let interruptions = Interruptions()
        let services = InProcessRoot(
            configuration,
            of: AccountTrust(),
            interruptions: interruptions,
            reach: ReaderReachability(lid: nil),
            ownStay: { nil }
        )
        .services
        let (stages, stage) = AsyncStream.makeStream(of: Void.self)
        let enrolling = Task {
            await #expect(throws: ServiceError.self) {
                _ = try await services.ask(
                    EnrollFinger(
                        NewFinger(.rightIndex, label: nil),
                        ConsentRequest(application: services.application)
                    ),
                    presenter: Onlooker(),
                    observer: { if case .scan(.stage) = $0 { stage.finish() } }
                )
            }
        }
        for await _ in stages {}
        await interruptions.begin(interruption, patience: .seconds(60))
        #expect(await enrolling.value == interruption.error)
        #expect(try await services.ask(ListFingers()).isEmpty)
    }
}
