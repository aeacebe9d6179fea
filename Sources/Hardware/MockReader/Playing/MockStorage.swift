// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import WhorlFingerprint

/// The prints stored in a mock, and the file they are saved in, if any.
///
/// It is a text file. The first line names the format, and each following line describes one print: template, finger,
/// user name and date, separated by tabs. `-` marks a missing value.
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

    /// Returns a serial number that no stored print has.
    mutating func takeSerial() -> Int {
        defer { nextSerial += 1 }
        return nextSerial
    }

    func contains(_ print: MockPrint) -> Bool {
        records.contains { $0.print.isSame(as: print) }
    }

    /// Reads the file again in case another process has changed it.
    mutating func refresh(_ operation: String) throws(ReaderError) {
        guard let path, MockFile.exists(path) else { return }
        let text = try kept(at: path, operation, MockFile.read(path, limit: Self.maximumBytes))
        guard let records = Self.decode(text) else {
            throw ReaderError(.malfunction, operation: operation, cause: "\(path): not a mock's storage")
        }
        self.records = records
        nextSerial = max(nextSerial, 1 + (records.map(\.print.serial).max() ?? 0))
    }

    /// Reads or writes the file, and reports failures as reader errors.
    private func kept<Value>(
        at path: String,
        _ operation: String,
        _ answer: @autoclosure () throws(MockFile.Failure) -> Value
    ) throws(ReaderError) -> Value {
        do { return try answer() } catch {
            throw ReaderError(.malfunction, operation: operation, cause: "\(path): \(error.reason)")
        }
    }

    /// Changes the prints, writing the file first so that nothing changes if writing fails.
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

    /// Returns a name as one field, which is never empty or `-` and contains no tabs or line breaks.
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

    /// Splits text at separators, including those followed by a combining mark.
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

/// Reads and writes small text files, which are scripts and the storage files of mocks.
enum MockFile {
    /// A failure to read or write a file.
    struct Failure: Error {
        let reason: String
    }

    /// Returns the text of a regular file of at most `limit` bytes.
    static func read(_ path: String, limit: Int) throws(Failure) -> String {
        do {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            // A pipe or a device may never end.
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

    /// Returns whether a file of this name exists.
    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: path)
    }

    /// Replaces the whole file, or leaves it unchanged if writing fails.
    static func write(_ text: String, to path: String) throws(Failure) {
        do {
            try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw Failure(reason: reason(error))
        }
    }

    private static func reason(_ error: any Error) -> String {
        switch (error as? CocoaError)?.code {
        case .fileReadNoSuchFile, .fileNoSuchFile: "no such file"
        case .fileReadNoPermission, .fileWriteNoPermission: "permission denied"
        case .fileReadInapplicableStringEncoding, .fileReadCorruptFile: "not UTF-8 text"
        case .fileWriteOutOfSpace: "the disk is full"
        default: "\(error)"
        }
    }
}
