// SPDX-License-Identifier: Apache-2.0

import Foundation

// The type identifiers with which programs check the type of a result. They are valid within one process.

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Returns the type identifier of an object.
///
/// - Parameter cf: The result of a keychain function, or any other object.
/// - Returns: The result of the type's `…GetTypeID()`, or 0 for `nil` and for objects of other types.
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
    case is NSSet: CFSetGetTypeID()
    case is CFBoolean: CFBooleanGetTypeID()
    // In Swift, `true` as an object is a number. The identifier shows which cast succeeds.
    case is NSNumber: CFNumberGetTypeID()
    case is NSDate: CFDateGetTypeID()
    case is NSError: CFErrorGetTypeID()
    case is NSUUID: CFUUIDGetTypeID()
    default: 0
    }
}

/// Returns the type identifier of strings.
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
/// Returns the type identifier of sets.
public func CFSetGetTypeID() -> CFTypeID { 0x4346_0009 }
/// Returns the type identifier of universally unique identifiers.
public func CFUUIDGetTypeID() -> CFTypeID { 0x4346_000A }
