// SPDX-License-Identifier: Apache-2.0

internal import CWhorlSocket
internal import Glibc

/// A file descriptor that is closed when its last owner releases it.
package final class Descriptor: Sendable {
    /// The descriptor's number, which is valid as long as this object exists.
    package let number: Int32

    /// Closes the descriptor.
    ///
    /// If another program created the file, that program can make close(2) block for any length of time.
    private let closing: @Sendable (Int32) -> Void

    /// Takes over an open descriptor.
    package convenience init(owning number: Int32) { self.init(owning: number) { _ = close($0) } }

    /// Takes over an open descriptor that a custom function closes.
    init(owning number: Int32, closing: @escaping @Sendable (Int32) -> Void) {
        // Each caller has checked the result of the system call. Closing -1 later would hide the mistake.
        precondition(number >= 0, "not an open descriptor")
        self.number = number
        self.closing = closing
    }

    deinit { closing(number) }

    /// Takes over the descriptors that were received with a message.
    ///
    /// - Parameters:
    ///   - control: The message's control data.
    ///   - share: The share of the user who sent the message; `nil` if the sender is trusted.
    /// - Returns: The descriptors, in order.
    static func received(with control: whorl_control, of share: UserShare?) -> [Descriptor] {
        withUnsafeBytes(of: control.descriptors) { room in
            room.bindMemory(to: Int32.self).prefix(Int(control.descriptor_count)).map { number in
                // Closing memory does not block, and most descriptors are secrets.
                guard let share, whorl_seals(number) < 0 else { return Descriptor(owning: number) }
                return Descriptor(owning: number) { share.close($0) }
            }
        }
    }
}

/// The error of a failed system call: the name of the call and its `errno`.
package struct SystemCallError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name of the call, such as `connect`.
    package let call: String
    /// The value of `errno` right after the call.
    package let number: Int32

    /// Creates an error from the current `errno`.
    package init(_ call: String) {
        number = errno
        self.call = call
    }

    /// Creates the error for a call whose other side is not trusted (`EACCES`).
    package init(refusing call: String) {
        self.call = call
        number = EACCES
    }

    /// Creates the error for something that does not exist (`ENOENT`).
    package init(missing what: String) {
        call = what
        number = ENOENT
    }

    /// Creates the error for a call to a service that an administrator has disabled (`ESHUTDOWN`).
    package init(switchedOff call: String) {
        self.call = call
        number = ESHUTDOWN
    }

    /// Creates the error for a call to a service that does not answer (`ETIMEDOUT`).
    init(unanswered call: String) {
        self.call = call
        number = ETIMEDOUT
    }

    /// Whether the service did not answer in time.
    package var isUnanswered: Bool { number == ETIMEDOUT }

    /// Whether an administrator has disabled the service.
    package var isSwitchedOff: Bool { number == ESHUTDOWN }

    package var description: String { "\(call): \(String(cString: strerror(number)))" }
}
