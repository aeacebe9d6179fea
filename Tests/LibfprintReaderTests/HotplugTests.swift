// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Readers that are plugged in and out: libfprint's USB drivers on an emulated bus (umockdev).
@Suite(
    .serialized,
    .timeLimit(.minutes(10)),
    .enabled(if: EmulatedPort.folder != nil, "WHORL_RECORDINGS names no folder of recorded USB traffic"),
    .enabled(if: EmulatedPort.isThere, "umockdev or its Python bindings (gir1.2-umockdev-1.0) are not there")
)
struct `A reader on an emulated USB port` {
    @Test(arguments: EmulatedPort.recordings)
    func `is told when it is plugged in, works, and is told when it is pulled out while open`(
        recording: String
    )
        async throws
    {
        let port = try EmulatedPort(recording, .replay)
        try await port.expect("ready 0")
        let id = try await plug(port)
        try port.say("open")
        try await port.expect("ended open ok")
        if EmulatedPort.givesPictures(recording) {
            try port.say("capture")
            try await port.expect("ended capture ok")
        }
        try port.say("unplug")
        try await port.expect("removed \(id)")
        try await requireGone(port)
    }

    @Test(arguments: EmulatedPort.recordings)
    func `is told when it is pulled out without having been opened`(recording: String) async throws {
        let port = try EmulatedPort(recording, .replay)
        try await port.expect("ready 0")
        let id = try await plug(port)
        try port.say("unplug")
        try await port.expect("removed \(id)")
        try port.say("readers")
        try await port.expect("readers 0")
    }

    /// The requests that the driver waits for fail before the system tells that the reader is gone, or after it.
    @Test(arguments: EmulatedPort.reportingRemoval, [false, true])
    func `ends the operation that runs with "unplugged" when it is pulled out`(
        recording: String,
        failsFirst: Bool
    )
        async throws
    {
        // The drivers of the others ask the reader before it is there for anybody.
        let isSilent = EmulatedPort.givesPictures(recording)
        guard isSilent || !failsFirst else { return }
        let port = try EmulatedPort(recording, isSilent ? .silent : .replay)
        try await port.expect("ready 0")
        let id = try await plug(port)
        try port.say("open")
        let operation = try await begin(port, isSilent)
        if failsFirst {
            try port.say("fail")
            try await port.expect("ended \(operation) unplugged")
            try port.say("unplug")
        } else {
            try port.say("unplug")
            try await port.expect("ended \(operation) unplugged")
        }
        try await port.expect("removed \(id)")
        try await requireGone(port)
    }

    @Test(arguments: EmulatedPort.recordings.filter(EmulatedPort.givesPictures))
    func `is the same one, and no other, when it is plugged in again`(recording: String) async throws {
        let port = try EmulatedPort(recording, .silent)
        try await port.expect("ready 0")
        let id = try await plug(port)
        for _ in 1...3 {
            try port.say("unplug")
            try await port.expect("removed \(id)")
            #expect(try await plug(port) == id)
        }
    }

    /// libfprint leaves a USB device open that it could not open, and never opens it again.
    @Test(arguments: EmulatedPort.recordings.filter(EmulatedPort.givesPictures))
    func `is said to be in use while another program holds it, and opens when it is let go`(recording: String)
        async throws
    {
        let port = try EmulatedPort(recording, .silent)
        try await port.expect("ready 0")
        try await plug(port)
        try port.say("hold")
        for _ in 1...3 {
            try port.say("open")
            try await port.expect("ended open inUse")
        }
        try port.say("release")
        try port.say("open")
        _ = try await begin(port, true)
    }

    /// Plugs the reader in; its identity.
    @discardableResult
    private func plug(_ port: EmulatedPort) async throws -> String {
        try port.say("plug")
        let told = try await port.expect("added ")
        try port.say("readers")
        try await port.expect("readers 1")
        return String(told.prefix { $0 != " " })
    }

    /// Begins operations until one waits for the reader; its name.
    private func begin(_ port: EmulatedPort, _ isSilent: Bool) async throws -> String {
        guard isSilent else {
            try await port.expect("ended open ok")
            try port.say("enroll")
            return "enroll"
        }
        try port.say("await")
        // Some drivers ask the reader when it is opened, others when there is something to do.
        guard try await port.expectOne(of: "ended open ok", "waiting") == "ended open ok" else {
            return "open"
        }
        try port.say("enroll")
        try await port.expect("waiting")
        return "enroll"
    }

    /// Nothing is left of a reader that was pulled out, and closing it is no error.
    private func requireGone(_ port: EmulatedPort) async throws {
        try port.say("readers")
        try await port.expect("readers 0")
        // Whether it was open when it was pulled out, or is closed.
        for _ in 1...2 {
            try port.say("open")
            try await port.expect("ended open unplugged")
            try port.say("close")
            try await port.expect("ended close ok")
        }
    }
}
