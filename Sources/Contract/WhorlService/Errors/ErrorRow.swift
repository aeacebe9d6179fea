// SPDX-License-Identifier: Apache-2.0

internal import WhorlFingerprint
internal import WhorlSupport

extension ServiceError {
    /// The kind of a failure: a row of the error table, or a name that this version does not know.
    ///
    /// Two codes are equal if their names are equal. The names never change.
    public struct Code: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
        /// The name, as used in JSON and between processes.
        public let rawValue: String
        let row: ErrorRow

        /// Creates the code with the given name; an unknown name is treated like `other`, with exit status 1.
        public init(rawValue: String) {
            self = Self.named[rawValue] ?? Self.row(rawValue, .other, .authFailed)
        }

        fileprivate init(_ rawValue: String, _ row: ErrorRow) {
            self.rawValue = rawValue
            self.row = row
        }

        private static let named = Dictionary(
            allCases.map { ($0.rawValue, $0) },
            uniquingKeysWith: { first, _ in first }
        )

        /// The name.
        public var description: String { rawValue }

        /// Returns whether the names are equal.
        public static func == (one: Code, other: Code) -> Bool { one.rawValue == other.rawValue }

        /// Hashes the name of the code.
        public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
    }
}

extension ServiceError.Code {
    /// The category of the failure, which determines how to handle it.
    public var category: ErrorCategory { row.category }

    /// The number of Apple's `LAError` code; `nil` if Apple has no such code, in which case an unavailable reader is
    /// reported.
    public var appleCode: Int? { row.apple }

    /// The status that keychain functions return (`OSStatus`).
    package var keychainStatus: Int32 { row.status.rawValue }

    /// The exit status of `whorl`.
    package var exitStatus: Int32 { row.exit }

    /// Begins a row of the error table.
    ///
    /// - Parameters:
    ///   - name: The name of the code.
    ///   - category: The category of the failure.
    ///   - status: The status that keychain functions return.
    ///   - apple: The number of Apple's `LAError` code, if there is one.
    ///   - exit: The exit status of `whorl`, if it differs from the category's.
    /// - Returns: The code; the caller adds its sentences.
    static func row(
        _ name: String,
        _ category: ErrorCategory,
        _ status: KeychainStatus,
        apple: Int? = nil,
        exit: Int32? = nil
    ) -> ServiceError.Code {
        ServiceError.Code(
            name,
            ErrorRow(category: category, apple: apple, status: status, exit: exit ?? category.exitStatus)
        )
    }

    func message(_ text: String) -> Self { with { $0.message = { _ in text } } }
    func message(_ text: @escaping ErrorRow.Text) -> Self { with { $0.message = text } }
    func recovery(_ text: String) -> Self { with { $0.recovery = { _ in text } } }
    func recovery(_ text: @escaping ErrorRow.Text) -> Self { with { $0.recovery = text } }

    private func with(_ change: (inout ErrorRow) -> Void) -> Self {
        var row = row
        change(&row)
        return Self(rawValue, row)
    }
}

/// The properties of a code.
struct ErrorRow: Sendable {
    /// Creates a sentence from the details of a failure.
    typealias Text = @Sendable (ErrorDetails) -> String

    let category: ErrorCategory
    let apple: Int?
    let status: KeychainStatus
    let exit: Int32
    var message: Text = { _ in "The request failed." }
    var recovery: Text = { _ in "Run `whorl doctor` to find out why." }
}

/// The details of a failure, from which the row creates its sentences.
struct ErrorDetails {
    let values: [String: String]

    subscript(_ detail: ServiceError.Detail) -> String { values[detail.rawValue] ?? "" }
    var subject: String { self[.subject] }
    var spokenFinger: String { Finger(rawValue: self[.finger])?.spokenName ?? self[.finger] }
    var wait: Duration { .milliseconds(Int64(self[.milliseconds]) ?? 0) }

    var items: String {
        let items = self[.items].split(separator: "\n")
        let shown = items.prefix(10).joined(separator: ", ")
        return items.count > 10 ? "\(shown) and \(items.count - 10) more" : shown
    }
}

/// The statuses that keychain functions return (`SecBase.h`).
enum KeychainStatus: Int32 {
    case userCanceled = -128
    case param = -50
    case io = -36
    case diskFull = -34
    case notAvailable = -25291
    case authFailed = -25293
    case duplicateItem = -25299
    case itemNotFound = -25300
    case interactionNotAllowed = -25308
    case invalidRecord = -67701
}
