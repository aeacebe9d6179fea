// SPDX-License-Identifier: Apache-2.0

// The program that is measured: it does what `turns` asks of it on stdin.
//
//   enroll N     touch…, ok                the finger of number N
//   export       ok                        writes the templates, for the C program, into the directory N by N
//   gallery N…   ok                        what `identify` compares with, in this order
//   open         ok
//   identify     touch, result T T WHO     the reader alone; when it returned; the finger's number, none or retry
//   close        ok
//   whole        touch, result T E WHO     an evaluation; when the prompt was told, and when it returned
//   oldest N     ok                        makes N the finger that matched longest ago
//   objects      NAME=LIVE/MADE…           the GObjects, where the fourth argument was `count`
//
// usage: FP_VIRTUAL_IMAGE=SOCKET LatencySubject STATE-DIRECTORY PROFILE TEMPLATE-DIRECTORY [count]

import CObjectCount
import WhorlGLib
import Glibc

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count >= 3 else { exit(64) }
if arguments.count > 3 { object_count_begin() }
// As whorld does, which has no main loop of its own either.
GLibExecutor.ownContext()

let subject = try await Subject(state: arguments[0], profile: arguments[1], templates: arguments[2])
while let line = readLine() {
    let words = line.split(separator: " ")
    let numbers = words.dropFirst().compactMap { Int($0) }
    switch words.first {
    case "enroll": try await subject.enroll(numbers[0])
    case "export": try await subject.export()
    case "gallery": try subject.takeGallery(numbers)
    case "open": try await subject.open()
    case "identify": try await subject.identify()
    case "close": try await subject.close()
    case "whole": try await subject.evaluate()
    case "oldest": try await subject.makeOldest(numbers[0])
    case "objects": tellObjects()
    default: exit(64)
    }
}

func tellObjects() {
    let types = ["FpPrint", "FpImage", "GCancellable", "GTask", nil]
    let counts = types.map { type in "\(type ?? "all")=\(object_count_live(type))/\(object_count_made(type))"
    }
    tell(counts.joined(separator: " "))
}
