// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlSupport

/// A service's PAM file, which can be replaced by a new file with the same owner, permissions and labels.
///
/// The new file is written next to it and then renamed.
struct PAMFile: ~Copyable {
    private let descriptor: Int32
    private let folder: String
    private let draft: String
    private let model: Glibc.stat
    /// Whether new files get the labels of this file, which are those for its location.
    private let givesLabels: Bool

    /// Opens the file.
    ///
    /// A symbolic link is not followed, because it would be replaced instead of its target.
    ///
    /// - Parameters:
    ///   - folder: The folder that contains the service's file.
    ///   - service: The name of the service.
    ///   - vendor: The file in another folder to copy to this one; `nil` to open the service's file.
    /// - Throws: A failure if the file cannot be opened or replaced.
    init(folder: String, service: String, copying vendor: String? = nil) throws(Failure) {
        let file = vendor ?? "\(folder)/\(service)"
        givesLabels = vendor == nil
        let opened = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard opened >= 0 else { throw .pam("\(file) was not replaced", errno) }
        var found = Glibc.stat()
        guard fstat(opened, &found) == 0, found.st_mode & S_IFMT == S_IFREG else {
            close(opened)
            throw .pam("\(file) was not replaced", EINVAL)
        }
        descriptor = opened
        model = found
        self.folder = folder
        // A name that belongs neither to a service nor to another program's file.
        draft = "\(folder)/.\(service).whorl-new"
    }

    deinit { close(descriptor) }

    /// Writes a file with the same attributes to a path in its folder; an existing file is replaced completely or not
    /// at all.
    func write(_ stack: PAMStack, to place: String) throws(Failure) {
        // The draft of a killed run.
        unlink(draft)
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .pam("Cannot write \(draft)", errno) }
        defer { close(file) }
        guard Self.write(Array(stack.text.utf8), to: file),
            fchown(file, model.st_uid, model.st_gid) == 0,
            fchmod(file, model.st_mode & 0o777) == 0,
            !givesLabels || FileLabels.copy(from: descriptor, to: file), fsync(file) == 0,
            rename(draft, place) == 0
        else {
            let cause = errno
            unlink(draft)
            throw .pam("Cannot write \(place)", cause)
        }
        Self.settle(folder)
    }

    /// Creates a file that all users can read, complete or not at all; throws if it exists.
    static func create(_ stack: PAMStack, folder: String, service: String) throws(Failure) {
        let place = "\(folder)/\(service)"
        let draft = "\(folder)/.\(service).whorl-new"
        // The draft of a killed run.
        unlink(draft)
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .pam("Cannot write \(draft)", errno) }
        defer {
            close(file)
            unlink(draft)
        }
        // Unlike a renamed file, a link never replaces a file that another program has created in between.
        guard write(Array(stack.text.utf8), to: file), fchmod(file, 0o644) == 0, fsync(file) == 0,
            link(draft, place) == 0
        else { throw .pam("Cannot write \(place)", errno) }
        settle(folder)
    }

    /// Writes a folder's changes to disk.
    ///
    /// If this fails, the changes are in effect anyway.
    private static func settle(_ folder: String) {
        let opened = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard opened >= 0 else { return }
        _ = fsync(opened)
        close(opened)
    }

    private static func write(_ bytes: [UInt8], to file: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}

/// The extended attributes of a file, such as access control lists and SELinux labels.
///
/// The functions are looked up by name, because the C library's module does not export them.
enum FileLabels {
    private typealias List = @convention(c) (CInt, UnsafeMutablePointer<UInt8>, Int) -> Int
    private typealias Get =
        @convention(c) (CInt, UnsafePointer<CChar>, UnsafeMutablePointer<UInt8>, Int) -> Int
    private typealias Set =
        @convention(c) (CInt, UnsafePointer<CChar>, UnsafePointer<UInt8>, Int, CInt) -> CInt

    /// The attributes with hashes of a file's content, which the kernel creates for each file.
    private static let sums = ["security.ima", "security.evm"]
    /// The maximum size of an attribute, and of the list of attribute names.
    private static let largest = 65_536

    /// Copies all attributes of a file to another; returns `false` if one cannot be set, with the reason in `errno`.
    static func copy(from file: CInt, to other: CInt) -> Bool {
        guard let list = gnuFunction("flistxattr", as: List.self),
            let get = gnuFunction("fgetxattr", as: Get.self),
            let set = gnuFunction("fsetxattr", as: Set.self)
        else {
            errno = ENOSYS
            return false
        }
        var names = [UInt8](repeating: 0, count: largest)
        let size = list(file, &names, largest)
        guard size >= 0 else { return errno == ENOTSUP }
        for name in names[..<size].split(separator: 0).map({ String(decoding: $0, as: UTF8.self) }) {
            guard !sums.contains(name) else { continue }
            var value = [UInt8](repeating: 0, count: largest)
            let length = get(file, name, &value, largest)
            guard length >= 0, set(other, name, value, length, 0) == 0 else { return false }
        }
        return true
    }
}
