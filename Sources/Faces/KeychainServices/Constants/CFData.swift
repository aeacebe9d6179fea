// SPDX-License-Identifier: Apache-2.0

public import Foundation

// Core Foundation's functions that create and read a data object.

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Creates a data object with a copy of the given bytes.
///
/// - Parameters:
///   - allocator: Ignored.
///   - bytes: The address of the bytes, which may be `nil` if `length` is 0.
///   - length: The number of bytes.
/// - Returns: The object, or `nil` for a negative length or if `bytes` is missing.
public func CFDataCreate(
    _ allocator: CFAllocator!,
    _ bytes: UnsafePointer<UInt8>!,
    _ length: CFIndex
) -> CFData! {
    guard let bytes else { return length == 0 ? NSData() : nil }
    return length < 0 ? nil : NSData(bytes: bytes, length: length)
}

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Creates a data object from bytes without copying them.
///
/// The bytes must stay unchanged for the lifetime of the object.
///
/// - Parameters:
///   - allocator: Ignored.
///   - bytes: The address of the bytes, which may be `nil` if `length` is 0.
///   - length: The number of bytes.
///   - bytesDeallocator: With ``kCFAllocatorNull``, the caller frees the bytes. With any other allocator, `free` frees
///     them when the object is deallocated.
/// - Returns: The object, or `nil` for a negative length or if `bytes` is missing. If the result is `nil`, nothing is
///   freed.
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

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Returns the number of bytes of a data object.
///
/// - Parameter theData: The object.
/// - Returns: The number, or 0 if `theData` is `nil`.
public func CFDataGetLength(_ theData: CFData!) -> CFIndex { theData?.length ?? 0 }

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Returns the address of a data object's bytes, which stays valid for the lifetime of the object.
///
/// - Parameter theData: The object.
/// - Returns: The address of ``CFDataGetLength(_:)`` bytes, or `nil` if `theData` is `nil`.
public func CFDataGetBytePtr(_ theData: CFData!) -> UnsafePointer<UInt8>! {
    theData?.bytes.assumingMemoryBound(to: UInt8.self)
}
