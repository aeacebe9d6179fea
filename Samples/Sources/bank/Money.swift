// SPDX-License-Identifier: Apache-2.0

/// An amount of the only currency that this bank has, in whole cents.
struct Money: CustomStringConvertible {
    let cents: Int

    init(cents: Int) { self.cents = cents }

    /// `25` or `25.50`; `nil` for anything else, and for nothing.
    init?(_ text: String) {
        let match = text.wholeMatch(of: /([0-9]{1,7})(?:\.([0-9]{2}))?/)
        guard let match, let whole = Int(match.1), let part = Int(match.2 ?? "00"), whole + part > 0 else {
            return nil
        }
        cents = 100 * whole + part
    }

    var description: String {
        let part = cents % 100
        return "\(cents / 100).\(part < 10 ? "0" : "")\(part)"
    }
}
