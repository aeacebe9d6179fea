// SPDX-License-Identifier: Apache-2.0

@_exported public import WhorlContext
@_exported public import Foundation

// Core Foundation's names in the signatures of Apple's Security framework, as aliases of the classes that Foundation
// bridges to. `query as CFDictionary`, `item as? Data` and dictionaries with keys of both spellings then compile and
// behave as on Apple's systems. The module CoreFoundation has types with these names, but `[String: Any]` cannot be
// cast to them.

/// Any object.
public typealias CFTypeRef = AnyObject
/// A string.
public typealias CFString = NSString
/// A byte buffer.
public typealias CFData = NSData
/// A dictionary.
public typealias CFDictionary = NSDictionary
/// A mutable dictionary.
public typealias CFMutableDictionary = NSMutableDictionary
/// An array.
public typealias CFArray = NSArray
/// A set.
public typealias CFSet = NSSet
/// A number.
///
/// Booleans have a separate type, ``CFBoolean``.
public typealias CFNumber = NSNumber
/// A point in time.
public typealias CFDate = NSDate
/// An error.
public typealias CFError = NSError
/// The domain of an error.
public typealias CFErrorDomain = CFString
/// A universally unique identifier.
public typealias CFUUID = NSUUID
/// A memory allocator.
///
/// There are only the three allocators below, and the default one is `nil`.
public final class CFAllocator: Sendable {
    fileprivate init() {}
}
/// A signed index or count.
public typealias CFIndex = Int
/// A set of flags.
public typealias CFOptionFlags = UInt
/// The identifier of an object's type.
public typealias CFTypeID = UInt
/// The result of a call; 0 means success.
public typealias OSStatus = Int32
/// Four characters encoded as a number.
public typealias FourCharCode = UInt32
/// The kind of a file or program, as four characters.
public typealias OSType = FourCharCode

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The default allocator.
public let kCFAllocatorDefault: CFAllocator! = nil
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The allocator that frees memory with `free`.
public let kCFAllocatorMalloc: CFAllocator! = CFAllocator()
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// An allocator that does not free anything, for bytes that the caller frees.
public let kCFAllocatorNull: CFAllocator! = CFAllocator()
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The key of a program's identifier in its bundle's dictionary.
nonisolated(unsafe) public let kCFBundleIdentifierKey: CFString! = "CFBundleIdentifier"
