// SPDX-License-Identifier: Apache-2.0

internal import WhorlGLib
internal import Glibc
internal import WhorlSupport

/// The settings from a configuration file, with warnings.
package struct ReadConfiguration: Sendable, Hashable {
    /// The settings.
    package let configuration: ServiceConfiguration
    /// The warnings: one sentence for each unknown group or key.
    package let warnings: [String]
    /// Whether the file exists.
    package let hasFile: Bool
}

/// The reason why a configuration is invalid; its text includes the file's path and the allowed values.
package struct ConfigurationFault: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String
}

extension ServiceConfiguration {
    /// The maximum size of the file, in bytes.
    package static let largest = 64 << 10

    /// Reads the settings from a file; if the file does not exist, all settings have their default values.
    ///
    /// - Parameter path: The path of the file.
    /// - Returns: The settings, and warnings about unknown names.
    /// - Throws: A fault if the file cannot be read, users other than root can write it, or a value is not allowed.
    package static func read(_ path: String = path) throws(ConfigurationFault) -> ReadConfiguration {
        guard let bytes = try bytes(of: path) else {
            return ReadConfiguration(configuration: ServiceConfiguration(), warnings: [], hasFile: false)
        }
        return try parse(bytes, path)
    }

    /// Parses the content of a configuration file.
    package static func parse(_ bytes: [UInt8], _ path: String) throws(ConfigurationFault)
        -> ReadConfiguration
    {
        let file: KeyFile
        do throws(KeyFile.Fault) {
            file = try KeyFile(parsing: bytes)
        } catch {
            throw ConfigurationFault(description: "\(path): \(DisplayText.clean(error.text, limit: 300))")
        }
        var configuration = ServiceConfiguration()
        let known = Set(Setting.all.map(\.group))
        var warnings = file.groups.filter { !known.contains($0) }.map {
            "\(path): unknown section [\(DisplayText.clean($0, limit: 60))], ignored."
        }
        for entry in file.entries where known.contains(entry.group) {
            let setting = Setting.all.first { $0.group == entry.group && $0.key == entry.key }
            let place = "[\(entry.group)] \(DisplayText.clean(entry.key, limit: 60))"
            guard let setting else {
                warnings.append("\(path): unknown setting \(place), ignored.")
                continue
            }
            guard setting.take(&configuration, entry.value) else {
                let value = DisplayText.clean(entry.value, limit: 60)
                throw ConfigurationFault(
                    description:
                        "\(path): invalid value “\(value)” for \(place). Allowed: \(setting.allowed)."
                )
            }
        }
        return ReadConfiguration(configuration: configuration, warnings: warnings, hasFile: true)
    }

    /// Returns the content of a file; `nil` if it does not exist.
    ///
    /// Throws if users other than root and this process's user can write to the file.
    private static func bytes(of path: String) throws(ConfigurationFault) -> [UInt8]? {
        func fault(_ reason: String) -> ConfigurationFault {
            ConfigurationFault(description: "\(path): \(reason)")
        }
        func refusal(_ code: Int32) -> ConfigurationFault { fault("\(String(cString: strerror(code))).") }
        // Without O_NONBLOCK, opening a pipe in place of the file would block.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw refusal(errno)
        }
        defer { close(file) }
        var facts = stat()
        guard fstat(file, &facts) == 0 else { throw refusal(errno) }
        guard facts.st_mode & S_IFMT == S_IFREG else { throw fault("It is not a regular file.") }
        guard facts.st_uid == 0 || facts.st_uid == geteuid(), facts.st_mode & 0o022 == 0 else {
            throw fault(
                "Users other than root can write it. To fix this: sudo chown root \(path) && sudo chmod go-w \(path)"
            )
        }
        var bytes = [UInt8](repeating: 0, count: largest + 1)
        var count = 0
        while count <= largest {
            let got = bytes[count...].withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress, $0.count) }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw refusal(errno) }
            if got == 0 { return Array(bytes.prefix(count)) }
            count += got
        }
        throw fault("It has more than \(largest) bytes.")
    }
}
