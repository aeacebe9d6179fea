// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlSupport

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
