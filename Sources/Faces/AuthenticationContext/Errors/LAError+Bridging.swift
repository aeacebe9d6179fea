// SPDX-License-Identifier: Apache-2.0

// Apple's compiler makes these for a C error domain: `catch LAError.userCancel`, and casts to NSError and back.

extension LAError: _BridgedStoredNSError {
    /// The domain of an `NSError` that can be cast to ``LAError``.
    public static var _nsErrorDomain: String { LAErrorDomain }

    /// Whether both have the same code and user info.
    public static func == (left: LAError, right: LAError) -> Bool { left._nsError.isEqual(right._nsError) }

    /// Hashes the domain and the code.
    ///
    /// It does not hash the wrapped error: on Linux `NSError.hash` ends the program (Foundation of Swift 6.3.1).
    public func hash(into hasher: inout Hasher) {
        hasher.combine(_nsError.domain)
        hasher.combine(_nsError.code)
    }

    /// The hash as a number; without this, Foundation's implementation would hash the wrapped error.
    public var hashValue: Int {
        var hasher = Hasher()
        hash(into: &hasher)
        return hasher.finalize()
    }
}

extension LAError.Code: _ErrorCodeProtocol {
    /// The error type of these codes.
    public typealias _ErrorType = LAError
}

// Without this, `nsError as? LAError` and `laError as? NSError` are nil on Linux.
extension LAError: _ObjectiveCBridgeable {
    /// The Objective-C class that this type bridges to.
    public typealias _ObjectiveCType = NSError

    /// The wrapped error.
    public func _bridgeToObjectiveC() -> NSError { _nsError }

    /// Wraps an error of this domain.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) {
        guard _conditionallyBridgeFromObjectiveC(source, result: &result) else {
            preconditionFailure("an NSError of the domain \(source.domain) is no LAError")
        }
    }

    /// Wraps an error if it is of this domain.
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) -> Bool {
        guard source.domain == LAErrorDomain else { return false }
        result = LAError(_nsError: source)
        return true
    }

    /// Wraps an error that must be of this domain.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> LAError {
        var result: LAError?
        guard let source else { preconditionFailure("nothing is no LAError") }
        _forceBridgeFromObjectiveC(source, result: &result)
        guard let result else { preconditionFailure("the bridge gave nothing") }
        return result
    }
}
