// SPDX-License-Identifier: Apache-2.0

// Core Foundation's two functions that make bytes into an object.

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Copies bytes.
///
/// - Parameters:
///   - allocator: Counts for nothing.
///   - bytes: Where they are; may be `nil` for none.
///   - length: How many.
/// - Returns: `nil` for a negative length, and for a length without bytes.
public func CFDataCreate(
    _ allocator: CFAllocator!,
    _ bytes: UnsafePointer<UInt8>!,
    _ length: CFIndex
) -> CFData! {
    guard let bytes else { return length == 0 ? NSData() : nil }
    return length < 0 ? nil : NSData(bytes: bytes, length: length)
}

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Makes an object of bytes without copying them.
///
/// The bytes must stay as they are for as long as the object is there.
///
/// - Parameters:
///   - allocator: Counts for nothing.
///   - bytes: Where they are; may be `nil` for none.
///   - length: How many.
///   - bytesDeallocator: ``kCFAllocatorNull`` leaves the bytes to their owner; any other one frees them with `free` when the
///     object goes.
/// - Returns: `nil` for a negative length, and for a length without bytes; nothing is freed then.
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
