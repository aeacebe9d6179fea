// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlEnrollment
import WhorlFingerprint
import Foundation
import SoftwareMachine
import Synchronization
import WhorlService
import WhorlSystem

/// One profile on the one reader of this process.
final class Subject {
    private let services: InProcessRoot
    private let reader: any FingerprintReader
    private let templates: String
    private var gallery: [GalleryEntry] = []
    /// The numbers of the fingers in the gallery.
    private var numbers: [PrintID: Int] = [:]

    init(state: String, profile: String, templates: String) async throws {
        var configuration = SystemConfiguration()
        configuration.stateDirectory = state
        configuration.profile = profile
        configuration.application = ApplicationID(rawValue: "org.example.bench")
        services = InProcessRoot(configuration)
        reader = try await services.services.readers.chosenReader()
        self.templates = templates
    }

    // MARK: - Fingers

    func enroll(_ number: Int) async throws {
        let enroller = try await services.enroller()
        let finger = Finger.allCases[number]
        let consent = try await services.engine.consent(
            to: .add(finger),
            ConsentRequest(application: services.application),
            presenter: SilentPrompt()
        )
        _ = try await enroller.enroll(
            finger,
            profile: services.profile,
            on: reader,
            consent: consent
        ) { progress in
            switch progress {
            case .scan(.touch): tell("touch")
            case .began, .scan, .confirming, .area, .again, .tested, .exercising: break
            }
        }
        tell("ok")
    }

    func export() async throws {
        let store = try await services.store()
        let fingers = try await store.fingers(of: services.profile)
        for entry in try await store.gallery(of: services.profile, on: reader.info.id) {
            guard let finger = fingers.first(where: { $0.id == entry.id })?.finger,
                let number = Finger.allCases.firstIndex(of: finger)
            else { continue }
            try Data(entry.template.bytes).write(to: URL(filePath: "\(templates)/\(number)"))
        }
        tell("ok")
    }

    func makeOldest(_ number: Int) async throws {
        let store = try await services.store()
        for finger in try await store.fingers(of: services.profile)
        where finger.finger != Finger.allCases[number] {
            try await store.recordMatch(finger.id, at: Date())
        }
        tell("ok")
    }

    // MARK: - The reader alone

    func takeGallery(_ wanted: [Int]) throws {
        numbers = [:]
        gallery = try wanted.map { number in
            let bytes = try Data(contentsOf: URL(filePath: "\(templates)/\(number)"))
            let entry = GalleryEntry(id: PrintID(), template: Template(bytes: Array(bytes)))
            numbers[entry.id] = number
            return entry
        }
        tell("ok")
    }

    func open() async throws {
        try await reader.open()
        tell("ok")
    }

    func close() async throws {
        try await reader.close()
        tell("ok")
    }

    func identify() async throws {
        let result = try await reader.identify(among: gallery, whenBusy: .fail) { event in
            if event == .touch { tell("touch") }
        }
        let end = now()
        switch result {
        case .match(let id, _): tell("result \(end) \(end) \(numbers[id].map { "\($0)" } ?? "none")")
        case .noMatch: tell("result \(end) \(end) none")
        case .retry: tell("result \(end) \(end) retry")
        }
    }

    // MARK: - A whole evaluation

    func evaluate() async throws {
        let request = EvaluationRequest(
            policy: .biometrics,
            purpose: .yes,
            reason: "be measured",
            application: services.application
        )
        // The reader is let go a moment after an answer, and a touch for a prompt that had to wait for it is taken half a second
        // later: it may have been meant for the one before.
        try await ReaderTurns.run("wait", on: reader) {}
        let prompt = SilentPrompt()
        let evaluation = try await services.services.evaluate(request, presenter: prompt)
        let end = now()
        let number = evaluation.finger.flatMap { Finger.allCases.firstIndex(of: $0) }
        tell("result \(prompt.matchedAt) \(end) \(number.map { "\($0)" } ?? "none")")
    }
}

/// Shows nothing: the terminal is not what is measured.
private final class SilentPrompt: PromptPresenter {
    private let matched = Atomic(0)

    var isInteractive: Bool { true }

    /// When a prompt would have shown that the finger matched.
    var matchedAt: Int { matched.load(ordering: .relaxed) }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        for await update in entry.updates {
            switch update {
            case .scan(.touch): tell("touch")
            case .matched: matched.store(now(), ordering: .relaxed)
            default: break
            }
        }
        return nil
    }
}
