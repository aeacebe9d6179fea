// SPDX-License-Identifier: Apache-2.0

internal import CWhorlSocket
internal import Glibc
package import WhorlFingerprint
internal import WhorlSupport

/// A device node and the users who count as its owners.
package struct DeviceNode: Sendable {
    /// The path, such as `/dev/bus/usb/001/004`.
    package let path: String
    private let service: UInt32?
    private let database: String

    /// The ID of the user that the service runs as and that owns the readers, or `nil` if the service was never
    /// installed.
    package static let service = ThisProcess.userNumber(of: "whorl")

    /// Creates a device node.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - service: The ID of the service's user, or `nil` if this machine has no such user.
    ///   - database: The path of udev's database folder.
    package init(_ path: String, service: UInt32?, database: String = "/run/udev/data") {
        self.path = path
        self.service = service
        self.database = database
    }

    /// Creates a description of a USB device's node.
    package init(bus: UInt8, address: UInt8, service: UInt32?) {
        self.init("/dev/bus/usb/\(Self.padded(bus))/\(Self.padded(address))", service: service)
    }

    /// Returns who can open the node, based on its owner, its mode, its ACL, and the tags in udev's database.
    package func access() -> ReaderAccess {
        var status = stat()
        guard stat(path, &status) == 0 else { return unknown("stat") }
        var others: Set<String> = []
        if let user = other(user: status.st_uid), status.st_mode & 0o600 != 0 { others.insert(user) }
        if status.st_mode & 0o006 != 0 { others.insert("everyone") }
        switch list() {
        case .failure(let fault): return fault.access
        case .success(nil): if status.st_mode & 0o060 != 0 { others.formUnion(group(status.st_gid)) }
        case .success(let list?): others.formUnion(named(in: list, of: status.st_gid))
        }
        switch tag(of: status) {
        case .failure(let fault): return fault.access
        case .success(let isTagged): if isTagged { others.insert("the user at the seat") }
        }
        return others.isEmpty ? ReaderAccess(.closed) : ReaderAccess(.open, others.sorted())
    }

    private struct Fault: Error {
        let access: ReaderAccess
    }

    private func unknown(_ call: String) -> ReaderAccess {
        ReaderAccess(.unknown, ["\(call) \(path): \(String(cString: strerror(errno)))"])
    }

    private static func padded(_ number: UInt8) -> String {
        String(repeating: "0", count: 3 - String(number).count) + String(number)
    }
}

extension DeviceNode {
    /// An ACL entry as defined in `acl(5)` and the kernel's `posix_acl_xattr.h`.
    private struct Entry {
        let tag: UInt16
        let permissions: UInt16
        let id: UInt32

        init(_ bytes: ArraySlice<UInt8>) {
            let begin = bytes.startIndex
            tag = UInt16(bytes[begin]) | UInt16(bytes[begin + 1]) << 8
            permissions = UInt16(bytes[begin + 2]) | UInt16(bytes[begin + 3]) << 8
            id = bytes.suffix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
        }
    }

    /// The possible tags of an ACL entry.
    private enum Tag {
        static let user: UInt16 = 0x02
        static let owningGroup: UInt16 = 0x04
        static let group: UInt16 = 0x08
        static let mask: UInt16 = 0x10
    }

    /// Reads the node's ACL, or returns `nil` if the node has only a mode.
    private func list() -> Result<[Entry]?, Fault> {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = getxattr(path, "system.posix_acl_access", &bytes, bytes.count)
        guard count >= 0 else {
            return errno == ENODATA || errno == ENOTSUP
                ? .success(nil) : .failure(Fault(access: unknown("getxattr")))
        }
        // A version (2), then entries of 8 bytes, all little-endian.
        guard count >= 4, (count - 4) % 8 == 0, bytes[0] == 2 else {
            return .failure(Fault(access: ReaderAccess(.unknown, ["the ACL of \(path) cannot be read"])))
        }
        return .success(stride(from: 4, to: count, by: 8).map { Entry(bytes[$0..<$0 + 8]) })
    }

    /// Returns the other users and groups that have access through the ACL and its mask.
    private func named(in list: [Entry], of owningGroup: UInt32) -> Set<String> {
        let mask = list.first { $0.tag == Tag.mask }?.permissions ?? 7
        return list.reduce(into: []) { others, entry in
            guard entry.permissions & mask & 6 != 0 else { return }
            switch entry.tag {
            case Tag.user: if let user = other(user: entry.id) { others.insert(user) }
            case Tag.owningGroup: others.formUnion(group(owningGroup))
            case Tag.group: others.formUnion(group(entry.id))
            default: break
            }
        }
    }

    /// Returns a description of a user, or `nil` for root and the service's user.
    private func other(user: UInt32) -> String? {
        guard user != 0, user != service else { return nil }
        return "the user " + (AccountName.user(user) ?? String(user))
    }

    /// Returns a description of a group that has access, or an empty set for root's group if it has no other members.
    private func group(_ number: UInt32) -> Set<String> {
        let found = AccountName.group(number)
        let members = (found?.members ?? []).filter { $0 != "root" }
        guard number != 0 || !members.isEmpty else { return [] }
        let names = members.isEmpty ? "" : " (\(members.joined(separator: ", ")))"
        return ["the group \(found?.name ?? String(number))\(names)"]
    }

    /// Returns whether the login manager grants the user at the seat access to the node.
    private func tag(of status: stat) -> Result<Bool, Fault> {
        guard status.st_mode & S_IFMT == S_IFCHR else { return .success(false) }
        // makedev(3), without its macros.
        let major = (status.st_rdev >> 8) & 0xfff
        let minor = (status.st_rdev & 0xff) | ((status.st_rdev >> 12) & 0xfff00)
        guard let file = fopen("\(database)/c\(major):\(minor)", "re") else {
            // A device without udev rules has no entry.
            return errno == ENOENT ? .success(false) : .failure(Fault(access: unknown("udev's entry of")))
        }
        defer { fclose(file) }
        var line: UnsafeMutablePointer<CChar>?
        var room = 0
        defer { free(line) }
        while getline(&line, &room, file) > 0 {
            if let line, String(cString: line) == "Q:uaccess\n" { return .success(true) }
        }
        return .success(false)
    }
}

/// Looks up names in the user and group databases.
private enum AccountName {
    static func user(_ number: UInt32) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1 << 16) { room in
            var entry = passwd()
            var found: UnsafeMutablePointer<passwd>?
            guard let place = room.baseAddress, getpwuid_r(number, &entry, place, room.count, &found) == 0,
                found != nil, let name = entry.pw_name
            else { return nil }
            return String(cString: name)
        }
    }

    static func group(_ number: UInt32) -> (name: String, members: [String])? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1 << 16) { room in
            var entry = Glibc.group()
            var found: UnsafeMutablePointer<Glibc.group>?
            guard let place = room.baseAddress, getgrgid_r(number, &entry, place, room.count, &found) == 0,
                found != nil, let name = entry.gr_name
            else { return nil }
            var members: [String] = []
            var next = entry.gr_mem
            while let member = next?.pointee {
                members.append(String(cString: member))
                next = next?.advanced(by: 1)
            }
            return (String(cString: name), members)
        }
    }
}
