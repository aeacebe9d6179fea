// SPDX-License-Identifier: Apache-2.0

public import Foundation

// Core Foundation's functions for errors. As in Apple's signatures, they accept `nil` and then return 0 or `nil`.

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Creates an error.
///
/// - Parameters:
///   - allocator: Ignored.
///   - domain: The error's domain.
///   - code: The error's code.
///   - userInfo: The values of the `NSError` keys, or `nil` for none.
/// - Returns: The error, or `nil` if the domain is missing.
public func CFErrorCreate(
    _ allocator: CFAllocator!,
    _ domain: CFErrorDomain!,
    _ code: CFIndex,
    _ userInfo: CFDictionary!
) -> CFError! {
    guard let domain else { return nil }
    var info: [String: Any] = [:]
    // Key by key, so that one key that is not a string does not lose the others.
    for (key, value) in userInfo ?? [:] {
        if let key = key as? String { info[key] = value }
    }
    return NSError(domain: domain as String, code: code, userInfo: info)
}

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Returns an error's code.
///
/// - Parameter err: The error.
/// - Returns: The code: a status for `NSOSStatusErrorDomain`, or the raw value of an `LAError.Code` for
///   `LAErrorDomain`.
public func CFErrorGetCode(_ err: CFError!) -> CFIndex { err?.code ?? 0 }

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Returns an error's domain.
///
/// - Parameter err: The error.
/// - Returns: `NSOSStatusErrorDomain`, or `LAErrorDomain` if the owner was not recognized.
public func CFErrorGetDomain(_ err: CFError!) -> CFErrorDomain! { err.map { $0.domain as NSString } }

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Returns an error's user info dictionary.
///
/// - Parameter err: The error.
/// - Returns: The values of the `NSError` keys, which may be empty.
public func CFErrorCopyUserInfo(_ err: CFError!) -> CFDictionary! { err.map { $0.userInfo as NSDictionary } }

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Returns an error's human-readable description.
///
/// - Parameter err: The error.
/// - Returns: A sentence that describes the error.
public func CFErrorCopyDescription(_ err: CFError!) -> CFString! {
    err.map { $0.localizedDescription as NSString }
}
