// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlFingerprint

@testable import WhorlLibfprint

@Suite struct `The place of a USB reader` {
    @Test func `is what its own device's port says, by bus and address`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        func add(_ name: String, _ bus: String, _ address: String, _ removable: String?) throws {
            let device = folder.appending(path: name)
            try FileManager.default.createDirectory(at: device, withIntermediateDirectories: true)
            try Data("\(bus)\n".utf8).write(to: device.appending(path: "busnum"))
            try Data("\(address)\n".utf8).write(to: device.appending(path: "devnum"))
            try removable.map { try Data("\($0)\n".utf8).write(to: device.appending(path: "removable")) }
        }
        try add("1-1", "1", "4", "removable")
        try add("1-5", "1", "5", "fixed")
        try add("2-5", "2", "5", "unknown")
        try add("2-6", "2", "6", nil)
        let all = [(1, 4), (1, 5), (2, 5), (2, 6), (3, 5)].map {
            ReaderPlacement.ofUSBDevice(bus: $0.0, address: $0.1, in: folder.path)
        }
        #expect(all == [.pluggedIn, .builtIn, .unknown, .unknown, .unknown])
        #expect(ReaderPlacement.ofUSBDevice(bus: 1, address: 5, in: "/nonexistent") == .unknown)
    }
}
