// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Whole pages for secrets, allocated directly from the kernel.
///
/// `mlock` and `madvise` work on pages, so a page shared with other memory would be unlocked together with that memory.
enum SecretPages {
    /// Returns zeroed pages that hold at least `count` bytes and are excluded from core dumps.
    static func allocate(atLeast count: Int) -> UnsafeMutableRawBufferPointer {
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        let size = max(1, (count + page - 1) / page) * page
        let address = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let address, address != MAP_FAILED else {
            // As with every other allocation in Swift, the program cannot continue.
            preconditionFailure("no memory for a secret: errno \(errno)")
        }
        _ = madvise(address, size, MADV_DONTDUMP)
        return UnsafeMutableRawBufferPointer(start: address, count: size)
    }

    /// Keeps the pages out of swap; returns `false` if the system refuses.
    static func lock(_ pages: UnsafeMutableRawBufferPointer) -> Bool {
        mlock(pages.baseAddress, pages.count) == 0
    }

    /// Wipes the pages and returns them to the kernel.
    static func release(_ pages: UnsafeMutableRawBufferPointer) {
        guard let address = pages.baseAddress else { return }
        pages.wipe()
        munmap(address, pages.count)
    }

    /// Fills the bytes with random bytes from the kernel.
    ///
    /// `getentropy(3)` is glibc's call for `getrandom(2)` without flags; it returns all of the requested bytes, up to
    /// 256 in one call.
    static func fillRandomly(_ bytes: UnsafeMutableRawBufferPointer) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeMutableRawBufferPointer(rebasing: rest.prefix(256))
            guard getentropy(part.baseAddress, part.count) == 0 else {
                // A kernel without random numbers must not lead to a predictable key.
                preconditionFailure("getentropy failed: errno \(errno)")
            }
            rest = rest.dropFirst(part.count)
        }
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Overwrites the bytes with zeros; the compiler may not omit this, as it may with `memset`.
    ///
    /// Use it for data that another API puts into ordinary memory. Earlier copies are not wiped.
    public func wipe() {
        guard let baseAddress else { return }
        explicit_bzero(baseAddress, count)
    }
}
