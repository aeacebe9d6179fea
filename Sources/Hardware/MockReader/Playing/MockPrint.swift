// SPDX-License-Identifier: Apache-2.0

internal import WhorlFingerprint

/// A template of a mock: a finger's name, a number that tells two enrollments of it apart, and how often it was
/// improved since.
///
/// As bytes it is text such as `mock:right-index-finger#7`, with `~2` behind it after two improvements. A mock
/// with storage of its own gives `~1` when it enrolls and leaves that out of its listing, as real readers have
/// handles that differ from their listing.
struct MockPrint: Hashable, Sendable {
    /// The finger; `nil` is somebody else's, which never matches.
    var finger: Finger?
    /// From 1.
    var serial: Int
    /// The number of times that it was improved.
    var revision = 0

    /// The greatest number in a template, far from where sums overflow.
    private static let largestNumber = 1 << 53
}

extension MockPrint {
    /// Reads a template; `nil` for one of another kind of reader.
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

    /// The print as it is listed: without its improvements.
    var plain: MockPrint { MockPrint(finger: finger, serial: serial) }

    /// The same enrollment, once more improved.
    var improved: MockPrint {
        MockPrint(finger: finger, serial: serial, revision: min(revision + 1, MockPrint.largestNumber))
    }

    /// Whether both are the same enrollment.
    func isSame(as other: MockPrint) -> Bool { plain == other.plain }
}

/// Pictures that tell the fingers of a mock apart, and are nothing like fingerprints.
enum MockPicture {
    private static let side = 64

    /// Stripes, one pattern for each finger; `nil` is somebody else's, the plainest of them.
    static func draw(_ finger: Finger?) -> FingerprintImage? {
        let number = Int(finger?.number ?? 0)
        let pixels = (0..<side * side).map { index in
            let (y, x) = index.quotientAndRemainder(dividingBy: side)
            return UInt8((x * (number + 1) * 4 + y * (11 - number) * 4) & 0xff)
        }
        return FingerprintImage(width: side, height: side, pixels: pixels)
    }
}
