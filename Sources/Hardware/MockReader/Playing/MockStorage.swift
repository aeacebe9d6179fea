// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import WhorlFingerprint

/// The prints that a mock keeps in itself, and their file if it has one.
///
/// The file is text: a line that names the format, then a line for each print with the template, the finger it
/// was called, the user's name and the date, separated by tabs; `-` stands for what is missing.
struct MockStorage: Sendable {
    struct Record: Sendable, Hashable {
        var print: MockPrint
        var metadata: EnrollmentMetadata
    }

    private(set) var records: [Record] = []
    private let path: String?
    private var nextSerial = 1

    private static let header = "whorl mock storage 1"
    private static let maximumBytes = 1 << 20

    init(path: String?) { self.path = path }

    /// A number that no print in here has.
    mutating func takeSerial() -> Int {
        defer { nextSerial += 1 }
        return nextSerial
    }

    func contains(_ print: MockPrint) -> Bool {
        records.contains { $0.print.isSame(as: print) }
    }

    /// Reads the file again; another process may have changed it.
    mutating func refresh(_ operation: String) throws(ReaderError) {
        guard let path, MockFile.exists(path) else { return }
        let text = try kept(at: path, operation, MockFile.read(path, limit: Self.maximumBytes))
        guard let records = Self.decode(text) else {
            throw ReaderError(.malfunction, operation: operation, cause: "\(path): not a mock's storage")
        }
        self.records = records
        nextSerial = max(nextSerial, 1 + (records.map(\.print.serial).max() ?? 0))
    }

    /// Reads or writes the file, whose failure is the reader's.
    private func kept<Value>(
        at path: String,
        _ operation: String,
        _ answer: @autoclosure () throws(MockFile.Failure) -> Value
    ) throws(ReaderError) -> Value {
        do { return try answer() } catch {
            throw ReaderError(.malfunction, operation: operation, cause: "\(path): \(error.reason)")
        }
    }

    /// Changes the prints, in the file first: what could not be written did not happen.
    mutating func change(_ operation: String, _ body: (inout [Record]) -> Void) throws(ReaderError) {
        var changed = records
        body(&changed)
        if let path {
            try kept(at: path, operation, MockFile.write(Self.encode(changed), to: path))
        }
        records = changed
    }

    // MARK: - The file

    static func encode(_ records: [Record]) -> String {
        let lines = records.map { record in
            let date = record.metadata.date.map { "\($0.year)-\($0.month)-\($0.day)" }
            return [
                record.print.text, record.metadata.finger?.rawValue ?? "-",
                record.metadata.userName.map(escape) ?? "-", date ?? "-",
            ].joined(separator: "\t")
        }
        return ([header] + lines).map { $0 + "\n" }.joined()
    }

    static func decode(_ text: String) -> [Record]? {
        var lines = pieces(of: text[...], by: "\n").filter { !$0.isEmpty }[...]
        guard lines.popFirst() == header[...] else { return nil }
        var records: [Record] = []
        for line in lines {
            guard let record = decode(line: line) else { return nil }
            records.append(record)
        }
        return records
    }

    private static func decode(line: Substring) -> Record? {
        let fields = pieces(of: line, by: "\t").map(String.init)
        guard fields.count == 4, let print = MockPrint(fields[0]) else { return nil }
        var metadata = EnrollmentMetadata()
        if fields[1] != "-" {
            guard let finger = Finger(rawValue: fields[1]) else { return nil }
            metadata.finger = finger
        }
        if fields[2] != "-" { metadata.userName = unescape(fields[2]) }
        if fields[3] != "-" {
            let numbers = fields[3].split(separator: "-").compactMap { Int($0) }
            guard numbers.count == 3 else { return nil }
            metadata.date = CalendarDate(year: numbers[0], month: numbers[1], day: numbers[2])
        }
        return Record(print: print, metadata: metadata)
    }

    /// A name as one field: never empty, never `-`, without tabs and line ends.
    private static func escape(_ name: String) -> String {
        "="
            + name.unicodeScalars.reduce(into: "") { text, scalar in
                let isPlain = scalar != "%" && scalar.properties.generalCategory != .control
                text += isPlain ? String(scalar) : "%" + String(scalar.value, radix: 16) + ";"
            }
    }

    private static func unescape(_ field: String) -> String {
        let escapes = pieces(of: Substring(field.unicodeScalars.dropFirst()), by: "%")
        guard let head = escapes.first else { return "" }
        return escapes.dropFirst().reduce(into: String(head)) { name, piece in
            let parts = pieces(of: piece, by: ";", atMost: 2)
            let scalar = parts.first.flatMap { UInt32($0, radix: 16) }.flatMap(Unicode.Scalar.init)
            if let scalar, parts.count == 2 {
                name.unicodeScalars.append(scalar)
                name += parts[1]
            }
        }
    }

    /// The text between separators, which are found whatever mark stands behind them.
    private static func pieces(
        of text: Substring,
        by separator: Unicode.Scalar,
        atMost count: Int = .max
    ) -> [Substring] {
        text.unicodeScalars
            .split(separator: separator, maxSplits: count - 1, omittingEmptySubsequences: false)
            .map { Substring($0) }
    }
}

/// Small text files: a script, or what a mock's own storage keeps.
enum MockFile {
    /// An error of reading or writing a file.
    struct Failure: Error {
        let reason: String
    }

    /// The text of a regular file of at most `limit` bytes.
    static func read(_ path: String, limit: Int) throws(Failure) -> String {
        do {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            // A pipe or a device could go on for ever.
            guard attributes[.type] as? FileAttributeType == .typeRegular else {
                throw Failure(reason: "not a regular file")
            }
            let size =
                (attributes[.size] as? UInt64).map(Int.init(clamping:)) ?? attributes[.size] as? Int ?? 0
            guard size <= limit else { throw Failure(reason: "larger than \(limit) bytes") }
            return try String(contentsOfFile: path, encoding: .utf8)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(reason: reason(error))
        }
    }

    /// Whether there is anything of this name.
    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: path)
    }

    /// Replaces the file as a whole, or leaves it as it was.
    static func write(_ text: String, to path: String) throws(Failure) {
        do {
            try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw Failure(reason: reason(error))
        }
    }

    private static func reason(_ error: any Error) -> String {
        switch (error as? CocoaError)?.code {
        case .fileReadNoSuchFile, .fileNoSuchFile: "there is no such file"
        case .fileReadNoPermission, .fileWriteNoPermission: "permission denied"
        case .fileReadInapplicableStringEncoding, .fileReadCorruptFile: "not UTF-8 text"
        case .fileWriteOutOfSpace: "the disk is full"
        default: "\(error)"
        }
    }
}
