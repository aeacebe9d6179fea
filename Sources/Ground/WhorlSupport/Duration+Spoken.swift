// SPDX-License-Identifier: Apache-2.0

extension Duration {
    /// The duration as words in a sentence, rounded up, such as `5 minutes`.
    package var spoken: String {
        let (count, unit) = rounded
        return "\(count) \(unit.rawValue)\(count == 1 ? "" : "s")"
    }

    /// The same in the person's language.
    package var translated: String {
        let (count, unit) = rounded
        return switch unit {
        case .second: WhorlSupport.translated("%d second", "%d seconds", count: count)
        case .minute: WhorlSupport.translated("%d minute", "%d minutes", count: count)
        case .hour: WhorlSupport.translated("%d hour", "%d hours", count: count)
        }
    }

    private enum Unit: String { case second, minute, hour }

    private var rounded: (count: Int, unit: Unit) {
        let seconds = Int(max(1, components.seconds + (components.attoseconds > 0 ? 1 : 0)))
        return switch seconds {
        case ..<120: (seconds, .second)
        case ..<7200: ((seconds + 59) / 60, .minute)
        default: ((seconds + 3599) / 3600, .hour)
        }
    }
}
