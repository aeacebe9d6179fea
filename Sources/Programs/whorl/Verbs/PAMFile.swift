// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlSupport

/// A service's file, beside which another one is written with its owner, rights and labels, and then moved to its place.
struct PAMFile: ~Copyable {
    private let descriptor: Int32
    private let folder: String
    private let draft: String
    private let model: Glibc.stat
    /// Whether files get the labels of this one: they are those of its place.
    private let givesLabels: Bool

    /// Opens the file; a link is not followed, since it would be replaced in the place of what it leads to.
    ///
    /// - Parameters:
    ///   - folder: The folder of the service's file.
    ///   - service: The name of the service.
    ///   - vendor: The file in another folder that is copied to this one; without it, the service's file is opened.
    /// - Throws: the reason for which the file cannot be opened, or is not replaced.
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
        // A name that is no service's, and no file's of someone else.
        draft = "\(folder)/.\(service).whorl-new"
    }

    deinit { close(descriptor) }

    /// Writes a file like this one to a place in its folder; what is there is replaced as a whole or not at all.
    func write(_ stack: PAMStack, to place: String) throws(Failure) {
        // The draft of a run that was killed.
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
        settle()
    }

    /// Writes the folder's names to the disk; a change that cannot be settled is made all the same.
    private func settle() {
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

/// The extended attributes of a file, such as access lists and the labels of SELinux.
///
/// The C library's module has no functions for them, so that they are looked up by their names.
enum FileLabels {
    private typealias List = @convention(c) (CInt, UnsafeMutablePointer<UInt8>, Int) -> Int
    private typealias Get =
        @convention(c) (CInt, UnsafePointer<CChar>, UnsafeMutablePointer<UInt8>, Int) -> Int
    private typealias Set =
        @convention(c) (CInt, UnsafePointer<CChar>, UnsafePointer<UInt8>, Int, CInt) -> CInt

    /// The sums of a file's bytes, which the kernel makes for each file.
    private static let sums = ["security.ima", "security.evm"]
    /// No attribute, and no list of their names, is larger.
    private static let largest = 65_536

    /// Gives one file all attributes of another; `false` where it cannot have one, with the reason in `errno`.
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
