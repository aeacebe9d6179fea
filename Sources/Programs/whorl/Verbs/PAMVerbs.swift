// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import WhorlService
import WhorlSupport

/// The command `whorl pam`.
struct PAMCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pam",
        abstract: "Enable or disable fingerprints for a PAM service such as sudo",
        discussion: """
            Adds one line to a file in /etc/pam.d, or removes it. Your password keeps working. To enable all services, use \
            pam-auth-update (Docs/PAM.md). You authenticate once with the new file, by touch or password, before it is used. Keep a \
            root shell open until `sudo -k true` has worked in another terminal. Examples:

              whorl pam status sudo
              whorl pam add sudo --dry-run
              sudo whorl pam add sudo
              sudo whorl pam remove sudo
            """,
        subcommands: [Status.self, Add.self, Remove.self]
    )

    /// A PAM service, and the folder of its file.
    struct Place: ParsableArguments {
        @Argument(help: ArgumentHelp("PAM service, such as sudo", valueName: "service"))
        var service: String

        @Option(help: ArgumentHelp("PAM's configuration directory", valueName: "dir"))
        var folder = PAMFolder.own

        var files: PAMFolder { PAMFolder(path: folder) }

        func validate() throws {
            let allowed = service.utf8.allSatisfy {
                ($0 >= 0x61 && $0 <= 0x7a) || ($0 >= 0x41 && $0 <= 0x5a) || ($0 >= 0x30 && $0 <= 0x39)
                    || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: ".")
            }
            guard allowed, !service.isEmpty, !service.hasPrefix(".") else {
                throw ValidationError("No file “\(service)” in \(folder).")
            }
            guard !service.hasPrefix("common-"), service != "other" else {
                throw ValidationError(
                    "“\(service)” applies to all services. To enable all of them, use `pam-auth-update --enable whorl`."
                )
            }
        }
    }

    /// The command `whorl pam status`.
    struct Status: Verb {
        static let asks = Asked.nothing
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Show whether a service accepts a touch"
        )
        @OptionGroup var place: Place
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            let stack = try place.files.stack(of: place.service)
            guard !stack.isModuleUnclear else { throw Failure.stack(.unclear, place.service) }
            let by = stack.hasModule ? "own" : place.files.includesModule(stack) ? "included" : nil
            // An incomplete chain reports no other module here; `add` says why.
            let other = (try? PAMChain(of: stack, named: place.service, in: place.files))?.otherFinger
            let words =
                switch by {
                case "own": "\(place.service) accepts a touch: enabled in its own file."
                case .some: "\(place.service) accepts a touch: enabled in a file that it includes."
                case nil:
                    other.map {
                        "\(place.service) accepts a touch through \($0.module), named in \($0.file)."
                    }
                        ?? "\(place.service) does not accept a touch."
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
                "\(place.folder)/\(place.service) is a copy of \(file), which has changed. To copy it again:",
                "sudo whorl pam remove \(place.service) && sudo whorl pam add \(place.service)",
            ]
        }
    }

    /// The command `whorl pam add`.
    struct Add: Verb {
        static let asks = Asked.nothing
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Accept a touch for a service, in addition to the password"
        )
        @Flag(help: "Show the change, without making it")
        var dryRun = false
        @Flag(
            name: .customLong("try"),
            inversion: .prefixedNo,
            help: "Authenticate with the new file before it is used (default in /etc/pam.d)"
        )
        var tries: Bool?
        @OptionGroup var place: Place
        @OptionGroup var global: GlobalOptions

        /// Whether to test the new file.
        ///
        /// A folder that belongs to another system names that system's modules, so it is not tested.
        private var isTried: Bool { !dryRun && tries ?? (place.folder == PAMFolder.own) }

        func answer(_ session: Session) async throws -> Answer {
            if let file = PAMTouchFile(service: place.service, in: place.files), file.isAbsent {
                return try create(file)
            }
            let old = try place.files.stack(of: place.service)
            guard !place.files.includesModule(old) else { throw Failure.stack(.there, place.service) }
            let new: PAMStack
            do throws(PAMStack.Fault) {
                new = try old.adding { place.files.hasLogins($0) }
                try PAMChain(of: old, named: place.service, in: place.files).check(
                    before: old.passwordLine ?? 0
                )
                // Without the line, the new file must equal the old one; otherwise nothing is written.
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
                    ? ["This line would be added before the password's:", PAMStack.line]
                        + (vendor.map { ["in a copy of \($0): \(place.folder)/\(place.service)"] } ?? [])
                    : [
                        "\(place.service) now accepts a touch. Try it in another terminal before you close this one.",
                        "To undo: sudo whorl pam remove \(place.service)",
                    ] + (vendor.map(copied) ?? [])
            )
        }

        /// Creates the file of a service for fingers alone.
        ///
        /// It is not tested first: the password has a service of its own, which stays as it is.
        private func create(_ file: PAMTouchFile) throws -> Answer {
            let vendor = place.files.vendorFile(of: place.service)
            let (packaged, new): (PAMStack?, PAMStack)
            do {
                (packaged, new) = try file.draft()
            } catch let fault as PAMStack.Fault {
                throw Failure.stack(fault, place.service)
            }
            if !dryRun {
                if place.folder == PAMFolder.own { try Self.tryModule() }
                try file.create(new, from: packaged)
            }
            let path = "\(place.folder)/\(place.service)"
            return Answer(
                result: [
                    "service": .string(place.service), "added": .bool(!dryRun), "tried": false,
                    "line": .string(PAMTouchFile.line), "copied": vendor.map(JSONValue.string),
                ],
                text: dryRun
                    ? ["\(path) would be created:"] + new.text.split(separator: "\n").map(String.init)
                    : [
                        "\(place.service) now accepts a touch. Try it by locking the screen.",
                        "To undo: sudo whorl pam remove \(place.service)",
                    ] + (vendor.map(copied) ?? [])
            )
        }

        private func copied(_ vendor: String) -> [String] {
            [
                "\(place.folder)/\(place.service) is a copy of \(vendor) with the line, and replaces it.",
                "After an update of \(vendor), `whorl pam status \(place.service)` tells you to copy it again.",
            ]
        }

        /// Checks that libpam can load the module.
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
            abstract: "Stop accepting a touch for a service"
        )
        @Flag(help: "Show the change, without making it")
        var dryRun = false
        @OptionGroup var place: Place
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            let old = try place.files.stack(of: place.service)
            let isThere = old.hasModule
            if isThere, let file = PAMTouchFile(service: place.service, in: place.files),
                file.isUnchanged(old)
            {
                if !dryRun { try file.delete() }
                return answer(removes: true, dryRun ? "The file would be deleted." : nil)
            }
            let new: PAMStack
            do throws(PAMStack.Fault) {
                new = try old.removing()
            } catch {
                throw Failure.stack(error, place.service)
            }
            if isThere, !dryRun { try place.files.restore(place.service, old, to: new) }
            return answer(
                removes: isThere,
                !isThere
                    ? "\(place.service) is not enabled in its own file."
                    : dryRun ? "The line would be removed." : nil
            )
        }

        private func answer(removes: Bool, _ text: String?) -> Answer {
            Answer(
                result: ["service": .string(place.service), "removed": .bool(removes && !dryRun)],
                text: [text ?? "\(place.service) no longer accepts a touch."]
            )
        }
    }
}

extension Failure {
    /// Returns the failure for a file in which the line cannot be inserted or removed.
    fileprivate static func stack(_ fault: PAMStack.Fault, _ service: String) -> Failure {
        guard fault != .there else {
            return Failure(
                code: "existsAlready",
                status: .existsAlready,
                message: "\(service) already accepts a touch.",
                recovery: "Nothing to do."
            )
        }
        return Failure(
            code: "pamFailed",
            message: "\(fault.sentence(service)).",
            recovery: "Use `sudo pam-auth-update --enable whorl`, or edit the file yourself (Docs/PAM.md)."
        )
    }
}

extension PAMStack.Fault {
    private static func clean(_ text: String) -> String { DisplayText.clean(text, limit: 60) }

    fileprivate func sentence(_ service: String) -> String {
        switch self {
        case .there: "\(service) already accepts a touch"
        case .withoutPassword:
            "No known line in \(service)'s file prompts for a password, which must keep working"
        case .linesFollow:
            "A touch would skip the lines that follow the password's line in \(service)'s file"
        case .linesCounted:
            "A line in \(service)'s file skips a number of lines; another line would break that"
        case .unreadable(let file):
            "Cannot read \(Self.clean(file)), which \(service)'s file includes, to see what a touch would skip"
        case .asksFinger(let module, let file):
            "\(Self.clean(module)) in \(Self.clean(file)) already prompts for a touch"
        case .withoutFinger:
            "No single line in \(service)'s file prompts for a finger, which Whorl's module could replace"
        case .skips(let module, let file):
            "A touch would skip \(Self.clean(module)) in \(Self.clean(file))"
        case .unclear:
            "A line in \(service)'s file is not known to libpam, is too long, continues on the next one, or has invisible characters"
        }
    }
}
