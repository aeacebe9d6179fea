// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Foundation
import WhorlLibfprint

/// Does with readers what its standard input says, and tells what it sees: one line for each.
///
/// A program of its own, since emulated USB devices have to be there before a process's first library is loaded.
@main struct ReaderProbe {
    static func main() async {
        let source = LibfprintSource.shared
        let changes = await source.changes()
        let there = (try? await source.readers()) ?? []
        Task {
            for await change in changes {
                switch change {
                case .added(let info): say("added \(info.id) \(info.driver)")
                case .removed(let id): say("removed \(id)")
                }
            }
        }
        say("ready \(there.count)")
        var reader: (any FingerprintReader)?
        for await command in commands() {
            let readers = (try? await source.readers()) ?? []
            // The one that was there stays the one, even when it was pulled out.
            reader = command == "forget" ? nil : reader ?? readers.first
            switch command {
            case "forget": break
            case "readers": say("readers \(readers.count)")
            default: if let reader { begin(command, on: reader) } else { say("ended \(command) no reader") }
            }
        }
    }

    /// The next command may come while this one runs.
    private static func begin(_ command: String, on reader: any FingerprintReader) {
        Task {
            do {
                switch command {
                case "open": try await reader.open()
                case "close": try await reader.close()
                case "capture": _ = try await reader.capture(whenBusy: .wait, observer: { _ in })
                case "enroll":
                    // With a name, which no recording was made with: a replay cannot end it.
                    let metadata = EnrollmentMetadata(finger: .leftLittle, userName: "nobody in particular")
                    _ = try await reader.enroll(metadata, whenBusy: .wait, observer: { _ in })
                default: break
                }
                say("ended \(command) ok")
            } catch {
                say("ended \(command) \((error as? ReaderError)?.code.rawValue ?? "?")")
            }
        }
    }

    private static func commands() -> AsyncStream<String> {
        AsyncStream { continuation in
            Thread.detachNewThread {
                while let line = readLine() { continuation.yield(line) }
                continuation.finish()
            }
        }
    }

    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}
