// SPDX-License-Identifier: Apache-2.0

import WhorlRemote
import ArgumentParser
import Synchronization
import WhorlTerminalPrompt
import WhorlFingerprint
import WhorlService
import WhorlSupport

/// The command `whorl devices`.
struct Devices: Verb {
    static let asks = Asked.engine
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "List fingerprint readers",
        discussion: """
            The first column is the ID to use with --reader. Example:

              whorl devices
              whorl devices --json | jq -r '.result.devices[].id'
            """,
        subcommands: [DevicesCapture.self, DevicesExercise.self]
    )

    @OptionGroup var global: GlobalOptions

    func answer(_ session: Session) async throws -> Answer {
        let readers = try await session.services.readers.readers()
        var infos: [ReaderInfo] = []
        for reader in readers { infos.append(await reader.info) }
        infos.forEach { session.console.used($0.kind) }
        return Answer(
            result: ["devices": .array(infos.map(\.json))],
            text: infos.isEmpty ? ["No fingerprint reader found."] : Table.lines(infos.map(\.row))
        )
    }
}

extension ReaderInfo {
    fileprivate var json: JSONValue {
        [
            "id": .string(id.rawValue), "driver": .string(driver), "name": .string(name),
            "scanType": .string(scanType.rawValue), "features": .strings(features.names),
            "enrollStages": .integer(enrollStages), "storage": .string(storage.rawValue),
            "strength": .string(strength.name), "readerKind": .string(kind.rawValue),
            "usb": usb.map { .string($0.description) },
        ]
    }

    fileprivate var row: [String] {
        let place = storage == .host ? "matches on this computer" : "matches on the reader"
        return [id.rawValue, name, "\(scanType.rawValue), \(enrollStages) stages, \(place)", kindText]
    }

    private var kindText: String {
        switch kind {
        case .hardware: ""
        case .virtual: "virtual"
        case .mock: "mock"
        }
    }
}

/// Text in aligned columns.
enum Table {
    /// Returns the rows as lines with aligned columns, without empty columns and control characters.
    static func lines(_ rows: [[String]]) -> [String] {
        let rows = rows.map { $0.map { DisplayText.clean($0, limit: 120) } }
        let count = rows.map(\.count).max() ?? 0
        let widths = (0..<count).map { column in
            rows.map { $0.indices.contains(column) ? TerminalText.width(of: $0[column]) : 0 }.max() ?? 0
        }
        return rows.map { row in
            let cells = zip(row, widths).filter { $1 > 0 }.map { TerminalText.padded($0, to: $1) }
            return String(trimmingEnd(cells.joined(separator: "  ")))
        }
    }

    private static func trimmingEnd(_ line: String) -> Substring {
        var line = Substring(line)
        while line.last == " " { line.removeLast() }
        return line
    }
}

/// The command `whorl devices capture`.
struct DevicesCapture: Verb {
    static let asks = Asked.engine
    static let configuration = CommandConfiguration(
        commandName: "capture",
        abstract: "Save the reader's image of a finger",
        discussion: """
            Writes a binary PGM file with 8 bits per pixel, readable by you only. It is an image of your finger: delete it when you \
            no longer need it. Readers that match on their chip return no images. When the system service owns the reader, only root \
            can capture an image. Example:

              whorl devices capture --output finger.pgm
            """
    )

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("File to write; an existing file is replaced", valueName: "file"),
        completion: .file(extensions: ["pgm"])
    )
    var output: String

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard !output.isEmpty else { throw ValidationError("--output requires a file name.") }
    }

    func answer(_ session: Session) async throws -> Answer {
        // The path is checked before prompting for a finger.
        let file = OutputFile(path: output, content: "picture")
        try file.check()
        let own = try session.own()
        let image = try await Activity.run(
            "Capture an image of a finger",
            at: try await own.reader(),
            console: session.console,
            success: { _ in .finished("Taken.") },
            failure: "No image captured."
        ) { activity in
            try await patiently(global.patience, observer: activity.scan) {
                try await own.capture(observer: $0)
            }
        }
        // The format is netpbm's, pgm(5).
        try file.replace(with: Array("P5\n\(image.width) \(image.height)\n255\n".utf8) + image.pixels)
        return Answer(
            result: [
                "output": .string(output), "width": .integer(image.width), "height": .integer(image.height),
            ],
            text: ["\(DisplayText.clean(output, limit: 1000)): \(image.width) × \(image.height) pixels"]
        )
    }
}

/// Closes a reader after an operation, even if that was cancelled.
///
/// An error from closing does not change the result.
func closeAnyway(_ reader: any FingerprintReader) async {
    await Task { try? await reader.close() }.value
}

/// The command `whorl devices exercise`.
struct DevicesExercise: Verb {
    static let asks = Asked.engine
    static let configuration = CommandConfiguration(
        commandName: "exercise",
        abstract: "Test what a reader can do",
        discussion: """
            Runs these steps, as far as the reader supports them: \
            \(ReaderExercise.Step.allCases.map(\.rawValue).joined(separator: ", ")). \
            The test print is deleted at the end. Enrolled fingers are kept, unless you add --clear-storage. If a finger is \
            enrolled or a passcode is set, you authenticate first.

            With --report, the command shows a report for Docs/hardware/ in Whorl's source, and asks whether to save it. The report \
            has models, versions and the result of each step, and nothing about you, this computer or this particular reader. \
            Nothing is sent. Examples:

              whorl devices exercise --skip identify
              whorl devices exercise --report
            """
    )

    @Flag(help: "First delete every print in the reader, of all systems and users (root only)")
    var clearStorage = false

    @Option(
        name: .customLong("skip"),
        help: ArgumentHelp("Skip a step; may be repeated", valueName: "step"),
        completion: .list(ReaderExercise.Step.skippable.map(\.rawValue))
    )
    var skipped: [String] = []

    @Flag(help: "Show a hardware report, and ask whether to save it")
    var report = false

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "File for the report; an existing file is replaced (default: reader-VENDOR-PRODUCT.json)",
            valueName: "file"
        ),
        completion: .file(extensions: ["json"])
    )
    var output: String?

    @Flag(help: "Save the report without asking")
    var yes = false

    @OptionGroup var passcode: PasscodeOption
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard report || (output == nil && !yes) else {
            throw ValidationError("--output and --yes require --report.")
        }
        guard output?.isEmpty != true else { throw ValidationError("--output requires a file name.") }
    }

    func answer(_ session: Session) async throws -> Answer {
        // Anything that would prevent saving the report is reported before prompting for a finger.
        if report, !yes, global.json || !Confirmation.isPossible {
            throw Failure.usage(
                "Cannot ask whether to save the report: there is no terminal.",
                hint: "Add --yes to save it without asking."
            )
        }
        if let output { try OutputFile(path: output, content: "report").check() }
        let exercise = ReaderExercise(clearsStorage: clearStorage, skipped: try steps())
        let preset = try await passcode.preset()
        let activity = Activity("Test the reader", console: session.console)
        let used = Mutex<ReaderInfo?>(nil)
        let results = try await activity.run(
            success: { $0.isGood ? .finished("Done.") : .failed("Some steps failed.") },
            failure: "Test not finished."
        ) {
            try await session.ask(
                handing: preset,
                observer: { progress in
                    if case .began(let reader) = progress { used.withLock { $0 = reader } }
                    show(progress, activity)
                }
            ) {
                ExerciseReader(exercise, $0)
            }
        }
        var answer = Answer(
            result: ["steps": .array(results.map(\.json))],
            text: Table.lines(results.map(\.row)),
            status: results.isGood ? .success : .failure
        )
        if report, let reader = used.withLock(\.self) {
            try await save(HardwareReport(reader, results, session), session.console, &answer)
        }
        return answer
    }

    /// Shows the report, and saves it if the user agrees.
    private func save(
        _ report: HardwareReport,
        _ console: Console,
        _ answer: inout Answer
    ) async throws {
        let json = report.json
        let file = OutputFile(path: output ?? report.fileName, content: "report")
        let shown = DisplayText.clean(file.path, limit: 1000)
        try file.check()
        answer.result = answer.result.adding("report", json)
        console.show(json)
        let isWanted =
            if yes { true } else { try await Confirmation.ask("Save this as \(shown)?", on: console) }
        guard isWanted else {
            answer.text.append("Report not saved.")
            return
        }
        try file.replace(with: Array((json.lines().joined(separator: "\n") + "\n").utf8))
        answer.result = answer.result.adding("output", .string(file.path))
        answer.text += [
            "Report saved to \(shown). To contribute it, add it to Docs/hardware/ in Whorl's source;",
            "Docs/Readers.md explains how.",
        ]
    }

    private func show(_ progress: EnrollmentProgress, _ activity: Activity) {
        switch progress {
        case .began(let reader): activity.begin(at: reader)
        case .scan(let event): activity.scan(event)
        case .exercising(.enroll): activity.part("Enroll: use the same finger each time.")
        case .exercising(.verify): activity.part("Verify: use the same finger.")
        case .exercising(.identify): activity.part("Identify: use the same finger.")
        case .exercising, .confirming, .area, .again, .tested: break
        }
    }

    private func steps() throws(Failure) -> Set<ReaderExercise.Step> {
        var steps: Set<ReaderExercise.Step> = []
        for name in skipped {
            guard let step = ReaderExercise.Step(rawValue: name), ReaderExercise.Step.skippable.contains(step)
            else {
                let names = ReaderExercise.Step.skippable.map(\.rawValue).joined(separator: ", ")
                let typed = DisplayText.clean(name, limit: 40)
                throw .usage("Unknown step “\(typed)”.", hint: "The steps are \(names).")
            }
            steps.insert(step)
        }
        return steps
    }
}

extension HardwareReport {
    /// Creates the report of a test, which does not require another touch.
    fileprivate init(
        _ reader: ReaderInfo,
        _ steps: [ReaderExercise.StepResult],
        _ session: Session
    ) async {
        // Some drivers know their features only after the reader was opened; a disconnected one has reported some
        // before.
        self.reader = await (try? await session.services.readers.chosenReader())?.info ?? reader
        self.steps = steps
        // A report without a TPM is valid, too.
        let status = try? await session.services.ask(ReadVaultStatus())
        chip = status?.chip
        isSimulatedTPM = status?.isSimulated ?? false
        libfprint = reader.kind == .mock ? nil : LibfprintVersion.installed()
    }
}

extension [ReaderExercise.StepResult] {
    fileprivate var isGood: Bool { allSatisfy { $0.failure == nil } }
}

extension ReaderExercise.StepResult {
    fileprivate var json: JSONValue {
        [
            "name": .string(step.rawValue), "ok": .bool(failure == nil), "seconds": .seconds(seconds),
            "error": failure.map { .string($0) },
        ]
    }

    fileprivate var row: [String] {
        let thousandths = String(Int((seconds * 1000).rounded()) % 1000 + 1000).dropFirst()
        let time = "\(Int((seconds * 1000).rounded()) / 1000).\(thousandths) s"
        return [failure == nil ? "✓" : "✗", step.rawValue, time, failure ?? ""]
    }
}
