// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import WhorlFingerprint
import WhorlService
import WhorlSystem

@testable import WhorlIPC
@testable import WhorlRemote

extension FuzzTarget {
    static let wireTargets: [FuzzTarget] = [
        FuzzTarget(name: "service-calls", longestInput: 2048, check: call),
        FuzzTarget(name: "service-replies", longestInput: 2048, check: reply),
    ]

    /// A service without a state: all that a call brings is read, and then nothing can be opened.
    private static let router: Router = {
        var configuration = SystemConfiguration(environment: [:])
        // A place in which nothing can be made.
        configuration.stateDirectory = "/proc/nowhere"
        configuration.profile = "ada"
        configuration.reader = "mock:"
        configuration.tpm = "none"
        let root = InProcessRoot(configuration)
        let host = ServiceHost(
            services: { _ throws(ServiceRefusal) in root.services },
            keychain: { _, groups throws(ServiceRefusal) in root.keychain(in: groups) }
        )
        return host.router(version: "fuzz")
    }()

    private static let user = PeerUser(uid: 1000, gid: 1000, pid: 1)

    /// The bytes beside each message: a small value, as the memory file of a secret or of a keychain's rows.
    private static let beside = [UInt8](1...64)

    /// A message that the checks let through, as the service's own connection does it: the answer is one message, and an
    /// error where it has no state to succeed with.
    private static func call(_ input: [UInt8]) throws(BrokenPromise) {
        guard (try? JSONCheck.object(input)) != nil, let head = try? Wire.decode(CallHead.self, input) else {
            return
        }
        guard let file = try? SecretDescriptor.make(beside) else {
            throw BrokenPromise("there is no memory file")
        }
        let call = ServiceCall(
            client: ServiceClientIdentity(user: user, process: nil, label: .none),
            wantsMore: head.more == true && head.oneway != true,
            attached: CallDescriptors([file]),
            contents: CallContents(input),
            send: { _, _ in }
        )
        guard let handler = try? router.handler(of: head.method) else { return }
        let answer = waiting {
            // What waits for its caller's end, such as an agent, ends at once.
            withUnsafeCurrentTask { $0?.cancel() }
            return await handler(call)
        }
        let bytes: [UInt8] =
            switch answer {
            case .success(let answer): answer.bytes
            case .failure(let refusal): refusal.message
            }
        try promise((try? JSONCheck.object(bytes)) != nil, "the answer is no message")
        try promise(bytes.count <= FrameReader.largest, "the answer is too large")
        if head.method.hasPrefix("io.whorl.Items."), case .success = answer {
            try promise(harmless.contains(head.method), "\(head.method) succeeded without a chip")
        }
    }

    /// The calls about items that need neither a state nor a chip.
    private static let harmless: Set<String> = [
        "io.whorl.Items.List", "io.whorl.Items.Standing", "io.whorl.Items.Decode",
    ]

    private static func waiting<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Value {
        let done = DispatchSemaphore(value: 0)
        let place = Place<Value>()
        Task {
            place.value = await body()
            done.signal()
        }
        done.wait()
        guard let value = place.value else { fatalError("the task has ended without a value") }
        return value
    }

    /// Holds a value between a task and the thread that waits for it.
    private final class Place<Value: Sendable>: @unchecked Sendable {
        // Sendable: it is written before the semaphore's signal, and read after its wait.
        var value: Value?
    }

    /// The name of a method, a line's end, and a message that is its reply: it is refused, or has values that are written
    /// and read again without a change.
    private static func reply(_ input: [UInt8]) throws(BrokenPromise) {
        let parts = input.split(separator: UInt8(ascii: "\n"), maxSplits: 1)
        guard parts.count == 2, let read = replies[String(decoding: parts[0], as: UTF8.self)] else { return }
        try read([UInt8](parts[1]))
    }

    private typealias Reader = @Sendable ([UInt8]) throws(BrokenPromise) -> Void

    private static func reader<Asked: ServiceOperation>(_ operation: Asked.Type) -> (String, Reader) {
        let isPrompting = operation is any OwnerOperation.Type
        return (
            Asked.name,
            { message throws(BrokenPromise) in
                if isPrompting {
                    try take(message, Prompted<Asked.Reply>.self)
                } else {
                    try take(message, Asked.Reply.self)
                }
            }
        )
    }

    private static func take<Reply: Codable & Sendable>(
        _ message: [UInt8],
        _: Reply.Type
    ) throws(BrokenPromise) {
        let value: Reply
        do throws(ServiceCallError) {
            switch try ReplyReader.read(Frame(bytes: message), as: Reply.self) {
            case .reply(let reply), .update(let reply): value = reply
            }
        } catch {
            // Its words are read by people and logs.
            let failure = ServiceError(error)
            _ = "\(failure) \(ReaderError(failure))"
            return
        }
        if let rows = (value as? Valued<[WireRow]>)?.value ?? (value as? KeychainInterface.Outcome)?.rows {
            for row in rows { try take(row) }
        }
        // A text that a number's decoder refuses is never written; a number of another size may be.
        var files: [Descriptor] = []
        guard let written = try? Wire.encode(value, beside: &files) else { return }
        try promise((try? JSONCheck.object(written)) != nil, "what was read is not written as a message")
        guard let again = try? Wire.decode(Reply.self, written, beside: CallDescriptors(files)) else {
            throw BrokenPromise("what was read and written cannot be read")
        }
        var more: [Descriptor] = []
        try promise((try? Wire.encode(again, beside: &more)) == written, "values change on their way")
    }

    /// A row's value lies within its memory file.
    private static func take(_ row: WireRow) throws(BrokenPromise) {
        let file = Data(beside)
        switch row.found(file)?.contents {
        case .value(let value): try promise(file.range(of: value) != nil || value.isEmpty, "not of the file")
        case .sealed(let item):
            try promise(file.range(of: item.encoded) != nil || item.encoded.isEmpty, "not of the file")
        case .encrypted, .damaged, nil: break
        }
        _ = row.new(file)
    }

    private static let replies: [String: Reader] = Dictionary(
        uniqueKeysWithValues: Operations.all.map { reader($0) } + [
            reader(BeginSession.self),
            reader(KeychainInterface.Find.self),
            reader(KeychainInterface.Add.self),
            reader(KeychainInterface.Update.self),
            reader(KeychainInterface.Delete.self),
            reader(ReaderInterface.List.self),
            reader(ReaderInterface.Chosen.self),
            reader(ReaderInterface.Prints.self),
            reader(ReaderInterface.LockTrouble.self),
            reader(AgentInterface.Register.self),
            reader(LoginInterface.Verify.self),
        ]
    )
}
