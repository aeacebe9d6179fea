// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint

/// One step in the script of a ``MockReader``.
///
/// A step takes effect when an operation reaches it, usually while waiting for a finger.
public enum MockStep: Sendable, Hashable {
    /// A finger touches the sensor, is read and is lifted. One step is one presentation.
    case touch(MockFinger)
    /// A finger touches the sensor and is lifted, but cannot be read.
    case retry(ScanRetry)
    /// Nothing happens for the given duration, up to one hour.
    case delay(Duration)
    /// The reader is unplugged. A ``delay(_:)`` and ``plug`` that follow immediately then run on their own.
    case unplug
    /// The reader is plugged in again, but not opened.
    case plug
    /// The operation that reaches this step fails with the given error.
    ///
    /// A step with `inUse` or `permissionDenied` can also be reached by opening the reader.
    case fail(ReaderError.Code)
    /// The reader reports an impossible match.
    case lie(MockLie)
    /// Nothing happens until the operation is cancelled or the reader is unplugged.
    case hang
}

/// The finger that touches a ``MockReader``.
public enum MockFinger: Sendable, Hashable {
    /// One of the ten fingers of the mock's only user. It matches templates made from the same finger.
    case finger(Finger)
    /// The expected finger, which is that of the gallery's first entry, or the finger named in an enrollment (by
    /// default the right index finger). With an empty gallery, it does not match anything.
    case expected
    /// A stranger's finger. It does not match anything, not even a template that was enrolled from it.
    case unknown
}

/// A false result from a ``MockReader``.
///
/// An identification returns a print outside the gallery, which the layers above must reject. A verification, an
/// enrollment or a capture has no print to return, and fails with `ReaderError.Code.untrustworthy`.
public enum MockLie: String, Sendable, Hashable, CaseIterable {
    /// The print has the largest possible identity, as if an index past the end of the gallery had been read.
    case index
    /// The print has a new identity and comes with a template of its own, as if it had been updated.
    case stranger
}

extension MockStep: CustomStringConvertible {
    /// The step as it is written in a script.
    public var description: String {
        switch self {
        case .touch(.finger(let finger)): "touch \(finger.rawValue)"
        case .touch(.expected): "match"
        case .touch(.unknown): "no-match"
        case .retry(let reason): "retry:\(reason.rawValue.kebabCased)"
        case .delay(let duration): "delay:\(duration.wholeMilliseconds)ms"
        case .unplug: "unplug"
        case .plug: "plug"
        case .fail(.inUse): "busy"
        case .fail(let code): code.rawValue.kebabCased
        case .lie(let lie): "lie:\(lie.rawValue)"
        case .hang: "hang"
        }
    }
}

extension Duration {
    /// The duration in milliseconds, rounded down.
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        return overflow ? .max : product + attoseconds / 1_000_000_000_000_000
    }
}

extension String {
    /// The text in kebab case, such as `too-short` for `tooShort`.
    var kebabCased: String {
        reduce(into: "") { $0 += $1.isUppercase ? "-" + $1.lowercased() : String($1) }
    }
}
