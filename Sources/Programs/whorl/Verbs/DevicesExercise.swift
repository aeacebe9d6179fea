// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlFingerprint
import TerminalPrompt
import WhorlService
import WhorlSupport

/// The command `whorl devices exercise`.
struct DevicesExercise: Verb {
    static let configuration = CommandConfiguration(
        commandName: "exercise",
        abstract: "Tries what a reader can do, with a print of its own that it deletes at the end.",
        discussion: """
            In this order, as far as the reader supports it: \
            \(ExerciseStep.allCases.map(\.rawValue).joined(separator: ", ")). \
            Enrolled fingers stay as they are, unless --clear-storage deletes what the reader keeps. Example:

              whorl devices exercise --skip identify
            """
    )

    @Flag(help: "Deletes every print in the reader first, of whatever system and user.")
    var clearStorage = false

    @Option(
        name: .customLong("skip"),
        help: ArgumentHelp("Leaves a step out; may be repeated.", valueName: "step"),
        completion: .list(ExerciseStep.skippable.map(\.rawValue))
    )
    var skipped: [String] = []

    @OptionGroup var global: GlobalOptions

    func answer(_ session: Session) async throws(Failure) -> Answer {
        let skipped = try steps()
        let reader = try await session.ownReader()
        let exercise = ReaderExercise(
            reader: reader,
            clears: clearStorage,
            skipped: skipped,
            patience: global.patience
        )
        let report = try await Activity.run(
            "Try the reader",
            at: await reader.info,
            console: session.console,
            success: { $0.isGood ? .finished("Done.") : .failed("Not all of it worked.") },
            failure: "Not done."
        ) { (activity) async throws(Failure) in
            let report = await exercise.run(activity)
            if let cancellation = report.cancellation { throw cancellation }
            return report
        }
        return Answer(
            result: ["steps": .array(report.steps.map(\.json))],
            text: Table.lines(report.steps.map(\.row)),
            status: report.isGood ? .success : .failure
        )
    }

    private func steps() throws(Failure) -> Set<ExerciseStep> {
        var steps: Set<ExerciseStep> = []
        for name in skipped {
            guard let step = ExerciseStep(rawValue: name), ExerciseStep.skippable.contains(step) else {
                let names = ExerciseStep.skippable.map(\.rawValue).joined(separator: ", ")
                let typed = DisplayText.clean(name, limit: 40)
                throw .usage("There is no step “\(typed)” to skip.", hint: "The steps are \(names).")
            }
            steps.insert(step)
        }
        return steps
    }
}

extension StepReport {
    fileprivate var json: JSONValue {
        [
            "name": .string(step.rawValue), "ok": .bool(failure == nil), "seconds": .seconds(seconds),
            "error": failure.map { .string($0.message) },
        ]
    }

    fileprivate var row: [String] {
        let thousandths = String(Int((seconds * 1000).rounded()) % 1000 + 1000).dropFirst()
        let time = "\(Int((seconds * 1000).rounded()) / 1000).\(thousandths) s"
        return [failure == nil ? "✓" : "✗", step.rawValue, time, failure?.message ?? ""]
    }
}
