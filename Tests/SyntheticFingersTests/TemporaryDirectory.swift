// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A new directory under the system's temporary one, removed with all in it when the value goes away.
final class TemporaryDirectory {
    let path: String

    init() throws {
        // Short, because the path of a socket may have 107 bytes only.
        path = NSTemporaryDirectory() + "/whorl-" + String(UInt64.random(in: .min ... .max), radix: 36)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    var contents: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
    }
}
