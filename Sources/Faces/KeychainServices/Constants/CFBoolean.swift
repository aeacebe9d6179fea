// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A Boolean as an object.
///
/// The type is separate from ``CFNumber``, so that a program can extend both types with the same members. The keychain
/// accepts an object of this type wherever it accepts a Boolean. Casting such an object with `as? Bool` returns `nil`
/// because Foundation for Linux bridges Booleans to `NSNumber`; use ``CFBooleanGetValue(_:)`` instead.
public final class CFBoolean: NSObject, Sendable, ExpressibleByBooleanLiteral {
    let value: Bool

    /// Creates a Boolean from a literal.
    public init(booleanLiteral value: Bool) { self.value = value }

    /// Returns whether the other object is a Boolean with the same value.
    public override func isEqual(_ object: Any?) -> Bool { (object as? CFBoolean)?.value == value }

    /// The hash of the value.
    public override var hash: Int { value.hashValue }

    /// The text `true` or `false`.
    public override var description: String { value.description }
}

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The Boolean true as an object.
///
/// The constant is implicitly unwrapped because programs write `kCFBooleanTrue!`.
public let kCFBooleanTrue: CFBoolean! = true
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The Boolean false as an object.
public let kCFBooleanFalse: CFBoolean! = false

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Returns a Boolean's value.
///
/// - Parameter boolean: The Boolean.
/// - Returns: The value, or `false` for `nil`.
public func CFBooleanGetValue(_ boolean: CFBoolean!) -> Bool { boolean?.value ?? false }
