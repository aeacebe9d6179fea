// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

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
