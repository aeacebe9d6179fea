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
/// The domain of an error.
public typealias CFErrorDomain = CFString
/// Takes and frees memory: only the three below, of which the default is `nil`.
public final class CFAllocator: Sendable {
    fileprivate init() {}
}
/// A signed count.
public typealias CFIndex = Int
/// A set of flags.
public typealias CFOptionFlags = UInt
/// Which class an object is of.
public typealias CFTypeID = UInt
/// The result of a call; 0 is success.
public typealias OSStatus = Int32
/// Four characters as one number.
public typealias FourCharCode = UInt32
/// A kind of file or program, as four characters.
public typealias OSType = FourCharCode

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The default allocator.
public let kCFAllocatorDefault: CFAllocator! = nil
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Frees with `free`.
public let kCFAllocatorMalloc: CFAllocator! = CFAllocator()
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Frees nothing: for bytes that stay with their owner.
public let kCFAllocatorNull: CFAllocator! = CFAllocator()
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// True, as an object; an implicitly unwrapped optional, since programs write `kCFBooleanTrue!`.
public let kCFBooleanTrue: CFBoolean! = NSNumber(value: true)
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// False, as an object.
public let kCFBooleanFalse: CFBoolean! = NSNumber(value: false)
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The key of a program's identifier in the dictionary of its bundle.
nonisolated(unsafe) public let kCFBundleIdentifierKey: CFString! = "CFBundleIdentifier"
