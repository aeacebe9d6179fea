// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlFingerprint
import Foundation
import WhorlStateStore
import Testing
import WhorlService
import WhorlSupport

// Docs/Security.md: S23
@Suite struct `The lock of a profile` {
    private let fixture: Fixture
    private let path: String

    init() throws {
        fixture = try Fixture()
        path = fixture.directory.path + "/" + EvaluationLock.fileName(profile: "owner")
    }

    /// Whether somebody holds it for longer than a moment.
    private func isRefused() async -> Bool {
        do throws(ServiceError) {
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
            first.release()
        }
        _ = try await EvaluationLock.acquire(path, within: .zero)
    }

    @Test func `is waited for`() async throws {
        let lock = try await EvaluationLock.acquire(path, within: .zero)
        let second = Task { [path] in
            _ = try await EvaluationLock.acquire(path, within: .seconds(600))
            return true
        }
        try await Task.sleep(for: .milliseconds(5))
        lock.release()
        #expect(try await second.value)
    }

    @Test func `is not waited for any more when the task is cancelled`() async throws {
        let lock = try await EvaluationLock.acquire(path, within: .zero)
        let second = Task { [path] () async -> ServiceError.Code? in
            do throws(ServiceError) {
                _ = try await EvaluationLock.acquire(path, within: .seconds(600))
                return nil
            } catch { return error.code }
        }
        second.cancel()
        #expect(await second.value == .appCancel)
        lock.release()
    }

    @Test func `whose file was removed is taken anew, by one at a time`() async throws {
        let lock = try await EvaluationLock.acquire(path, within: .zero)
        try FileManager.default.removeItem(atPath: path)
        let second = try await EvaluationLock.acquire(path, within: .zero)
        #expect(await isRefused())
        lock.release()
        second.release()
    }

    /// What can stand in the place of the file, and what the error says of it.
    @Test(arguments: [
        ("link", "is a link"), ("directory", "is not a plain file"), ("pipe", "is not a plain file"),
        ("open", "is accessible to other users"),
    ])
    func `is a plain file of the owner's, else the error and doctor say what it is and what to do`(
        _ kind: String,
        _ words: String
    ) async throws {
        try await fixture.enroll(.rightIndex)
        let engine = fixture.engine()
        #expect(await engine.turnsFault() == nil)
        switch kind {
        case "link": #expect(symlink(path + ".elsewhere", path) == 0)
        case "directory": #expect(mkdir(path, 0o700) == 0)
        case "pipe": #expect(mkfifo(path, 0o600) == 0)
        default:
            close(open(path, O_CREAT | O_WRONLY, 0o600))
            #expect(chmod(path, 0o666) == 0)
        }
        let error = try #require(await engine.turnsFault())
        #expect(error.code == .storeTooOpen)
        #expect(error.message.contains(path) && error.message.contains(words))
        #expect(error.recovery.contains(path))
        #expect(await fixture.evaluate(engine: engine) == .failure(error))
        #expect(!FileManager.default.fileExists(atPath: path + ".elsewhere"))
        #expect(fixture.reader.counts.opens == 0)
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
