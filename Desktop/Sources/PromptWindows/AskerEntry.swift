// SPDX-License-Identifier: Apache-2.0

import CGTK
import Glibc
import WhorlSupport

/// The name and icon of a confined program, from the desktop file of its Flatpak or Snap package.
///
/// Only root can write to the folders that are searched, so no program can choose the file of another one. The package
/// chooses what the files contain, however, so its ID must be shown as well, and they are read within limits.
struct AskerEntry: Sendable {
    /// The name in the user's language, safe to display.
    let name: String
    /// The icon of a Flatpak package, as a PNG image, or `nil`.
    let icon: [UInt8]?

    /// The folder with what Flatpak packages of the whole system offer to the desktop.
    private static let flatpaks = "/var/lib/flatpak/exports/share"
    private static let snaps = "/var/lib/snapd/desktop/applications"
    /// The maximum size of a desktop file or an icon in bytes.
    private static let largest = 256 << 10

    /// Finds the desktop file of a program by the ID that the service reports, such as `flatpak.org.example.Vault`;
    /// returns `nil` if there is none.
    init?(confinedAs id: String) {
        guard Self.isPlain(id), let (file, package) = Self.file(of: id), let bytes = Self.read(file),
            let keys = g_key_file_new()
        else { return nil }
        defer { g_key_file_unref(keys) }
        let isLoaded = bytes.withUnsafeBytes {
            g_key_file_load_from_data(
                keys,
                $0.baseAddress?.assumingMemoryBound(to: gchar.self),
                gsize($0.count),
                G_KEY_FILE_NONE,
                nil
            )
        }
        guard isLoaded != 0,
            let name = Self.text(g_key_file_get_locale_string(keys, "Desktop Entry", "Name", nil, nil)),
            case let shown = DisplayText.clean(name, limit: 60), !shown.allSatisfy(\.isWhitespace)
        else { return nil }
        self.name = shown
        icon = package.flatMap(Self.icon)
    }

    /// Returns the desktop file of a program, and the ID of its Flatpak package.
    private static func file(of id: String) -> (file: String, package: String?)? {
        let parts = id.split(separator: ".")
        switch parts.first {
        case "flatpak":
            let package = String(id.dropFirst("flatpak.".count))
            return ("\(flatpaks)/applications/\(package).desktop", package)
        case "snap" where parts.count == 3: return ("\(snaps)/\(parts[1])_\(parts[2]).desktop", nil)
        default: return nil
        }
    }

    /// Returns the icon that Flatpak has exported for a package, under the package's ID.
    private static func icon(of package: String) -> [UInt8]? {
        let files = ["128x128", "64x64", "256x256", "48x48", "512x512"].lazy.map { size in
            "\(flatpaks)/icons/hicolor/\(size)/apps/\(package).png"
        }
        return files.compactMap(read).first(where: isSmallPNG)
    }

    /// Returns whether an image has at most 512 × 512 pixels, so that decoding it takes little time and memory.
    private static func isSmallPNG(_ bytes: [UInt8]) -> Bool {
        let start: [UInt8] = [
            0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52,
        ]
        guard bytes.starts(with: start), bytes.count > start.count + 8 else { return false }
        let (width, height) = (bytes[16..<20], bytes[20..<24])
        return [width, height].allSatisfy { side in
            (1...512).contains(side.reduce(0) { $0 << 8 | Int($1) })
        }
    }

    /// Returns the content of a regular file that is not too large; it never waits, as a named pipe would.
    private static func read(_ path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_size <= largest
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(facts.st_size))
        let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
        return count == bytes.count ? bytes : nil
    }

    /// Returns whether a name from outside is the name of a file, not a path.
    private static func isPlain(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 200 && name.first != "."
            && name.utf8.allSatisfy { byte in
                let scalar = Unicode.Scalar(byte)
                return scalar.isASCII
                    && (scalar.properties.isAlphabetic || "0123456789.-_".unicodeScalars.contains(scalar))
            }
    }

    private static func text(_ bytes: UnsafeMutablePointer<gchar>?) -> String? {
        guard let bytes else { return nil }
        defer { g_free(bytes) }
        return String(validatingCString: bytes)
    }
}
