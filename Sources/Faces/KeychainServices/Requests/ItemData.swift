// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The bytes of an item, as a program gets them.
///
/// Foundation on Linux copies an `NSData` into a `Data` byte by byte, through the class's own methods. The methods of
/// Foundation's class take 60 nanoseconds for each byte, which made `as? Data` the most expensive part of finding an item;
/// these take 12.
final class ItemData: NSData {
    private let room: UnsafeMutableRawBufferPointer

    /// Copies the bytes.
    init(_ bytes: Data) {
        room = .allocate(byteCount: bytes.count, alignment: 1)
        bytes.copyBytes(to: room)
        super.init()
    }

    @available(*, unavailable)
    required init?(coder: NSCoder) { preconditionFailure("it is archived as an NSData") }

    deinit { room.deallocate() }

    override var length: Int { room.count }

    override var bytes: UnsafeRawPointer {
        // An empty one may have no address; nothing is read there.
        UnsafeRawPointer(room.baseAddress ?? ItemData.nowhere)
    }

    private static nonisolated(unsafe) let nowhere = UnsafeMutableRawPointer.allocate(
        byteCount: 1,
        alignment: 1
    )

    override func enumerateBytes(
        _ block: (UnsafeRawPointer, NSRange, UnsafeMutablePointer<Bool>) -> Void
    ) {
        var isStopped = false
        block(bytes, NSRange(location: 0, length: length), &isStopped)
    }

    /// An archive can be read by programs that do not know this class.
    override var classForCoder: AnyClass { NSData.self }
}
