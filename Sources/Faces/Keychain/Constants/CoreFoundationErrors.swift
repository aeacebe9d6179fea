// SPDX-License-Identifier: Apache-2.0

// Core Foundation's functions for errors. They take `nil`, as Apple's signatures do, and then give 0 or `nil`.

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Gives an error's code.
///
/// - Parameter err: The error.
/// - Returns: The code: a status for `NSOSStatusErrorDomain`, the raw value of an `LAError.Code` for `LAErrorDomain`.
public func CFErrorGetCode(_ err: CFError!) -> CFIndex { err?.code ?? 0 }

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Gives an error's domain.
///
/// - Parameter err: The error.
/// - Returns: `NSOSStatusErrorDomain`, or `LAErrorDomain` where the owner was not recognised.
public func CFErrorGetDomain(_ err: CFError!) -> CFErrorDomain! { err.map { $0.domain as NSString } }

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Gives what else an error says.
///
/// - Parameter err: The error.
/// - Returns: Texts and values under the `NSError` keys; empty where there are none.
public func CFErrorCopyUserInfo(_ err: CFError!) -> CFDictionary! { err.map { $0.userInfo as NSDictionary } }

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Gives an error in words.
///
/// - Parameter err: The error.
/// - Returns: A sentence for people.
public func CFErrorCopyDescription(_ err: CFError!) -> CFString! {
    err.map { $0.localizedDescription as NSString }
}
