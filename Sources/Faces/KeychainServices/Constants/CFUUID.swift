// SPDX-License-Identifier: Apache-2.0

public import Foundation

// Core Foundation's functions for universally unique identifiers.

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Creates a new random identifier.
///
/// - Parameter alloc: Ignored.
/// - Returns: The identifier.
public func CFUUIDCreate(_ alloc: CFAllocator!) -> CFUUID! { NSUUID() }

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Returns an identifier as a string in uppercase.
///
/// - Parameters:
///   - alloc: Ignored.
///   - uuid: The identifier.
/// - Returns: A string such as `68753A44-4D6F-1226-9C60-0050E4C00067`, or `nil` if `uuid` is `nil`.
public func CFUUIDCreateString(_ alloc: CFAllocator!, _ uuid: CFUUID!) -> CFString! {
    uuid.map { $0.uuidString as NSString }
}
