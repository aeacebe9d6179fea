// SPDX-License-Identifier: Apache-2.0

package import Authentication
package import Fingerprint

/// The content of a prompt, a pure value that updates change and that draws itself.
package struct PromptState: Drawing, Hashable {
    /// The phase of the prompt.
    package enum Phase: Sendable, Hashable {
        /// The reader is being made ready.
        case preparing
        /// The prompt waits for a finger.
        case waiting
        /// A finger is on the sensor.
        case reading
        /// The prompt is over: this finger matched.
        case matched(Finger)
        /// The prompt is over without success.
        case ended(String)
    }

    package let prompt: Prompt
    package private(set) var phase = Phase.preparing
    /// The problem with the last presentation; it stays until a finger is read again.
    package private(set) var hint: String?
    package private(set) var progress: Progress?

    /// The number of completed presentations, and their total.
    package struct Progress: Sendable, Hashable {
        package let completed: Int
        package let total: Int
    }

    package init(_ prompt: Prompt) { self.prompt = prompt }

    package mutating func apply(_ update: PromptUpdate) {
        guard !isOver else { return }  // a finger that is lifted afterwards changes nothing
        switch update {
        case .scan(.touch):
            phase = .waiting
        case .scan(.finger(let present)):
            phase = present ? .reading : .waiting
            if present { hint = nil }
        case .scan(.retry(let reason)):
            hint = reason.hint
        case .scan(.stage(let completed, let total)):
            progress = Progress(completed: completed, total: total)
            hint = nil
        case .noMatch(let remaining):
            hint = Self.noMatch(remaining: remaining)
        case .matched(let finger):
            phase = .matched(finger)
            hint = nil
        case .ended(let text):
            phase = .ended(text)
            hint = nil
        }
    }

    static func noMatch(remaining: Int) -> String {
        switch remaining {
        case ..<1: "Not recognised."
        case 1: "Not recognised. 1 try left."
        default: "Not recognised. \(remaining) tries left."
        }
    }

    /// Whether the prompt is over.
    package var isOver: Bool {
        switch phase {
        case .matched, .ended: true
        case .preparing, .waiting, .reading: false
        }
    }

    package static var interrupted: PromptUpdate { .ended("Cancelled.") }
}
