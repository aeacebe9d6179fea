// SPDX-License-Identifier: Apache-2.0

/// Returns the number of characters that must be inserted, deleted or replaced to make one text of another.
///
/// It is Levenshtein's distance, computed with one row of memory.
package func editDistance(_ a: [Character], _ b: [Character]) -> Int {
    var row = Array(0...b.count)
    for (i, x) in a.enumerated() {
        var diagonal = row[0]
        row[0] = i + 1
        for (j, y) in b.enumerated() {
            let substitution = diagonal + (x == y ? 0 : 1)
            diagonal = row[j + 1]
            row[j + 1] = min(substitution, row[j] + 1, row[j + 1] + 1)
        }
    }
    return row[b.count]
}
