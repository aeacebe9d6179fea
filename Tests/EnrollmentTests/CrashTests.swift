// SPDX-License-Identifier: Apache-2.0

import WhorlEnrollment
import WhorlFingerprint
import Foundation
import Glibc
import WhorlStateStore
import Testing
import WhorlService

/// A process that enrolls and removes is killed at random moments, again and again on one store.
struct CrashTests {
    private static let kills = 40

    @Test(.timeLimit(.minutes(60)))
    func `a kill at any moment loses no finger that was acknowledged and leaves none half there`()
        async throws
    {
        let home = try TemporaryDirectory()
        let path = home.path
        var generation: UInt64 = 0
        for round in 0..<CrashTests.kills {
            let delay = UInt32.random(in: 0...60_000)
            // Half of the kills come early, if need be before the store is open, the others when there is something to lose.
            let isLate = round % 2 == 1
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, delay = delay as UInt32, isLate = isLate as Bool] in
                try await changeForEver(
                    StateDirectory(path: path + "/state"),
                    log: path + "/log",
                    killedAfter: delay,
                    ofFirstChange: isLate
                )
            }
            guard let database = try StateDatabase.openExisting(home.state) else { continue }
            let store = EnrollmentStore(database: database, generations: SoftwareGeneration())
            let fingers = try await store.fingers(of: "ada")
            let gallery = try await store.gallery(of: "ada", on: ReaderInfo.test().id)
            #expect(Set(gallery.map(\.id)) == Set(fingers.map(\.id)))
            #expect(try acknowledged(path + "/log").agrees(with: Set(fingers.map { $0.finger.rawValue })))

            // The generation never goes back either.
            let now = try await store.state(of: "ada", application: "app")?.generation ?? generation
            #expect(now >= generation)
            generation = now
        }
        #expect(generation > 0)
    }

    /// What the killed processes had said: lines `add F`, `added F`, `remove F`, `removed F`.
    private struct Acknowledged {
        var there: Set<String> = []
        /// What was begun last and not acknowledged; it may have happened or not.
        var open: String?

        func agrees(with fingers: Set<String>) -> Bool {
            fingers == there || fingers == there.symmetricDifference(open.map { [$0] } ?? [])
        }
    }

    /// Replays the log.
    ///
    /// What a killed process began is settled by what the next one found.
    private func acknowledged(_ path: String) throws -> Acknowledged {
        var state = Acknowledged()
        for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            let finger = words.count > 1 ? words[1] : ""
            switch words[0] {
            case "add", "remove": state.open = finger
            case "added": (_, state.open) = (state.there.insert(finger), nil)
            case "removed": (_, state.open) = (state.there.remove(finger), nil)
            case "found":
                state = Acknowledged(there: Set(finger.split(separator: ",").map(String.init)), open: nil)
            default: Issue.record("a line of the log is \(line)")
            }
        }
        return state
    }
}

/// Adds and removes fingers until the process is killed, and writes down what it does.
///
/// It is killed so many microseconds after the first change that it wrote down where the kill is late, else after its start.
private func changeForEver(
    _ directory: StateDirectory,
    log path: String,
    killedAfter delay: UInt32,
    ofFirstChange isLate: Bool
) async throws {
    let log = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    @Sendable func note(_ text: String) {
        // One write: a killed process has written the line or not.
        _ = Array((text + "\n").utf8).withUnsafeBytes { write(log, $0.baseAddress, $0.count) }
    }
    let start = DispatchSemaphore(value: isLate ? 0 : 1)
    Thread.detachNewThread {
        start.wait()
        usleep(delay)
        kill(getpid(), SIGKILL)
    }
    let store = EnrollmentStore(
        database: try StateDatabase(directory: directory),
        generations: SoftwareGeneration()
    )
    let enroller = AgreedEnroller(store)
    var there = Set(try await store.fingers(of: "ada").map(\.finger))
    note("found " + there.map(\.rawValue).joined(separator: ","))
    while true {
        for finger in Finger.allCases.shuffled() {
            if there.contains(finger) {
                note("remove \(finger.rawValue)")
                _ = try await enroller.remove(.finger(finger, on: nil), profile: "ada", readers: [])
                note("removed \(finger.rawValue)")
            } else {
                note("add \(finger.rawValue)")
                _ = try await store.add(
                    Template(bytes: Array(repeating: finger.number, count: 3_000)),
                    as: finger,
                    label: nil,
                    profile: "ada",
                    on: .test(),
                    at: Date()
                )
                note("added \(finger.rawValue)")
            }
            there.formSymmetricDifference([finger])
            start.signal()
        }
    }
}
