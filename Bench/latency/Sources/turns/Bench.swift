// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The measurements, each on programs of its own.
struct Bench {
    private static let enrolled = 10

    private let directory: String
    private let templates: String
    private let pictures: Pictures
    private let identify: String
    private let subject: String
    private let log: FileHandle
    /// Of finger 0, which is the habitual one.
    private let presses: [[UInt8]]

    init(directory: String, pictures: Pictures, identify: String, subject: String) throws {
        self.directory = directory
        self.pictures = pictures
        presses = pictures.touches(finger: 0)
        self.identify = identify
        self.subject = subject
        templates = directory + "/templates"
        try FileManager.default.createDirectory(atPath: templates, withIntermediateDirectories: true)
        let path = directory + "/log"
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let log = FileHandle(forWritingAtPath: path)
        else { throw Failure(text: "cannot write \(path)") }
        self.log = log
    }

    private func c(_ name: String) throws -> Client {
        try Client("C, \(name)", identify, [templates], socket: "\(directory)/c-\(name)", log: log)
    }

    private func swift(_ profile: String, counting: Bool = false) throws -> Client {
        let arguments = ["\(directory)/state", profile, templates] + (counting ? ["count"] : [])
        let socket = "\(directory)/swift-\(profile)"
        return try Client("Swift, \(profile)", subject, arguments, socket: socket, log: log)
    }

    /// The profile `one` has finger 0, `ten` has fingers 0 to 9; the C program gets the templates of the latter.
    func enroll() throws {
        for (profile, count) in [("one", 1), ("ten", Bench.enrolled)] {
            let client = try swift(profile)
            for finger in 0..<count {
                // From the second finger on, the first one agrees by a touch.
                let owner = finger == 0 ? [] : [pictures.picture(finger: 0, press: 5)]
                let answer = try client.ask(
                    "enroll \(finger)",
                    putting: owner + pictures.enrollment(finger: finger)
                )
                guard answer == "ok" else { throw Failure(text: "enrolling: \(answer)") }
            }
            try client.ask("export")
            client.stop()
        }
    }

    /// The reader alone, open all the time: `LibfprintReader.identify` against `fp_device_identify()`.
    func compareReaders(_ rounds: Int, _ table: Table) throws {
        let all = (0..<Bench.enrolled).map { "\($0)" }
        let galleries = [
            ("1 print", ["0"]), ("10 prints, it is the first", all),
            ("10 prints, it is the last", all.reversed()),
        ]
        for (name, gallery) in galleries {
            let clients = [try c("ten"), try swift("ten")]
            for client in clients {
                try client.ask("gallery " + gallery.joined(separator: " "))
                try client.ask("open")
            }
            let lanes = clients.map { Lane($0, "identify", presses: presses) }
            try Lane.run(lanes, rounds: rounds)
            table.row(
                "image to result, reader, \(name), Swift against C",
                lanes[1].results,
                against: lanes[0].results,
                bar: 1.05
            )
            for client in clients {
                try client.ask("close")
                client.stop()
            }
        }
    }

    /// Whole evaluations, which open and close the reader and keep books, against a C program that opens, identifies
    /// and closes.
    func compareEvaluations(_ rounds: Int, _ table: Table) throws {
        let plain = [try c("one"), try c("ten")]
        try plain[0].ask("gallery 0")
        try plain[1].ask("gallery " + (0..<Bench.enrolled).map { "\($0)" }.joined(separator: " "))
        let one = try swift("one")
        let ten = try swift("ten")
        let c1 = Lane(plain[0], "whole", presses: presses)
        let c10 = Lane(plain[1], "whole", presses: presses)
        let swift1 = Lane(one, "whole", presses: presses)
        let swift10 = Lane(ten, "whole", presses: presses)
        let last = Lane(ten, "whole", after: "oldest 0", presses: presses)
        try Lane.run([c1, swift1, c10, swift10, last], rounds: rounds)

        for (name, swift, c) in [("1 print", swift1, c1), ("10 prints", swift10, c10)] {
            let what = "image to result, whole evaluation, \(name)"
            table.row(
                "\(what), until the prompt is told, against C's callback",
                swift.results,
                against: c.results,
                bar: 1.05
            )
            table.row(
                "\(what), until it returns, against C that has closed the reader too",
                swift.ends,
                against: c.ends,
                bar: 1.05
            )
            table.row(
                "\(what), until it returns, against C's callback",
                swift.ends,
                against: c.results,
                bar: nil
            )
        }
        table.row(
            "habitual finger of 10 against it alone",
            swift10.results,
            against: swift1.results,
            bar: 1.1
        )
        table.row(
            "fixed order, it is the last of 10, against it alone",
            last.results,
            against: swift1.results,
            bar: nil
        )
        for client in plain + [one, ten] { client.stop() }
    }

    /// Many evaluations in one process: resident memory, and the objects that live between evaluations.
    func watchMemory(_ evaluations: Int, _ table: Table) throws {
        let client = try swift("ten", counting: true)
        func evaluate(_ count: Int) throws {
            for round in 0..<count {
                let outcome = try client.measure("whole", putting: presses[round % presses.count])
                guard outcome.who == "0" else { throw Failure(text: "memory: the finger was \(outcome.who)") }
            }
        }
        try evaluate(evaluations / 10)
        let before = (resident: client.resident, objects: try client.ask("objects"))
        try evaluate(evaluations)
        let after = (resident: client.resident, objects: try client.ask("objects"))
        client.stop()

        let growth = after.resident - before.resident
        let what = "\(evaluations) evaluations in one process, after \(evaluations / 10)"
        table.row(
            "\(what): resident growth",
            "\(growth) KiB (from \(before.resident) to \(after.resident))",
            bar: "< 1024 KiB",
            isMet: growth < 1024
        )
        let (living, made) = (Objects(before.objects), Objects(after.objects))
        let kinds = ["FpPrint", "FpImage", "GCancellable", "GTask", "all"].map { name in
            "\(name) \((made.live[name] ?? -1) - (living.live[name] ?? 0)) of \((made.made[name] ?? 0) - (living.made[name] ?? 0))"
        }
        let left = made.live.merging(living.live) { $0 - $1 }.values
        table.row(
            "\(what): GObjects left, of those made",
            kinds.joined(separator: ", "),
            bar: "0",
            isMet: left.allSatisfy { $0 == 0 } && (made.made["FpPrint"] ?? 0) > 0
        )
    }
}

/// How many GObjects live and were made, by type, as `subject` tells it.
private struct Objects {
    private(set) var live: [String: Int] = [:]
    private(set) var made: [String: Int] = [:]

    init(_ line: String) {
        for word in line.split(separator: " ") {
            let parts = word.split { $0 == "=" || $0 == "/" }
            guard parts.count == 3 else { continue }
            live[String(parts[0])] = Int(parts[1])
            made[String(parts[0])] = Int(parts[2])
        }
    }
}
