// SPDX-License-Identifier: Apache-2.0

internal import ChildPipe
public import Foundation

/// A swtpm of a test's own, in a directory of its own, reached over a Unix socket: bare, without a resource manager, with
/// three slots for objects, so that a handle that was not flushed shows at once.
///
/// Unchecked: the process is kept behind a lock, and replaced only by ``restart(keepingState:)``, which the one test that owns
/// this calls in turn.
public final class SoftwareTPM: @unchecked Sendable {
    /// Where everything of it lies; removed with it.
    public let directory: URL
    private var process: ChildProgram {
        get { access.withLock { running } }
        set { access.withLock { running = newValue } }
    }
    private var running = ChildProgram()
    /// An interposer ends the TPM on its own thread.
    private let access = NSLock()

    /// Whether swtpm and tpm2-tools are there; tests skip without, or fail when `REQUIRE_PEERS` is set.
    public static let isAvailable =
        [("swtpm", "/usr/bin"), ("tpm2", "/usr/bin")].allSatisfy { tool, folder in
            let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
            return (path.split(separator: ":").map(String.init) + [folder])
                .contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(tool)") }
        } || ProcessInfo.processInfo.environment["REQUIRE_PEERS"] != nil

    /// Makes a new TPM and starts it.
    public init() throws {
        // Short: the path of a Unix socket has 107 bytes.
        directory = FileManager.default.temporaryDirectory
            .appending(path: "whorl-tpm-\(UUID().uuidString.prefix(13))")
        try FileManager.default.createDirectory(at: state, withIntermediateDirectories: true)
        try start()
    }

    deinit {
        kill()
        try? FileManager.default.removeItem(at: directory)
    }

    private var state: URL { directory.appending(path: "state") }
    /// The socket's path; the control channel is beside it, as tpm2-tss expects.
    public var socket: String { directory.appending(path: "s").path }
    /// The TCTI string.
    public var address: String { "swtpm:path=\(socket)" }

    private func start(started: Bool = true) throws {
        for path in [socket, socket + ".ctrl"] { try? FileManager.default.removeItem(atPath: path) }
        let process = ChildProgram()
        self.process = process
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "swtpm", "socket", "--tpm2", "--tpmstate", "dir=\(state.path)",
            "--server", "type=unixio,path=\(socket)", "--ctrl", "type=unixio,path=\(socket).ctrl",
            "--flags", started ? "not-need-init,startup-clear" : "not-need-init",
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.start()
        let deadline = ContinuousClock.now + .seconds(120)
        while (try? UnixSocket(connectingTo: socket)) == nil {
            guard ContinuousClock.now < deadline, process.isRunning else { throw SoftwareTPMError.notStarted }
            usleep(2_000)
        }
    }

    /// Ends it at once, as a power cut does.
    public func kill() {
        guard process.isRunning else { return }
        process.send(SIGKILL)
        process.waitForEnd()
    }

    /// Ends it and starts it again.
    ///
    /// - Parameters:
    ///   - keepingState: Whether it is the same TPM afterwards, or one that knows nothing.
    ///   - started: Whether TPM2_Startup was sent, as firmware does.
    /// - Throws: When it does not start.
    public func restart(keepingState: Bool, started: Bool = true) throws {
        kill()
        if !keepingState {
            try FileManager.default.removeItem(at: state)
            try FileManager.default.createDirectory(at: state, withIntermediateDirectories: true)
        }
        try start(started: started)
    }

    // MARK: The other side

    /// Loaded objects and all sessions, which nobody flushed.
    public func leaks() throws -> [UInt32] {
        try handles(from: 0x8000_0000) + handles(from: 0x0200_0000) + handles(from: 0x0300_0000)
    }

    /// Flushes all that ``leaks()`` lists, as a resource manager does for a program that has ended.
    public func flushLeaks() throws {
        for handle in try leaks() {
            let command = [0x80, 0x01] + [14, 0x165, handle].flatMap(bigEndian)
            _ = try UnixSocket(connectingTo: socket).exchange(command)
        }
    }

    /// The handles that TPM2_GetCapability lists, asked over the socket without tpm2-tss.
    public func handles(from first: UInt32) throws -> [UInt32] {
        let command: [UInt32] = [0x16, 0x17a, 1, first, 254]
        let answer = try UnixSocket(connectingTo: socket).exchange([0x80, 0x01] + command.flatMap(bigEndian))
        guard answer.count >= 19, answer[6..<10].allSatisfy({ $0 == 0 }) else {
            throw SoftwareTPMError.noAnswer
        }
        return stride(from: 19, to: answer.count - 3, by: 4).map { offset in
            answer[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
        }
    }

    /// Runs one of tpm2-tools on it, in ``directory``, with the arguments as after `tpm2`.
    @discardableResult
    public func tool(_ arguments: String...) throws -> ToolResult { try tool(arguments: arguments) }

    /// Runs one of tpm2-tools on it, in ``directory``.
    ///
    /// - Parameters:
    ///   - arguments: As after `tpm2`.
    ///   - address: Another TCTI string than its own.
    /// - Returns: What it printed, and its exit status.
    /// - Throws: When it could not be run.
    @discardableResult
    public func tool(arguments: [String], through address: String? = nil) throws -> ToolResult {
        try Self.run(
            ["tpm2"] + arguments,
            in: directory,
            environment: ["TPM2TOOLS_TCTI": address ?? self.address]
        )
    }

    /// Runs a program, as `openssl`, in ``directory``.
    @discardableResult
    public func run(_ program: String, arguments: [String]) throws -> ToolResult {
        try Self.run([program] + arguments, in: directory)
    }

    /// Runs a program, as `openssl`, in ``directory``.
    @discardableResult
    public func run(_ program: String, _ arguments: String...) throws -> ToolResult {
        try run(program, arguments: arguments)
    }

    private static func run(
        _ arguments: [String],
        in directory: URL,
        environment: [String: String] = [:]
    ) throws -> ToolResult {
        let process = ChildProgram()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.currentDirectoryURL = directory
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        // A file for each stream: a pipe that nobody reads would stop the program.
        let name = UUID().uuidString
        let files = ["out", "err"].map { directory.appending(path: "\(name).\($0)") }
        for file in files { try Data().write(to: file) }
        defer { for file in files { try? FileManager.default.removeItem(at: file) } }
        process.standardOutput = try FileHandle(forWritingTo: files[0])
        process.standardError = try FileHandle(forWritingTo: files[1])
        process.standardInput = FileHandle.nullDevice
        try process.start()
        let status = process.waitForEnd()
        let texts = try files.map { String(decoding: try Data(contentsOf: $0), as: UTF8.self) }
        return ToolResult(status: status, output: texts[0], errors: texts[1])
    }

    /// Writes a file into ``directory``.
    public func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: directory.appending(path: name))
    }

    /// Reads a file of ``directory``.
    public func read(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: directory.appending(path: name)))
    }
}

/// What a program printed, and how it ended.
public struct ToolResult: Sendable {
    /// The exit status; 0 is success.
    public let status: Int32
    /// What it printed.
    public let output: String
    /// What it complained about.
    public let errors: String
}

/// Why a test cannot go on.
public enum SoftwareTPMError: Error {
    /// swtpm did not start.
    case notStarted
    /// swtpm did not answer, or not with a success.
    case noAnswer
    /// The recording is no pcapng file of the TPM's traffic.
    case badRecording
}

/// The bytes, most significant first.
func bigEndian(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
