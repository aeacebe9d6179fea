// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Killing the program together with the engine that it has started as its child, as a power button does it.
enum Killing {
    /// Kills a process and its children.
    static func kill(_ process: Int32) {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
        for thread in threads {
            let children = "/proc/\(process)/task/\(thread)/children"
            let text = (try? String(contentsOfFile: children, encoding: .utf8)) ?? ""
            for child in text.split(separator: " ").compactMap({ Int32($0) }) {
                Foundation.kill(child, SIGKILL)
            }
        }
        Foundation.kill(process, SIGKILL)
    }
}

extension WhorlProgram.Outcome {
    /// Whether the program was killed.
    var wasKilled: Bool { [-SIGKILL, 128 + SIGKILL].contains(status) }

    /// Whether the engine in the program's child was killed, and the program says so.
    var hasLostItsEngine: Bool { status == 74 }
}
