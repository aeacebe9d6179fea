// SPDX-License-Identifier: Apache-2.0

internal import WhorlFingerprint

extension ReaderStrength {
    /// Creates the strength of a driver's comparison.
    ///
    /// The thresholds are those that libfprint's image drivers set (`bz3_threshold`, 1.94); an application can neither
    /// read nor raise them. The default is 40. A smaller sensor forces a lower one.
    ///
    /// A virtual driver's comparison has no strength, even if it is libfprint's own: any program that reaches the
    /// socket sends the picture.
    init(driver: String, kind: ReaderInfo.Kind, storage: ReaderInfo.Storage) {
        guard kind == .hardware else {
            self = .none
            return
        }
        switch storage {
        case .reader: self = .onReader
        case .host: self = .minutiaeScore(threshold: ReaderStrength.thresholds[driver] ?? 40)
        }
    }

    private static let thresholds: [String: Int] = [
        "elan": 24, "elanspi": 24, "nb1010": 24, "vfs0050": 24, "vfs101": 24, "vfs301": 24,
        "egis0570": 25, "upeksonly": 25, "upektc": 30,
        "aes1610": 20, "aes1660": 20, "aes2660": 20, "upektc_img": 20, "vfs5011": 20, "vfs7552": 20,
        "aes3500": 9, "aes4000": 9,
    ]
}
