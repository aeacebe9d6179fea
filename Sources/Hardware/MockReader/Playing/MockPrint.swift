// SPDX-License-Identifier: Apache-2.0

internal import WhorlFingerprint

/// A template of a mock: the finger, a number that distinguishes enrollments of the same finger, and how often it was
/// updated.
///
/// It is stored as text such as `mock:right-index-finger#7`, with `~2` appended after two updates. A mock with storage
/// returns `~1` when it enrolls, and omits it in its listing, because the handles of real readers differ from their
/// listings in the same way.
struct MockPrint: Hashable, Sendable {
    /// The finger; `nil` for a stranger's, which never matches.
    var finger: Finger?
    /// Counted from 1.
    var serial: Int
    /// The number of updates.
    var revision = 0

    /// The largest number in a template, small enough that sums cannot overflow.
    private static let largestNumber = 1 << 53
}

extension MockPrint {
    /// Parses a template; returns `nil` for a template of another type of reader.
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

    /// Returns whether both are the same enrollment.
    func isSame(as other: MockPrint) -> Bool { plain == other.plain }
}

/// Images that differ for each finger of a mock, and do not resemble fingerprints.
enum MockPicture {
    private static let side = 64

    /// Draws stripes, with one pattern for each finger; `nil`, a stranger's finger, has the plainest.
    static func draw(_ finger: Finger?) -> FingerprintImage? {
        let number = Int(finger?.number ?? 0)
        let pixels = (0..<side * side).map { index in
            let (y, x) = index.quotientAndRemainder(dividingBy: side)
            return UInt8((x * (number + 1) * 4 + y * (11 - number) * 4) & 0xff)
        }
        return FingerprintImage(width: side, height: side, pixels: pixels)
    }
}
