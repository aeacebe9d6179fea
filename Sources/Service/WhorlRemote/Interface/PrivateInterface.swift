// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlSecretMemory
import WhorlService

/// The methods that only a private child provides: only the program that started it may use them.
enum PrivateInterface {
    /// Returns the reader used for taking pictures.
    struct Reader: ServiceOperation {
        typealias Reply = ReaderInfo
        static let name = "io.whorl.Private.Reader"
        static let rules = OperationRules(.repeatable, by: .unconfined)
    }

    /// Takes a picture of a finger.
    struct Capture: ServiceOperation {
        typealias Reply = CaptureStep
        static let name = "io.whorl.Private.Capture"
        static let rules = OperationRules(.once, by: .unconfined)
    }

    /// Returns the keychain's access groups of all programs.
    struct KeychainGroups: ServiceOperation {
        typealias Reply = KeychainGroupsReply
        static let name = "io.whorl.Private.KeychainGroups"
        static let rules = OperationRules(.repeatable, by: .unconfined)
    }

    /// An event of a scan, or the picture at its end.
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

        /// The picture; `nil` for an event, and for pixels that do not match their size.
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
