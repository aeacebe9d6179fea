// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
package import WhorlFingerprint
internal import WhorlSupport

/// A lock that prevents two of a user's programs from using a reader at the same time, and names the program that has
/// it.
///
/// The kernel's protection alone is not enough. The kernel does not let two programs claim a USB interface, but it does
/// not report which program has claimed it. It also does not know about libfprint's virtual readers, whose sockets a
/// second program would take over. Each reader has one lock file of a few bytes.
enum ReaderLock {
    /// Locks the reader.
    ///
    /// - Parameters:
    ///   - id: The ID of the reader.
    ///   - emulation: The path of a simulated reader's socket or of an emulated bus's folder, which distinguishes
    ///     simulated readers with the same ID. The lock file is created next to that path, where every program that can
    ///     use the reader finds it. The locks of other readers are in ``LockPlace``.
    ///   - places: The possible folders for the locks of real readers.
    /// - Returns: The lock, which stays locked until it is released.
    /// - Throws: `inUse` with the name of the program that has the lock as the cause, or `lockUnusable` if the file or
    ///   its folder cannot be trusted.
    static func take(
        for id: ReaderID,
        emulation: String?,
        places: [LockPlace] = LockPlace.ours
    ) throws(ReaderError) -> FileLock {
        let name = ReaderLock.fileName(for: id)
        if let emulation { return try take(AT_FDCWD, "\(emulation).\(name)", "\(emulation).\(name)") }
        let place = try LockPlace.open(places)
        defer { close(place.descriptor) }
        return try take(place.descriptor, name, "\(place.path)/\(name)")
    }

    private static func take(_ folder: CInt, _ name: String, _ path: String) throws(ReaderError) -> FileLock {
        let attempt: FileLock.Attempt
        do throws(FileLockError) {
            attempt = try FileLock.attempt(name, in: folder)
        } catch {
            throw LockPlace.refusal(error, path)
        }
        switch attempt {
        case .held(let holder):
            throw ReaderError(.inUse, operation: "open", cause: holder.isEmpty ? "" : "held by \(holder)")
        case .taken(let lock):
            lock.write(note: "\(ThisProcess.programName) (process \(getpid()))")
            return lock
        }
    }

    /// Returns the reason why real readers cannot be locked, or `nil` if they can.
    static func trouble(in places: [LockPlace] = LockPlace.ours) -> ReaderError? {
        do throws(ReaderError) {
            close(try LockPlace.open(places).descriptor)
            return nil
        } catch {
            return error
        }
    }

    /// Returns a file name without path separators, because the device may influence a reader's ID.
    private static func fileName(for id: ReaderID) -> String {
        id.rawValue.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }
            .suffix(200).reduce(into: "reader-") { $0.append($1) } + ".lock"
    }
}

extension LibfprintSource {
    /// The error that prevents readers from being locked, or `nil` if they can be locked.
    ///
    /// Reading this property creates the directory for the lock files if it does not exist.
    package static var lockTrouble: ReaderError? { ReaderLock.trouble() }
}

/// A guess at which process is using a USB reader.
enum ReaderHolder {
    /// Returns a description of a running fprintd, or of another one of this user's processes that has a USB device
    /// open.
    ///
    /// The text is empty if there is no such process.
    ///
    /// The kernel does not reveal which process claimed an interface, so this is a guess for use in messages and never
    /// in decisions. The search runs on a separate thread, because the GLib thread, which may be a program's main
    /// thread, must not wait for `/proc`.
    static func likely() async -> String { await onThread("whorl-holder", search) ?? "" }

    private static func search() -> String {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        for process in processes {
            guard let id = Int32(process), id != getpid() else { continue }
            guard let line = try? String(contentsOfFile: "/proc/\(id)/comm", encoding: .utf8) else {
                continue
            }
            let name = line.prefix { !$0.isNewline }
            if name == "fprintd" || hasUSBDeviceOpen(id) {
                return "probably in use by \(name) (process \(id))"
            }
        }
        return ""
    }

    /// Returns whether a process has a USB device open, which can be `true` only for processes whose descriptors this
    /// user can read.
    private static func hasUSBDeviceOpen(_ process: Int32) -> Bool {
        let folder = "/proc/\(process)/fd"
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return descriptors.contains { descriptor in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(descriptor)")
            return target?.hasPrefix("/dev/bus/usb/") ?? false
        }
    }
}
