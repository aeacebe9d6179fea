// SPDX-License-Identifier: Apache-2.0

@_exported public import AuthenticationContext
@_exported public import Foundation

// Core Foundation's names in the signatures of Apple's Security framework, as aliases of the classes that Foundation
// bridges to. With these aliases `query as CFDictionary`, `item as? Data` and dictionaries with keys of both spellings
// compile and behave as on Apple's systems. The module CoreFoundation has types of these names to which `[String: Any]`
// cannot be cast.

/// Any object.
public typealias CFTypeRef = AnyObject
/// A text.
public typealias CFString = NSString
/// A sequence of bytes.
public typealias CFData = NSData
/// A dictionary.
public typealias CFDictionary = NSDictionary
/// A mutable dictionary.
public typealias CFMutableDictionary = NSMutableDictionary
/// An array.
public typealias CFArray = NSArray
/// A number.
public typealias CFNumber = NSNumber
/// A Boolean.
public typealias CFBoolean = NSNumber
/// A point in time.
public typealias CFDate = NSDate
/// An error.
public typealias CFError = NSError
/// The domain of an error.
public typealias CFErrorDomain = CFString
/// An allocator of memory: only the three below exist, and the default one is `nil`.
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
/// Four characters as one number.
public typealias FourCharCode = UInt32
/// A kind of file or program, as four characters.
public typealias OSType = FourCharCode

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The default allocator.
public let kCFAllocatorDefault: CFAllocator! = nil
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The allocator that frees memory with `free`.
public let kCFAllocatorMalloc: CFAllocator! = CFAllocator()
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The allocator that frees nothing: for bytes that their owner frees.
public let kCFAllocatorNull: CFAllocator! = CFAllocator()
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The Boolean true as an object; an implicitly unwrapped optional, since programs write `kCFBooleanTrue!`.
public let kCFBooleanTrue: CFBoolean! = NSNumber(value: true)
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The Boolean false as an object.
public let kCFBooleanFalse: CFBoolean! = NSNumber(value: false)
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The key of a program's identifier in the dictionary of its bundle.
nonisolated(unsafe) public let kCFBundleIdentifierKey: CFString! = "CFBundleIdentifier"

// The type identifiers by which programs determine the type of a call's result. They are valid within one process.

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Returns the type identifier of an object.
///
/// - Parameter cf: The result of a keychain function, or any other object.
/// - Returns: The result of the type's `…GetTypeID()`; 0 for `nil` and for objects of other types.
public func CFGetTypeID(_ cf: CFTypeRef!) -> CFTypeID {
    switch cf {
    case is SecAccessControl: SecAccessControlGetTypeID()
    case is SecKey: SecKeyGetTypeID()
    case is SecCertificate: SecCertificateGetTypeID()
    case is SecIdentity: SecIdentityGetTypeID()
    case is SecTask: SecTaskGetTypeID()
    case is NSString: CFStringGetTypeID()
    case is NSData: CFDataGetTypeID()
    case is NSDictionary: CFDictionaryGetTypeID()
    case is NSArray: CFArrayGetTypeID()
    // Only these two objects are Booleans; all others are numbers.
    case let number as NSNumber:
        number === kCFBooleanTrue || number === kCFBooleanFalse ? CFBooleanGetTypeID() : CFNumberGetTypeID()
    case is NSDate: CFDateGetTypeID()
    case is NSError: CFErrorGetTypeID()
    default: 0
    }
}

/// Returns the type identifier of texts.
public func CFStringGetTypeID() -> CFTypeID { 0x4346_0001 }
/// Returns the type identifier of data objects.
public func CFDataGetTypeID() -> CFTypeID { 0x4346_0002 }
/// Returns the type identifier of dictionaries.
public func CFDictionaryGetTypeID() -> CFTypeID { 0x4346_0003 }
/// Returns the type identifier of arrays.
public func CFArrayGetTypeID() -> CFTypeID { 0x4346_0004 }
/// Returns the type identifier of numbers.
public func CFNumberGetTypeID() -> CFTypeID { 0x4346_0005 }
/// Returns the type identifier of Booleans.
public func CFBooleanGetTypeID() -> CFTypeID { 0x4346_0006 }
/// Returns the type identifier of dates.
public func CFDateGetTypeID() -> CFTypeID { 0x4346_0007 }
/// Returns the type identifier of errors.
public func CFErrorGetTypeID() -> CFTypeID { 0x4346_0008 }

// Core Foundation's two functions that make a data object from bytes.

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Makes a data object with a copy of the given bytes.
///
/// - Parameters:
///   - allocator: Ignored.
///   - bytes: The address of the bytes; may be `nil` if `length` is 0.
///   - length: The number of bytes.
/// - Returns: The object; `nil` for a negative length, and for a length without bytes.
public func CFDataCreate(
    _ allocator: CFAllocator!,
    _ bytes: UnsafePointer<UInt8>!,
    _ length: CFIndex
) -> CFData! {
    guard let bytes else { return length == 0 ? NSData() : nil }
    return length < 0 ? nil : NSData(bytes: bytes, length: length)
}

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Makes a data object from bytes without copying them.
///
/// The bytes must stay unchanged for the lifetime of the object.
///
/// - Parameters:
///   - allocator: Ignored.
///   - bytes: The address of the bytes; may be `nil` if `length` is 0.
///   - length: The number of bytes.
///   - bytesDeallocator: ``kCFAllocatorNull`` leaves the bytes to their owner; any other allocator frees them with
///     `free` when the object is deallocated.
/// - Returns: The object; `nil` for a negative length, and for a length without bytes, in which case nothing is freed.
public func CFDataCreateWithBytesNoCopy(
    _ allocator: CFAllocator!,
    _ bytes: UnsafePointer<UInt8>!,
    _ length: CFIndex,
    _ bytesDeallocator: CFAllocator!
) -> CFData! {
    guard let bytes else { return length == 0 ? NSData() : nil }
    guard length >= 0 else { return nil }
    return NSData(
        bytesNoCopy: UnsafeMutableRawPointer(mutating: bytes),
        length: length,
        freeWhenDone: bytesDeallocator !== kCFAllocatorNull
    )
}

// Core Foundation's functions for errors. They accept `nil`, as Apple's signatures do, and then return 0 or `nil`.

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Returns an error's code.
///
/// - Parameter err: The error.
/// - Returns: The code: a status for `NSOSStatusErrorDomain`, the raw value of an `LAError.Code` for `LAErrorDomain`.
public func CFErrorGetCode(_ err: CFError!) -> CFIndex { err?.code ?? 0 }

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Returns an error's domain.
///
/// - Parameter err: The error.
/// - Returns: `NSOSStatusErrorDomain`, or `LAErrorDomain` if the owner was not recognised.
public func CFErrorGetDomain(_ err: CFError!) -> CFErrorDomain! { err.map { $0.domain as NSString } }

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Returns an error's user info dictionary.
///
/// - Parameter err: The error.
/// - Returns: Texts and values under the `NSError` keys; empty if the error has none.
public func CFErrorCopyUserInfo(_ err: CFError!) -> CFDictionary! { err.map { $0.userInfo as NSDictionary } }

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Returns an error's human-readable description.
///
/// - Parameter err: The error.
/// - Returns: A sentence that describes the error.
public func CFErrorCopyDescription(_ err: CFError!) -> CFString! {
    err.map { $0.localizedDescription as NSString }
}
