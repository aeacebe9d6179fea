// SPDX-License-Identifier: Apache-2.0

// The numbers of types, by which programs find out what a call gave. They hold within one process.

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Tells of which type an object is.
///
/// - Parameter cf: What a keychain function gave, or anything else.
/// - Returns: What the type's `…GetTypeID()` gives; 0 for `nil` and for objects of other types.
public func CFGetTypeID(_ cf: CFTypeRef!) -> CFTypeID {
    switch cf {
    case is SecAccessControl: SecAccessControlGetTypeID()
    case is SecKey: SecKeyGetTypeID()
    case is SecCertificate: SecCertificateGetTypeID()
    case is SecTask: SecTaskGetTypeID()
    case is NSString: CFStringGetTypeID()
    case is NSData: CFDataGetTypeID()
    case is NSDictionary: CFDictionaryGetTypeID()
    case is NSArray: CFArrayGetTypeID()
    // There are two truth values, and every other number is no truth value.
    case let number as NSNumber:
        number === kCFBooleanTrue || number === kCFBooleanFalse ? CFBooleanGetTypeID() : CFNumberGetTypeID()
    case is NSDate: CFDateGetTypeID()
    case is NSError: CFErrorGetTypeID()
    default: 0
    }
}

/// The number of the type of text.
public func CFStringGetTypeID() -> CFTypeID { 0x4346_0001 }
/// The number of the type of bytes.
public func CFDataGetTypeID() -> CFTypeID { 0x4346_0002 }
/// The number of the type of keys and values.
public func CFDictionaryGetTypeID() -> CFTypeID { 0x4346_0003 }
/// The number of the type of lists.
public func CFArrayGetTypeID() -> CFTypeID { 0x4346_0004 }
/// The number of the type of numbers.
public func CFNumberGetTypeID() -> CFTypeID { 0x4346_0005 }
/// The number of the type of truth values.
public func CFBooleanGetTypeID() -> CFTypeID { 0x4346_0006 }
/// The number of the type of points in time.
public func CFDateGetTypeID() -> CFTypeID { 0x4346_0007 }
/// The number of the type of errors.
public func CFErrorGetTypeID() -> CFTypeID { 0x4346_0008 }
