// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlService
import WhorlSupport

/// The enrollment of other users' first fingers by an administrator.
extension Enroll {
    /// The maximum number of users in a file.
    private static let mostUsers = 10_000

    /// Returns the ID of a user.
    static func number(of user: String) throws(Failure) -> UInt32 {
        // The C library would read a name only up to its first NUL.
        guard !user.utf8.contains(0), let number = ThisProcess.userNumber(of: user) else {
            throw Failure.usage(
                "Unknown user \(DisplayText.clean(user, limit: 60)).",
                hint: "`getent passwd` lists the users."
            )
        }
        return number
    }

    /// Enrolls the first finger of each user in a file, one after the other.
    ///
    /// Users who already have a finger, a passcode or an item are left out, so the command can be run again after an
    /// interruption.
    func enroll(_ finger: Finger, ofUsersIn file: String, _ session: Session) async throws -> Answer {
        var result = EnrolledUsers()
        let users = try Self.users(in: file)
        for (place, user) in users.enumerated() {
            let shown = DisplayText.clean(user, limit: 60)
            if Confirmation.isPossible, !session.console.isJSON {
                let question = "Next: \(shown), \(place + 1) of \(users.count). Ready?"
                guard try await Confirmation.ask(question, on: session.console) else {
                    result.skipped.append(user)
                    continue
                }
            } else {
                session.console.event(["event": "user", "user": .string(user)])
            }
            do {
                let number = try Self.number(of: user)
                let operation = { EnrollFingerFor(number, newFinger(finger, session), $0) }
                _ = try await enroll(finger, of: user, session, nil, operation)
                result.enrolled.append(user)
            } catch let error as ServiceError where error.code == .ownerNeeded {
                result.there.append(user)
            } catch let error as ServiceError where Self.endsList(error) {
                throw error
            } catch {
                let failure = Failure(error)
                session.console.warn("\(shown): \(failure.message)")
                result.failed.append((user, failure))
            }
        }
        return result.answer
    }

    /// Whether the error concerns all users of the list.
    private static func endsList(_ error: ServiceError) -> Bool {
        [.appCancel, .systemCancel, .notPermitted, .serviceUnavailable, .notInteractive].contains(error.code)
            || error.category == .readerUnavailable
    }

    /// Returns the names in a file, without empty lines and comments.
    static func users(in file: String) throws(Failure) -> [String] {
        guard let text = Files.text(file) else {
            throw Failure.usage("The file “\(file)” cannot be read.", hint: "Check its name and permissions.")
        }
        // A longer file is cut, perhaps within a name.
        guard text.utf8.count < 1 << 20 else {
            throw Failure.usage("The file “\(file)” is longer than 1 MiB.", hint: "Split it.")
        }
        let names = text.trimmingPrefix("\u{FEFF}").split(whereSeparator: \.isNewline)
            .map { line in line.prefix { $0 != "#" }.drop(while: \.isWhitespace) }
            .map { name in String(name.reversed().drop(while: \.isWhitespace).reversed()) }
            .filter { !$0.isEmpty }
        guard !names.isEmpty, names.count <= mostUsers else {
            throw Failure.usage(
                "The file “\(file)” has \(names.isEmpty ? "no names" : "more than \(mostUsers) names").",
                hint: "Write one user name on each line."
            )
        }
        return names
    }
}

/// The outcome of a list.
private struct EnrolledUsers {
    var enrolled: [String] = []
    /// Users who have a finger, a passcode or an item.
    var there: [String] = []
    /// Users for whom the question was answered with no.
    var skipped: [String] = []
    var failed: [(user: String, failure: Failure)] = []

    var answer: Answer {
        func list(_ users: [String]) -> JSONValue { .array(users.map { .string($0) }) }
        func line(_ title: String, _ users: [String]) -> String? {
            users.isEmpty
                ? nil : "\(title): \(users.map { DisplayText.clean($0, limit: 60) }.joined(separator: ", "))"
        }
        return Answer(
            result: [
                "enrolled": list(enrolled), "there": list(there), "skipped": list(skipped),
                "failed": .array(
                    failed.map { ["user": .string($0.user), "error": .string($0.failure.code)] }
                ),
            ],
            text: [
                line("enrolled", enrolled), line("not needed or not allowed", there),
                line("skipped", skipped),
                line("failed", failed.map(\.user)),
            ].compactMap(\.self),
            status: failed.isEmpty ? .success : .failure
        )
    }
}
