// SPDX-License-Identifier: Apache-2.0

internal import CWhorlSocket
internal import Glibc

/// A file descriptor that is closed when its last owner lets go.
package final class Descriptor: Sendable {
    /// The descriptor's number, valid as long as this object lives.
    package let number: Int32

    /// Closes the descriptor.
    ///
    /// Where another program has made the file, close(2) may wait as long as that program likes.
    private let closing: @Sendable (Int32) -> Void

    /// Takes over an open descriptor.
    package convenience init(owning number: Int32) { self.init(owning: number) { _ = close($0) } }

    /// Takes over an open descriptor that is closed in another way.
    init(owning number: Int32, closing: @escaping @Sendable (Int32) -> Void) {
        precondition(number >= 0, "no open descriptor")
        self.number = number
        self.closing = closing
    }

    deinit { closing(number) }

    /// Takes over the descriptors that came with a message.
    ///
    /// - Parameters:
    ///   - control: The message's control part.
    ///   - share: The share of the user who sent it; `nil` where the sender is trusted.
    /// - Returns: The descriptors, in their order.
    static func received(with control: whorl_control, of share: UserShare?) -> [Descriptor] {
        withUnsafeBytes(of: control.descriptors) { room in
            room.bindMemory(to: Int32.self).prefix(Int(control.descriptor_count)).map { number in
                // Closing memory does not wait, and most descriptors are secrets.
                guard let share, whorl_seals(number) < 0 else { return Descriptor(owning: number) }
                return Descriptor(owning: number) { share.close($0) }
            }
        }
    }
}

/// A system call that failed, with the name of the call and its `errno`.
package struct SystemCallError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The call, such as `connect`.
    package let call: String
    /// The value of `errno` right after the call.
    package let number: Int32

    /// Keeps `errno` as it is now.
    package init(_ call: String) {
        number = errno
        self.call = call
    }

    /// Makes the error of a call whose other side is not to be trusted (`EACCES`).
    package init(refusing call: String) {
        self.call = call
        number = EACCES
    }

    /// Makes the error of something that was expected and is not there (`ENOENT`).
    package init(missing what: String) {
        call = what
        number = ENOENT
    }

    /// Makes the error of a call to a service that an administrator has switched off (`ESHUTDOWN`).
    package init(switchedOff call: String) {
        self.call = call
        number = ESHUTDOWN
    }

    /// Makes the error of a call to a service that does not answer (`ETIMEDOUT`).
    init(unanswered call: String) {
        self.call = call
        number = ETIMEDOUT
    }

    /// Whether no answer came in time.
    package var isUnanswered: Bool { number == ETIMEDOUT }

    /// Whether an administrator has switched the service off.
    package var isSwitchedOff: Bool { number == ESHUTDOWN }

    package var description: String { "\(call): \(String(cString: strerror(number)))" }
}
