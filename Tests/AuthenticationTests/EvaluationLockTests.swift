// SPDX-License-Identifier: Apache-2.0

import Authentication
import Foundation
import StateStore
import Testing

@Suite struct `The lock of a profile` {
    private let fixture: Fixture
    private let path: String

    init() throws {
        fixture = try Fixture()
        path = fixture.directory.path + "/" + EvaluationLock.fileName(profile: "owner")
    }

    /// Whether somebody holds it for longer than a moment.
    private func isRefused() async -> Bool {
        do throws(AuthenticationError) {
            _ = try await EvaluationLock.acquire(path, within: .milliseconds(20))
            return false
        } catch {
            return error.code == .readerInUse
        }
    }

    @Test func `is held by one at a time, and free again afterwards`() async throws {
        do {
            let first = try await EvaluationLock.acquire(path, within: .zero)
            #expect(await isRefused())
            _ = consume first
        }
        _ = try await EvaluationLock.acquire(path, within: .zero)
    }

    @Test func `is waited for`() async throws {
        let lock = try await EvaluationLock.acquire(path, within: .zero)
        let second = Task { [path] in
            _ = try await EvaluationLock.acquire(path, within: .seconds(20))
            return true
        }
        try await Task.sleep(for: .milliseconds(5))
        _ = consume lock
        #expect(try await second.value)
    }

    @Test func `is not waited for any more when the task is cancelled`() async throws {
        let lock = try await EvaluationLock.acquire(path, within: .zero)
        let second = Task { [path] () async -> AuthenticationError.Code? in
            do throws(AuthenticationError) {
                _ = try await EvaluationLock.acquire(path, within: .seconds(600))
                return nil
            } catch { return error.code }
        }
        second.cancel()
        #expect(await second.value == .appCancel)
        _ = consume lock
    }

    @Test func `whose file was removed is taken anew, by one at a time`() async throws {
        let lock = try await EvaluationLock.acquire(path, within: .zero)
        try FileManager.default.removeItem(atPath: path)
        let second = try await EvaluationLock.acquire(path, within: .zero)
        #expect(await isRefused())
        _ = consume lock
        _ = consume second
    }

    @Test func `does not follow a link`() async throws {
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path + ".elsewhere")
        do throws(AuthenticationError) {
            _ = try await EvaluationLock.acquire(path, within: .zero)
            Issue.record("it followed the link")
        } catch {
            #expect(error.code == .storeFailed)
        }
    }
}

@Suite struct `The file of a profile's lock` {
    @Test(arguments: [
        ("owner", "evaluation-owner.lock"), ("../x", "evaluation-..%2fx.lock"),
        ("a b", "evaluation-a%20b.lock"),
        ("", "evaluation-.lock"), ("ä\n", "evaluation-%c3%a4%0a.lock"),
    ])
    func `has a file name that is one`(_ profile: String, _ name: String) {
        #expect(EvaluationLock.fileName(profile: profile) == name)
    }

    @Test func `keeps long names apart and short enough`() {
        let long = String(repeating: "ü", count: 500)
        let first = EvaluationLock.fileName(profile: long + "1")
        let second = EvaluationLock.fileName(profile: long + "2")
        #expect(first != second)
        #expect(first.utf8.count < 200)
    }
}
