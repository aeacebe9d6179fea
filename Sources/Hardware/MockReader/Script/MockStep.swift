// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint

/// One thing that happens to a ``MockReader``, in the order of its script.
///
/// A step is taken when an operation reaches it: mostly when it waits for a finger.
public enum MockStep: Sendable, Hashable {
    /// A finger is laid on and lifted, and was read well. One step is one presentation.
    case touch(MockFinger)
    /// A finger is laid on and lifted, and could not be read.
    case retry(ScanRetry)
    /// Nothing happens for this long, up to one hour.
    case delay(Duration)
    /// The reader is pulled out. What follows at once as ``delay(_:)`` and ``plug`` then runs by itself.
    case unplug
    /// The reader is plugged in again, closed.
    case plug
    /// The operation that reaches this step ends with this error.
    ///
    /// `inUse` and `permissionDenied` are reached by opening the reader too.
    case fail(ReaderError.Code)
    /// The reader claims a match that cannot be.
    case lie(MockLie)
    /// Nothing happens until the operation is cancelled, or the reader unplugged.
    case hang
}

/// The finger that is laid on a ``MockReader``.
public enum MockFinger: Sendable, Hashable {
    /// One of the ten fingers of the one person that a mock knows. It matches a template made of it.
    case finger(Finger)
    /// The finger that is asked for: of the first entry of the gallery, or the one that an enrollment names (the
    /// right index finger when it names none). Where the gallery is empty it matches nothing.
    case expected
    /// Somebody else's. It matches nothing, not even the template that an enrollment makes of it.
    case unknown
}

/// A false answer that a ``MockReader`` gives.
///
/// An identification names a print outside the gallery, which the layers above have to refuse. A verification,
/// an enrollment and a capture, which have nothing to name, end with `ReaderError.Code.untrustworthy`.
public enum MockLie: String, Sendable, Hashable, CaseIterable {
    /// The print has the greatest identity there is, as an index behind the gallery's end would be read.
    case index
    /// The print has a new identity and comes with a template of its own, as if that were an improved one.
    case stranger
}

extension MockStep: CustomStringConvertible {
    /// The step as a script has it.
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
    /// Milliseconds, rounded down.
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        return overflow ? .max : product + attoseconds / 1_000_000_000_000_000
    }
}

extension String {
    /// `tooShort` as `too-short`.
    var kebabCased: String {
        reduce(into: "") { $0 += $1.isUppercase ? "-" + $1.lowercased() : String($1) }
    }
}
