// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlSecretMemory
import WhorlService

/// The methods that only a private child provides, and that only the program that started it can call.
enum PrivateInterface {
    /// Returns the reader with which to capture images.
    struct Reader: ServiceOperation {
        typealias Reply = ReaderInfo
        static let name = "io.whorl.Private.Reader"
        static let rules = OperationRules(.repeatable, by: .unconfined)
    }

    /// Captures an image of a finger.
    struct Capture: ServiceOperation {
        typealias Reply = CaptureStep
        static let name = "io.whorl.Private.Capture"
        static let rules = OperationRules(.once, by: .unconfined)
    }

    /// Returns the access groups of all programs in the keychain.
    struct KeychainGroups: ServiceOperation {
        typealias Reply = KeychainGroupsReply
        static let name = "io.whorl.Private.KeychainGroups"
        static let rules = OperationRules(.repeatable, by: .unconfined)
    }

    /// An event of a scan, or the image at its end.
    struct CaptureStep: Codable, Sendable {
        var event: ScanEvent?
        var width: Int?
        var height: Int?
        var pixels: SecretBox?

        init(_ event: ScanEvent) { self.event = event }

        init(_ image: FingerprintImage) {
            width = image.width
            height = image.height
            pixels = SecretBox(SecretBytes(count: image.pixels.count) { $0.copyBytes(from: image.pixels) })
        }

        /// The image; `nil` for an event, or if the number of pixels does not match the image's size.
        var image: FingerprintImage? {
            guard let width, let height, let pixels else { return nil }
            return FingerprintImage(
                width: width,
                height: height,
                pixels: pixels.bytes.withUnsafeBytes { Array($0) }
            )
        }
    }

    struct KeychainGroupsReply: Codable, Sendable {
        let groups: [String]
        let count: Int
    }
}
