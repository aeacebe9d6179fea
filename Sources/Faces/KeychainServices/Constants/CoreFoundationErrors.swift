// SPDX-License-Identifier: Apache-2.0

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
