// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import WhorlService
import WhorlSupport

/// The command `whorl pam`.
struct PAMCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pam",
        abstract: "Lets one program, such as sudo, take a finger, or no longer.",
        discussion: """
            It puts one line into a file of /etc/pam.d and takes it out again; the password stays the other way in. \
            For all programs at once there is pam-auth-update (Docs/PAM.md). The new file is put in force after you have \
            come through it once, with your finger or your password. Keep a root shell open until `sudo -k true` has \
            worked in another terminal. Examples:

              whorl pam status sudo
              whorl pam add sudo --dry-run
              sudo whorl pam add sudo
              sudo whorl pam remove sudo
            """,
        subcommands: [Status.self, Add.self, Remove.self]
    )

    /// A service of PAM, and the folder of its file.
    struct Place: ParsableArguments {
        @Argument(help: ArgumentHelp("The name of a file in the folder.", valueName: "service"))
        var service: String

        @Option(help: ArgumentHelp("PAM's folder, such as that of another system.", valueName: "dir"))
        var folder = PAMFolder.own

        var files: PAMFolder { PAMFolder(path: folder) }

        func validate() throws {
            let allowed = service.utf8.allSatisfy {
                ($0 >= 0x61 && $0 <= 0x7a) || ($0 >= 0x41 && $0 <= 0x5a) || ($0 >= 0x30 && $0 <= 0x39)
                    || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: ".")
            }
            guard allowed, !service.isEmpty, !service.hasPrefix(".") else {
                throw ValidationError("“\(service)” is no name of a file in \(folder).")
            }
            guard !service.hasPrefix("common-"), service != "other" else {
                throw ValidationError(
                    "“\(service)” is of all programs. Use `pam-auth-update --enable whorl` for all of them."
                )
            }
        }
    }

    /// The command `whorl pam status`.
    struct Status: Verb {
        static let asks = Asked.nothing
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Says whether a program takes a finger."
        )
        @OptionGroup var place: Place
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            let stack = try place.files.stack(of: place.service)
            let by = stack.hasModule ? "own" : place.files.includesModule(stack) ? "included" : nil
            // A chain that cannot be read as a whole names no other module here; `add` says why.
            let other = (try? PAMChain(of: stack, named: place.service, in: place.files))?.otherFinger
            let words =
                switch by {
                case "own": "\(place.service) takes a finger, by a line of its own."
                case .some: "\(place.service) takes a finger, by a file that it includes."
                case nil:
                    other.map { "\(place.service) takes a finger by \($0.module), which \($0.file) names." }
                        ?? "\(place.service) takes no finger."
                }
            return Answer(
                result: [
                    "service": .string(place.service), "takesFinger": .bool(by != nil),
                    "by": by.map(JSONValue.string), "other": other.map { .string($0.module) },
                ],
                text: [words] + (place.files.changedVendorFile(of: place.service).map(changed) ?? [])
            )
        }

        private func changed(_ file: String) -> [String] {
            [
                "\(file), of which \(place.folder)/\(place.service) is a copy, was changed since. To copy it again:",
                "sudo whorl pam remove \(place.service) && sudo whorl pam add \(place.service)",
            ]
        }
    }

    /// The command `whorl pam add`.
    struct Add: Verb {
        static let asks = Asked.nothing
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Lets a program take a finger; the password stays."
        )
        @Flag(help: "Only says what would be written.")
        var dryRun = false
        @Flag(
            name: .customLong("try"),
            inversion: .prefixedNo,
            help: "Whether you come through the new file before it is in force (default: in /etc/pam.d)."
        )
        var tries: Bool?
        @OptionGroup var place: Place
        @OptionGroup var global: GlobalOptions

        /// In the folder of another system stand lines for that system's modules.
        private var isTried: Bool { !dryRun && tries ?? (place.folder == PAMFolder.own) }

        func answer(_ session: Session) async throws -> Answer {
            let old = try place.files.stack(of: place.service)
            guard !place.files.includesModule(old) else { throw Failure.stack(.there, place.service) }
            let new: PAMStack
            do throws(PAMStack.Fault) {
                new = try old.adding { place.files.hasLogins($0) }
                try PAMChain(of: old, named: place.service, in: place.files).check(
                    before: old.passwordLine ?? 0
                )
                // The new file is the old one and the line, and nothing is written otherwise.
                guard try new.removing() == old else { throw .unclear }
            } catch {
                throw Failure.stack(error, place.service)
            }
            let vendor = place.files.vendorFile(of: place.service)
            if !dryRun {
                if place.folder == PAMFolder.own { try Self.tryModule() }
                if isTried {
                    try PAMTrial(files: place.files, service: place.service, stack: new).run()
                }
                try place.files.replace(place.service, old, by: new)
            }
            return Answer(
                result: [
                    "service": .string(place.service), "added": .bool(!dryRun), "tried": .bool(isTried),
                    "line": .string(PAMStack.line), "copied": vendor.map(JSONValue.string),
                ],
                text: dryRun
                    ? ["This line would be put before the password's:", PAMStack.line]
                        + (vendor.map { ["in a copy of \($0): \(place.folder)/\(place.service)"] } ?? [])
                    : [
                        "\(place.service) takes a finger now. Try it in another terminal before you close this one;",
                        "this takes it back: sudo whorl pam remove \(place.service)",
                    ] + (vendor.map(copied) ?? [])
            )
        }

        private func copied(_ vendor: String) -> [String] {
            [
                "\(place.folder)/\(place.service) is a copy of \(vendor) with the line, and is used instead of it.",
                "Updates change \(vendor) alone; `whorl pam status \(place.service)` says so.",
            ]
        }

        /// Looks that libpam can load the module.
        private static func tryModule() throws(Failure) {
            let folders =
                ["x86_64-linux-gnu/", "aarch64-linux-gnu/", ""].flatMap { triple in
                    ["/usr/lib/\(triple)security", "/lib/\(triple)security"]
                } + ["/usr/lib64/security"]
            for folder in folders {
                guard let module = dlopen("\(folder)/pam_whorl.so", RTLD_NOW | RTLD_LOCAL) else { continue }
                defer { dlclose(module) }
                if dlsym(module, "pam_sm_authenticate") != nil { return }
            }
            throw Failure(
                code: "pamFailed",
                message: "The module pam_whorl.so is not installed, or cannot be loaded.",
                reason: dlerror().map { String(cString: $0) } ?? "",
                recovery: "Install it: make pam && sudo make install-pam"
            )
        }
    }

    /// The command `whorl pam remove`.
    struct Remove: Verb {
        static let asks = Asked.nothing
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Takes the line out again; everything else in the file stays as it is."
        )
        @Flag(help: "Only says what would be written.")
        var dryRun = false
        @OptionGroup var place: Place
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            let old = try place.files.stack(of: place.service)
            let isThere = old.hasModule
            let new: PAMStack
            do throws(PAMStack.Fault) {
                new = try old.removing()
            } catch {
                throw Failure.stack(error, place.service)
            }
            if isThere, !dryRun { try place.files.restore(place.service, old, to: new) }
            return Answer(
                result: ["service": .string(place.service), "removed": .bool(isThere && !dryRun)],
                text: [
                    !isThere
                        ? "\(place.service) has no line of its own for a finger."
                        : dryRun
                            ? "The line would be taken out." : "\(place.service) takes no finger any more."
                ]
            )
        }
    }
}

extension Failure {
    /// The failure of a file into which the line cannot be put, or from which it cannot be taken.
    fileprivate static func stack(_ fault: PAMStack.Fault, _ service: String) -> Failure {
        guard fault != .there else {
            return Failure(
                code: "existsAlready",
                status: .existsAlready,
                message: "\(service) takes a finger already.",
                recovery: "Nothing is to be done."
            )
        }
        return Failure(
            code: "pamFailed",
            message: "\(fault.sentence(service)).",
            recovery: "Use `sudo pam-auth-update --enable whorl`, or change the file by hand (Docs/PAM.md)."
        )
    }
}

extension PAMStack.Fault {
    private static func clean(_ text: String) -> String { DisplayText.clean(text, limit: 60) }

    fileprivate func sentence(_ service: String) -> String {
        switch self {
        case .there: "\(service) takes a finger already"
        case .withoutPassword:
            "No line of \(service)'s file is known to ask for a password, which has to stay the other way in"
        case .linesFollow:
            "Further lines follow the password's in \(service)'s file, which a touch would skip"
        case .linesCounted:
            "A line of \(service)'s file passes over a number of lines, and would get elsewhere"
        case .unreadable(let file):
            "The file \(Self.clean(file)) that \(service)’s file includes cannot be read, so it is unknown what a touch would skip"
        case .asksFinger(let module, let file):
            "\(Self.clean(module)) in \(Self.clean(file)) asks for a finger already, and both would wait for one"
        case .skips(let module, let file):
            "A touch would skip \(Self.clean(module)), which \(Self.clean(file)) names after or around the password"
        case .unclear:
            "A line of \(service)'s file goes on in the next one, or has bytes that an editor does not show"
        }
    }
}
