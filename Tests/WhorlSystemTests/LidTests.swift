// SPDX-License-Identifier: Apache-2.0

import WhorlGLib
import MockReader
import Synchronization
import Testing
import WhorlFingerprint
import WhorlService
import WhorlSystem

/// A lid as a test wants it.
private struct TestLid: LidManager {
    let state: Lid?
    func lid() async throws(SystemBus.Fault) -> Lid {
        guard let state else { throw SystemBus.Fault(name: nil, cause: "no login manager") }
        return state
    }
}

/// A lid that shuts while a test waits.
private final class MovingLid: LidManager {
    private let isShut = Atomic(false)
    func shut() { isShut.store(true, ordering: .relaxed) }
    func lid() async throws(SystemBus.Fault) -> Lid {
        Lid(isShut: isShut.load(ordering: .relaxed), isDocked: false)
    }
}

@Suite struct `The lid` {
    @Test func `keeps a built-in reader out of reach while it is shut, and no other`() {
        for placement in ReaderPlacement.allCases {
            for isDocked in [false, true] {
                let open = Lid(isShut: false, isDocked: isDocked)
                #expect(ReaderReachability.obstacle(to: placement, under: open) == nil)
                let shut = Lid(isShut: true, isDocked: isDocked)
                let obstacle = ReaderReachability.obstacle(to: placement, under: shut)
                #expect((obstacle != nil) == (placement == .builtIn))
            }
        }
        let docked = ReaderReachability.obstacle(to: .builtIn, under: Lid(isShut: true, isDocked: true))
        #expect(docked?.code == .lidShut)
        #expect(docked?.recovery == "Open the lid, or connect a reader that can be touched.")
    }

    @Test(arguments: [
        ("fixed\n", ReaderPlacement.builtIn), ("removable\n", .pluggedIn), ("unknown\n", .unknown),
        ("", .unknown), ("fixedly\n", .unknown),
    ])
    func `is over what the port calls fixed`(text: String, expected: ReaderPlacement) {
        #expect(ReaderPlacement(removable: text) == expected)
    }

    private func services(_ lid: Lid?, builtIn: Bool = true) -> Services {
        var configuration = SystemConfiguration(environment: ["WHORL_READER": "mock:then=match"])
        configuration.stateDirectory = "/nonexistent/whorl"
        configuration.tpm = "none"
        let id = ReaderID(rawValue: "mock-0")
        return InProcessRoot(
            configuration,
            of: AccountTrust(),
            interruptions: Interruptions(),
            reach: ReaderReachability(lid: TestLid(state: lid), builtIn: builtIn ? [id] : []),
            ownStay: { nil }
        ).services
    }

    @Test func `that is shut is the answer of a preflight at once, with what to do`() async throws {
        let shut = services(Lid(isShut: true, isDocked: false))
        let preflight = await shut.preflight(.biometrics, for: shut.application)
        #expect(preflight.obstacle?.code == .lidShut)
        #expect(preflight.obstacle?.message == ServiceError(.lidShut).message)
        #expect(preflight.obstacle?.recovery == ServiceError(.lidShut).recovery)
        // The list still names the reader.
        #expect(try await shut.readers.readers().count == 1)
    }

    @Test func `that shuts while a prompt waits ends the wait for a touch, with what to do`() async {
        let lid = MovingLid()
        let reader = MockReader()
        let reach = ReaderReachability(lid: lid, builtIn: [reader.info.id])
        async let obstacle = reach.untilObstructed(reader)
        lid.shut()
        #expect(await obstacle?.code == .lidShut)
        #expect(await ReaderReachability(lid: lid).untilObstructed(reader) == nil)
        let waiting = Task {
            await ReaderReachability(lid: MovingLid(), builtIn: [reader.info.id]).untilObstructed(reader)
        }
        waiting.cancel()
        #expect(await waiting.value == nil)
    }

    @Test func `that is open, not over this reader, or not known keeps nothing away`() async {
        let all = [
            services(Lid(isShut: false, isDocked: false)), services(nil),
            services(Lid(isShut: true, isDocked: false), builtIn: false),
        ]
        for services in all {
            let preflight = await services.preflight(.biometrics, for: services.application)
            #expect(preflight.obstacle?.code == .biometryNotEnrolled)
        }
    }
}
