// SPDX-License-Identifier: Apache-2.0

internal import WhorlFingerprint

/// A mock's template, which consists of the finger, a number that distinguishes enrollments of the same finger, and the
/// number of updates.
///
/// It is stored as text such as `mock:right-index-finger#7`, with `~2` appended after two updates. A mock with storage
/// returns a print with `~1` when it enrolls but omits the suffix from its listing, because real readers' handles
/// differ from their listings in the same way.
struct MockPrint: Hashable, Sendable {
    /// The finger, or `nil` for a stranger's finger, which never matches.
    var finger: Finger?
    /// The number of this enrollment, counted from 1.
    var serial: Int
    /// The number of times the print was updated.
    var revision = 0

    /// The largest number allowed in a template, small enough that sums cannot overflow.
    private static let largestNumber = 1 << 53
}

extension MockPrint {
    /// Parses a template, or returns `nil` if it belongs to another type of reader.
    init?(_ template: Template) {
        guard template.bytes.count <= 100, let text = String(validating: template.bytes, as: UTF8.self) else {
            return nil
        }
        self.init(text)
    }

    init?(_ text: String) {
        guard text.hasPrefix("mock:") else { return nil }
        let parts = text.dropFirst("mock:".count).split(separator: "#", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let numbers = parts[1].split(separator: "~", omittingEmptySubsequences: false)
        let finger = Finger(rawValue: String(parts[0]))
        guard finger != nil || parts[0] == "unknown",
            let serial = Int(numbers[0]), (1...MockPrint.largestNumber).contains(serial),
            numbers.count <= 2,
            let revision = numbers.count == 2 ? Int(numbers[1]) : 0,
            (0...MockPrint.largestNumber).contains(revision)
        else { return nil }
        self.init(finger: finger, serial: serial, revision: revision)
    }

    var text: String {
        "mock:\(finger?.rawValue ?? "unknown")#\(serial)" + (revision > 0 ? "~\(revision)" : "")
    }

    var template: Template { Template(bytes: Array(text.utf8)) }

    /// The print as listed, without its updates.
    var plain: MockPrint { MockPrint(finger: finger, serial: serial) }

    /// The same enrollment after one more update.
    var improved: MockPrint {
        MockPrint(finger: finger, serial: serial, revision: min(revision + 1, MockPrint.largestNumber))
    }

    /// Returns whether both prints belong to the same enrollment.
    func isSame(as other: MockPrint) -> Bool { plain == other.plain }
}

/// Images that differ for each of a mock's fingers and do not resemble fingerprints.
enum MockPicture {
    private static let side = 64

    /// Draws stripes in a different pattern for each finger.
    ///
    /// A stranger's finger (`nil`) has the plainest pattern.
    static func draw(_ finger: Finger?) -> FingerprintImage? {
        let number = Int(finger?.number ?? 0)
        let pixels = (0..<side * side).map { index in
            let (y, x) = index.quotientAndRemainder(dividingBy: side)
            return UInt8((x * (number + 1) * 4 + y * (11 - number) * 4) & 0xff)
        }
        return FingerprintImage(width: side, height: side, pixels: pixels)
    }
}
