// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// An error of reading or writing a picture.
public struct GreyscalePNGError: Error, Equatable, Sendable {
    /// The kinds of failure.
    public enum Code: String, Sendable {
        /// The file cannot be opened or read.
        case unreadable = "unreadable"
        /// The file cannot be written.
        case unwritable = "unwritable"
        /// The bytes are not those of a PNG file.
        case notPNG = "notPNG"
        /// It is a PNG file with an error in it.
        case damaged = "damaged"
        /// The picture or the file is larger than is accepted.
        case tooLarge = "tooLarge"
        /// The transparency was asked for and the file has none.
        case noAlpha = "noAlpha"
        /// The number of pixels does not fit the width and height.
        case invalidSize = "invalidSize"
    }

    /// The kind of failure.
    public let code: Code

    /// The system's `errno`, or 0 without one.
    public let systemCode: Int32

    /// libpng's own words, or what else is known; may be empty.
    public let cause: String

    init(_ code: Code, systemCode: Int32 = 0, cause: String = "") {
        self.code = code
        self.systemCode = systemCode
        self.cause = cause
    }

    /// A sentence that says what happened.
    public var message: String {
        switch code {
        case .unreadable: "The picture cannot be read: \(systemReason)."
        case .unwritable: "The picture cannot be written: \(systemReason)."
        case .notPNG: "The file is not a PNG picture."
        case .damaged: "The PNG picture is damaged: \(cause)."
        case .tooLarge: "The picture is too large."
        case .noAlpha: "The picture has no transparency."
        case .invalidSize: "The number of pixels does not fit the picture's width and height."
        }
    }

    /// A sentence that says what the person can do.
    public var recovery: String {
        switch code {
        case .unreadable: "Check the path and that you may read the file."
        case .unwritable: "Check that the folder exists and that you may write to it."
        case .notPNG, .damaged: "Choose another file, or make this one anew."
        case .tooLarge:
            "Choose a picture of at most \(GreyscalePNG.longestSide) pixels each way, "
                + "in a file of at most \(GreyscalePNG.largestFile >> 20) MiB."
        case .noAlpha: "Read the grey values instead."
        case .invalidSize: "Give width × height pixels."
        }
    }

    private var systemReason: String {
        systemCode == 0 ? cause : String(cString: strerror(systemCode))
    }
}

extension GreyscalePNGError: CustomDebugStringConvertible {
    /// The message with its codes.
    public var debugDescription: String {
        "\(message) (\(code), errno \(systemCode), libpng “\(cause)”)"
    }
}
