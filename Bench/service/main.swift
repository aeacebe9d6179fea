// SPDX-License-Identifier: Apache-2.0

// Measures the wall: the same questions to the engine in this process and to whorld as a child, in turns; 64 clients;
// the service's memory; and its start when a client connects. Prints rows of Docs/Benchmarks.md; with --values, one
// number a line with its name, for `scripts/bench --against`.
//
// usage: ServiceBench [--values] FOLDER ACTIVATE WHORLD CALLS EVALUATIONS STARTS

import Foundation
import WhorlGLib
import WhorlRemote
import WhorlService

let words = CommandLine.arguments.filter { $0 != "--values" }
guard words.count == 7, let calls = Int(words[4]), let evaluations = Int(words[5]), let starts = Int(words[6])
else { exit(64) }
let folder = words[1]
let table = Table(isJudged: calls >= 100, isOfValues: words.count < CommandLine.arguments.count)

// As whorld does, so that the wall alone makes the difference.
GLibExecutor.ownContext()
let own = Side.own(folder)
let child = try Side.child(folder)
try await own.enroll()
try await child.enroll()

// --- a call ---------------------------------------------------------------------------------------------------------

func preflight(_ side: Side) async throws -> Double {
    let begin = ContinuousClock.now
    let answer = await side.services.preflight(.biometrics, for: Side.application)
    let time = (ContinuousClock.now - begin) / .microseconds(1)
    guard answer.canEvaluate else { throw BenchFault("\(answer)") }
    return time
}

for side in [own, child] { for _ in 0..<50 { _ = try await preflight(side) } }
var (here, there) = (Times(), Times())
for _ in 0..<calls {
    here.append(try await preflight(own))
    there.append(try await preflight(child))
}
table.row(
    ("call-us", there.quantile(0.5)),
    "a call over the wall (preflight), against the same in this process",
    "p50 \(there.text(0.5)) against \(here.text(0.5)) µs, p99 \(there.text(0.99)) against \(here.text(0.99)) µs",
    "+ ≤ 200 µs, + ≤ 1,000 µs",
    there.quantile(0.5) - here.quantile(0.5) <= 200 && there.quantile(0.99) - here.quantile(0.99) <= 1000
)

// --- an evaluation --------------------------------------------------------------------------------------------------

var (near, far) = (Times(), Times())
for press in 0..<evaluations {
    near.append(try await own.evaluate(press: press))
    far.append(try await child.evaluate(press: press))
}
let ratio = far.quantile(0.5) / near.quantile(0.5)
table.row(
    ("evaluation-ms", far.quantile(0.5)),
    "image → the answer at the client, against the same in this process",
    "\(far.text(0.5)) (p90 \(far.text(0.9))) ms against \(near.text(0.5)) (p90 \(near.text(0.9))) ms: "
        + "**\(String(format: "%.3f", ratio))**",
    "≤ 1.03",
    ratio <= 1.03
)

// --- many clients ---------------------------------------------------------------------------------------------------

let begin = ContinuousClock.now
let times = try await withThrowingTaskGroup(of: Times.self) { group in
    for _ in 0..<64 {
        group.addTask {
            var times = Times()
            for _ in 0..<max(1, calls / 16) { times.append(try await preflight(child)) }
            return times
        }
    }
    var all = Times()
    for try await times in group { all.append(times) }
    return all
}
let seconds = (ContinuousClock.now - begin) / .seconds(1)
table.row(
    ("crowd-us", seconds * 1_000_000 / Double(times.count)),
    "64 clients that ask preflight at once",
    "\(Int(Double(times.count) / seconds)) calls/s, p99 \(String(format: "%.1f", times.quantile(0.99) / 1000)) ms",
    "p99 < 50 ms",
    times.quantile(0.99) < 50_000
)

// --- memory and start -----------------------------------------------------------------------------------------------

try await Task.sleep(for: .seconds(1))
if let process = child.process {
    let memory = try Memory(of: process)
    table.row(
        ("memory-mib", memory.resident),
        "whorld's memory, idle after these calls: resident, of it its own",
        String(format: "%.1f MiB, %.1f MiB", memory.resident, memory.own),
        "≤ 20 MiB",
        memory.resident <= 20
    )
}
var activation = Times()
for number in 0..<starts {
    activation.append(
        try await Activation(folder, number, activate: words[2], whorld: words[3]).milliseconds()
    )
}
table.row(
    ("activation-ms", activation.quantile(0.5)),
    "start by socket activation → the first answer",
    "\(activation.text(0.5)) (p90 \(activation.text(0.9))) ms",
    "≤ 60 ms",
    activation.quantile(0.5) <= 60
)
exit(0)
