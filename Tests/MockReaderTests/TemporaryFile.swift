// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A path in a folder of its own that is removed afterwards.
@discardableResult
func withTemporaryFile<Value>(
    _ text: String? = nil,
    _ body: (String) async throws -> Value
) async throws -> Value {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "file")
    if let text { try Data(text.utf8).write(to: file) }
    return try await body(file.path)
}

/// The same without waiting.
@discardableResult
func withTemporaryFile<Value>(_ text: String? = nil, _ body: (String) throws -> Value) throws -> Value {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "file")
    if let text { try Data(text.utf8).write(to: file) }
    return try body(file.path)
}

private func temporaryFolder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appending(path: "mock-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    return folder
}
