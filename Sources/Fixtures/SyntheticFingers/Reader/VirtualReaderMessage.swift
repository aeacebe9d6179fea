// SPDX-License-Identifier: Apache-2.0

/// A message to libfprint's virtual image reader.
public enum VirtualReaderMessage: Sendable, Equatable {
    /// A finger is put on the reader, looks like this, and is lifted.
    ///
    /// 16 to 5000 pixels each way: on smaller pictures libfprint 1.94.5 crashes, on larger ones it hangs up.
    case press(GreyImage)

    /// A finger is put on and lifted, and the reader could not read it.
    case retry(Retry)

    /// The reader fails with a libfprint error code (`FpDeviceError`); a code that libfprint does not know
    /// becomes 0, general.
    case failure(code: Int32)

    /// Whether a press brings its own "finger on" and "finger off", as it does on every new connection.
    case automaticFinger(Bool)

    /// A finger is on the reader, or off it, where `automaticFinger` is false.
    case finger(present: Bool)

    /// The reader is pulled out.
    case unplug

    /// The reason for which the reader could not read a press.
    ///
    /// The corresponding C type is `FpDeviceRetry`.
    public enum Retry: Int32, Sendable, CaseIterable {
        /// Anything else. The corresponding C constant is `FP_DEVICE_RETRY_GENERAL`.
        case general = 0
        /// The swipe was too short. The corresponding C constant is `FP_DEVICE_RETRY_TOO_SHORT`.
        case tooShort = 1
        /// The finger was not in the middle. The corresponding C constant is `FP_DEVICE_RETRY_CENTER_FINGER`.
        case centerFinger = 2
        /// The finger must be lifted first. The corresponding C constant is `FP_DEVICE_RETRY_REMOVE_FINGER`.
        case removeFinger = 3
    }
}

extension VirtualReaderMessage {
    /// The pictures that libfprint can take, in pixels each way.
    public static let pictureSides = 16...5000

    /// The bytes that carry the message, or `nil` for a picture too small or too large.
    ///
    /// Each part begins with two 32-bit numbers in the machine's byte order: width and height of the picture
    /// whose bytes follow, or a negative command and its argument.
    var bytes: [UInt8]? {
        switch self {
        case .press(let image):
            guard Self.pictureSides.contains(image.width), Self.pictureSides.contains(image.height) else {
                return nil
            }
            return Self.words(Int32(image.width), Int32(image.height)) + image.pixels
        case .retry(let reason):
            // A bare retry leaves an enrollment waiting for a finger to be lifted, and the next press is
            // lost.
            return Self.words(-4, 1) + Self.words(-1, reason.rawValue) + Self.words(-4, 0)
        case .failure(let code): return Self.words(-2, code)
        case .automaticFinger(let on): return Self.words(-3, on ? 1 : 0)
        case .finger(let present): return Self.words(-4, present ? 1 : 0)
        case .unplug: return Self.words(-5, 0)
        }
    }

    private static func words(_ first: Int32, _ second: Int32) -> [UInt8] {
        [first, second].withUnsafeBytes { [UInt8]($0) }
    }
}
