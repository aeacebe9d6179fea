// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A Boolean as an object, which is not a ``CFNumber``: a program may extend the two types alike.
///
/// The keychain takes it wherever it takes a Boolean. `as? Bool` returns `nil` for it, since Foundation for Linux
/// bridges Booleans to `NSNumber`: ``CFBooleanGetValue(_:)`` returns the value.
public final class CFBoolean: NSObject, Sendable, ExpressibleByBooleanLiteral {
    let value: Bool

    /// Makes a Boolean of the literal.
    public init(booleanLiteral value: Bool) { self.value = value }

    /// Whether the other object is a Boolean with the same value.
    public override func isEqual(_ object: Any?) -> Bool { (object as? CFBoolean)?.value == value }

    /// The hash of the value.
    public override var hash: Int { value.hashValue }

    /// The value as a word.
    public override var description: String { value.description }
}

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The Boolean true as an object; an implicitly unwrapped optional, since programs write `kCFBooleanTrue!`.
public let kCFBooleanTrue: CFBoolean! = true
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The Boolean false as an object.
public let kCFBooleanFalse: CFBoolean! = false

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Returns a Boolean's value.
///
/// - Parameter boolean: The Boolean.
/// - Returns: The value; `false` for `nil`.
public func CFBooleanGetValue(_ boolean: CFBoolean!) -> Bool { boolean?.value ?? false }
