// SPDX-License-Identifier: Apache-2.0

extension Duration {
    /// The duration as words in a sentence, rounded up, such as `5 minutes`.
    package var spoken: String {
        let seconds = max(1, components.seconds + (components.attoseconds > 0 ? 1 : 0))
        let (count, unit) =
            switch seconds {
            case ..<120: (seconds, "second")
            case ..<7200: ((seconds + 59) / 60, "minute")
            default: ((seconds + 3599) / 3600, "hour")
            }
        return "\(count) \(unit)\(count == 1 ? "" : "s")"
    }
}
