// SPDX-License-Identifier: Apache-2.0

@_exported public import AuthenticationContext
@_exported public import Foundation

// Core Foundation's names in the signatures of Apple's Security framework, as the classes that Foundation bridges to:
// with them `query as CFDictionary`, `item as? Data` and dictionaries with keys of both spellings compile and behave as on
// Apple's systems. The module CoreFoundation has types of these names that `[String: Any] as CFDictionary` refuses.

/// Any object.
public typealias CFTypeRef = AnyObject
/// Text.
public typealias CFString = NSString
/// Bytes.
public typealias CFData = NSData
/// Keys and values.
public typealias CFDictionary = NSDictionary
/// Keys and values that can be changed.
public typealias CFMutableDictionary = NSMutableDictionary
/// A list.
public typealias CFArray = NSArray
/// A number.
public typealias CFNumber = NSNumber
/// A truth value.
public typealias CFBoolean = NSNumber
/// A point in time.
public typealias CFDate = NSDate
/// An error.
public typealias CFError = NSError
/// What memory is taken from; there is only the default, which is `nil`.
public final class CFAllocator: Sendable {
    private init() {}
}
/// A signed count.
public typealias CFIndex = Int
/// A set of flags.
public typealias CFOptionFlags = UInt
/// Which class an object is of.
public typealias CFTypeID = UInt
/// The result of a call; 0 is success.
public typealias OSStatus = Int32

/// The default allocator.
public let kCFAllocatorDefault: CFAllocator? = nil
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// True, as an object; an implicitly unwrapped optional, since programs write `kCFBooleanTrue!`.
public let kCFBooleanTrue: CFBoolean! = NSNumber(value: true)
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// False, as an object.
public let kCFBooleanFalse: CFBoolean! = NSNumber(value: false)
