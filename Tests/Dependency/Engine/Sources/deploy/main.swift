import Foundation
import Whorl

/// A type of the program with a name that the module has as well.
enum Secrets {
    static let name = "token"
}

/// Tells the test when to touch the reader.
struct Prompts: PromptPresenter {
    var isInteractive: Bool { get async { true } }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        for await update in entry.updates {
            if case .scan(.touch) = update { tell("touch") }
        }
        return nil
    }
}

func tell(_ line: String) {
    print(line)
    fflush(nil)
}

do {
    if try await Fingers.list().isEmpty {
        for try await step in Fingers.enroll(.rightIndex) where step.event == .touch { tell("touch") }
        try await Whorl.Secrets.add(Secrets.name, Secret("hunter2"), access: .biometryCurrentSet)
        try await Keys.create("signer", access: .biometryAny)
    }
    let token = try await Whorl.Secrets.get(
        Secrets.name,
        reason: "deploy to production",
        presenter: Prompts()
    )
    let signature = try await Keys.key("signer")
        .sign(Data("release".utf8), reason: "sign the release", presenter: Prompts())
    let proof = try await evaluate("show your balance", presenter: Prompts())
    tell("token of \(token.count), signature of \(signature.raw.count), \(proof)")
} catch {
    tell("\(error)")
    exit(1)
}
