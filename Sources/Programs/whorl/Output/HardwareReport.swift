// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import WhorlFingerprint
import WhorlService
import WhorlSupport

/// A report on a reader and a TPM for the table in Docs/Readers.md; it contains only models, versions and results.
///
/// It does not contain anything that identifies a device, machine or person: no serial number, name or ID of the
/// reader, free text or time. `scripts/hardware` checks such files and generates the table.
struct HardwareReport {
    let reader: ReaderInfo
    let steps: [ReaderExercise.StepResult]
    /// The TPM's description of itself; `nil` if there is no TPM.
    let chip: ChipStatus?
    let isSimulatedTPM: Bool
    /// The version of libfprint, if it is known.
    let libfprint: String?

    /// The default name of the report's file.
    var fileName: String {
        let model = reader.usb.map { $0.description.replacing(":", with: "-") }
        return "reader-\(model ?? Self.plain(reader.driver)).json"
    }

    /// The content of the report's file.
    var json: JSONValue {
        [
            "format": 1,
            "whorl": .string(WhorlVersion.text),
            "reader": [
                "source": .string(source),
                "usb": reader.usb.map { .string($0.description) } ?? .null,
                "driver": .string(Self.plain(reader.driver)),
                "libfprint": libfprint.map(JSONValue.string) ?? .null,
                "scanType": .string(reader.scanType.rawValue), "storage": .string(reader.storage.rawValue),
                "enrollStages": .integer(reader.enrollStages), "features": .strings(reader.features.names),
                "steps": .array(steps.map(Self.json)),
            ],
            "tpm": chip.map { chip -> JSONValue in
                [
                    "manufacturer": .string(Self.plain(chip.manufacturer)),
                    "model": .string(Self.plain(chip.vendor)),
                    "firmware": .string(Self.plain(chip.firmware)),
                    "spec": .string(Self.plain(chip.specRevision)), "simulated": .bool(isSimulatedTPM),
                ]
            } ?? .null,
        ]
    }

    /// The kind of reader that was used.
    private var source: String {
        switch reader.kind {
        // A driver without a device node: umockdev replays recorded traffic.
        case .hardware: reader.access.state == .pretended ? "recording" : "hardware"
        case .virtual: "virtual"
        case .mock: "mock"
        }
    }

    private static func json(_ result: ReaderExercise.StepResult) -> JSONValue {
        [
            "name": .string(result.step.rawValue), "seconds": .seconds(result.seconds),
            "error": result.failure.map { _ in .string(plain(result.code ?? "unknown")) },
        ]
    }

    /// Returns the part of a text that a report may contain: 1 to 40 letters, digits, spaces, periods, hyphens and
    /// underscores.
    private static func plain(_ text: String) -> String {
        let allowed = text.utf8.filter { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: " "), UInt8(ascii: "."),
                UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        let words = String(decoding: allowed, as: UTF8.self).split(separator: " ").joined(separator: " ")
        return words.isEmpty ? "unknown" : String(words.prefix(40))
    }
}

/// The version of the installed libfprint, which the library itself does not report.
enum LibfprintVersion {
    /// The maximum size, in bytes, of a package list to read.
    private static let largest = 64 << 20

    /// Returns the version from the package list of a system with dpkg or pacman; `nil` on other systems.
    static func installed(in root: String = "") -> String? {
        (dpkg(root) ?? pacman(root)).flatMap(upstream)
    }

    private static func dpkg(_ root: String) -> String? {
        let path = "\(root)/var/lib/dpkg/status"
        var found = Glibc.stat()
        // Without a readable list, the version is unknown, and the report says so.
        guard stat(path, &found) == 0, found.st_size <= largest,
            let text = FileManager.default.contents(atPath: path)
        else { return nil }
        var isPackage = false
        for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            if line.isEmpty { isPackage = false }
            if line.elementsEqual("Package: libfprint-2-2".utf8) { isPackage = true }
            if isPackage, line.starts(with: "Version: ".utf8) {
                return String(decoding: line.dropFirst("Version: ".utf8.count).prefix(100), as: UTF8.self)
            }
        }
        return nil
    }

    private static func pacman(_ root: String) -> String? {
        let start = "libfprint-"
        return Files.names(in: "\(root)/var/lib/pacman/local").first {
            $0.hasPrefix(start) && $0.dropFirst(start.count).first?.isNumber == true
        }.map { String($0.dropFirst(start.count)) }
    }

    /// Returns the upstream part of a package version; the rest may contain the name of the person who built the
    /// package.
    static func upstream(_ version: String) -> String? {
        let rest = version.firstIndex(of: ":").map { version[version.index(after: $0)...] } ?? version[...]
        let number = rest.utf8.prefix {
            $0 == UInt8(ascii: ".") || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
        }
        // "+tod1" is a variant that loads other drivers.
        let tod = rest.dropFirst(number.count).hasPrefix("+tod") ? "+tod" : ""
        return number.isEmpty || number.count > 20 ? nil : String(decoding: number, as: UTF8.self) + tod
    }
}
