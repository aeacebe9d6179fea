// SPDX-License-Identifier: Apache-2.0

import CGTK
import MainThread

/// Another program that the window runs, while it continues to respond.
struct ChildProgram: Sendable {
    /// The output and the exit status of a program.
    struct Ending: Sendable {
        /// The exit status; `nil` if the program was not started, or a signal ended it.
        let status: Int32?
        let output: [UInt8]

        static let notStarted = Ending(status: nil, output: [])
    }

    /// The program, which is looked up in PATH unless it is a path, and its arguments.
    let words: [String]
    /// A descriptor that the program gets with the number 3, and that is closed here.
    var handed: Int32?
    /// Whether the output also has what the program writes to standard error.
    var readsErrors = false

    /// Runs the program until it ends.
    @concurrent
    func run() async -> Ending {
        await withCheckedContinuation { continuation in
            onMainThread { start { continuation.resume(returning: $0) } }
        }
    }

    @MainActor
    private func start(_ ended: @escaping @Sendable (Ending) -> Void) {
        let errors = readsErrors ? G_SUBPROCESS_FLAGS_STDERR_MERGE.rawValue : 0
        let flags = GSubprocessFlags(rawValue: G_SUBPROCESS_FLAGS_STDOUT_PIPE.rawValue | errors)
        let launcher = g_subprocess_launcher_new(flags)
        defer { g_object_unref(UnsafeMutableRawPointer(launcher)) }
        if let handed { g_subprocess_launcher_take_fd(launcher, handed, 3) }
        let copies = words.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        let pointers = copies.map { UnsafePointer($0) } + [nil]
        guard let process = g_subprocess_launcher_spawnv(launcher, pointers, nil) else {
            return ended(.notStarted)
        }
        defer { g_object_unref(UnsafeMutableRawPointer(process)) }
        let finished: GAsyncReadyCallback = { source, result, data in
            guard let source, let data else { return }
            let ended = Unmanaged<Handler>.fromOpaque(data).takeRetainedValue().body
            ended(ChildProgram.ending(of: OpaquePointer(source), result))
        }
        let handler = Unmanaged.passRetained(Handler(ended)).toOpaque()
        g_subprocess_communicate_async(process, nil, nil, finished, handler)
    }

    private static func ending(of process: OpaquePointer, _ result: OpaquePointer?) -> Ending {
        var bytes: OpaquePointer?
        guard g_subprocess_communicate_finish(process, result, &bytes, nil, nil) != 0 else {
            return .notStarted
        }
        defer { g_bytes_unref(bytes) }
        var count: gsize = 0
        let start = g_bytes_get_data(bytes, &count)
        return Ending(
            status: g_subprocess_get_if_exited(process) != 0 ? g_subprocess_get_exit_status(process) : nil,
            output: Array(UnsafeRawBufferPointer(start: start, count: Int(count)))
        )
    }
}

/// The function that a program's end calls.
private final class Handler: Sendable {
    let body: @Sendable (ChildProgram.Ending) -> Void

    init(_ body: @escaping @Sendable (ChildProgram.Ending) -> Void) { self.body = body }
}
