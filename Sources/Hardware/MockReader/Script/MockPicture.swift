// SPDX-License-Identifier: Apache-2.0

internal import WhorlFingerprint

/// Pictures that tell the fingers of a mock apart, and are nothing like fingerprints.
enum MockPicture {
    private static let side = 64

    /// Stripes, one pattern for each finger; `nil` is somebody else's, the plainest of them.
    static func draw(_ finger: Finger?) -> FingerprintImage? {
        let number = Int(finger?.number ?? 0)
        let pixels = (0..<side * side).map { index in
            let (y, x) = index.quotientAndRemainder(dividingBy: side)
            return UInt8((x * (number + 1) * 4 + y * (11 - number) * 4) & 0xff)
        }
        return FingerprintImage(width: side, height: side, pixels: pixels)
    }
}
