// SPDX-License-Identifier: Apache-2.0

/// An amount in whole cents.
///
/// This bank has a single currency.
struct Money: CustomStringConvertible {
    let cents: Int

    init(cents: Int) { self.cents = cents }

    /// Parses `25` or `25.50`; `nil` for anything else, and for zero.
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
