// SPDX-License-Identifier: Apache-2.0

public import Fingerprint

extension ReaderInfo.ScanType {
    /// The instruction for the person.
    public var instruction: String {
        switch self {
        case .press: "Touch the reader."
        case .swipe: "Draw the finger over the reader."
        }
    }
}

extension ReaderInfo.Kind {
    /// The warning about a simulated reader; `nil` for hardware.
    public var warning: String? {
        switch self {
        case .hardware: nil
        case .virtual: "A virtual reader answers: no real finger is asked for."
        case .mock: "A mock reader answers: no real finger is asked for."
        }
    }
}
