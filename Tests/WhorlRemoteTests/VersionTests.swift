// SPDX-License-Identifier: Apache-2.0

import FacesOverSocket
import Foundation
import WhorlSecretMemory
import Testing
import WhorlFingerprint
import WhorlService
import WhorlSystem

@testable import WhorlIPC
@testable import WhorlRemote

/// A program and a service of different versions.
@Suite("Versions apart", .timeLimit(.minutes(10)))
struct VersionTests {
    /// The calls of version 0.1 and the replies to them, each pair on a line: what later services still answer.
    static let transcript = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "System/transcript-0.1.jsonl")

    /// Adds a member that no reader knows to each object of a form of its own; a value of several kinds (one member)
    /// stays as it is.
    private static func fromTheFuture(_ value: Any) -> Any {
        if let list = value as? [Any] { return list.map(fromTheFuture) }
        guard let object = value as? [String: Any] else { return value }
        var changed = object.mapValues(fromTheFuture)
        if object.count > 1 || object["parameters"] != nil { changed["fromTheFuture"] = [["a": 1]] }
        return changed
    }

    private static let addingMembers: TapTransport.Edit = { message in
        // What is no JSON passes as it is.
        guard let object = try? JSONSerialization.jsonObject(with: message),
            let edited = try? JSONSerialization.data(withJSONObject: fromTheFuture(object))
        else { return message }
        return edited
    }

    @Test func `members that one side does not know yet are ignored, also in updates`() async throws {
        let machine = try await RemoteMachine(reader: "mock:then=match,touch right-index*8")
        let tap = TapTransport(machine.transport, edit: Self.addingMembers)
        let application = ApplicationID(rawValue: "org.example.app")
        let services = Services.remote(profile: "ada", application: application, over: tap)
        let consent = ConsentRequest(application: application)
        let finger = try await services.ask(
            EnrollFinger(NewFinger(.rightIndex, label: "mine"), consent),
            presenter: ScriptedPresenter(),
            observer: { _ in }
        )
        #expect(try await services.ask(ListFingers()).map(\.id) == [finger.id])
        let preflight = await services.preflight(.biometrics, for: application)
        #expect(preflight.canEvaluate)
        let evaluation = try await services.evaluate(
            EvaluationRequest("unlock", session: OwnerSession()),
            presenter: ScriptedPresenter()
        )
        #expect(evaluation.finger == .rightIndex)
        let id = ItemID(.secret, try ItemName("s"), of: "ada")
        _ = try await services.ask(
            AddItem(
                id,
                MakeItem(.secret(secret("swordfish")), access: .biometryAny, applicationPassword: nil)
            )
        )
        let released = try await services.secret(
            in: .named(id),
            ReleaseRequest(EvaluationRequest("open")),
            presenter: ScriptedPresenter()
        )
        let isWhole = SecretBytes.areEqual(released.product.bytes, secret("swordfish").bytes)
        #expect(isWhole)
        #expect(try await services.ask(ListItems()).map(\.id) == [id])
        #expect(try await services.readers.readers().count == 1)
        #expect(try await !services.ask(ReadLog(limit: 5)).isEmpty)
        #expect(tap.recorded.range(of: Data("io.whorl.Items.Use".utf8)) != nil)
    }

    struct Pair: Decodable {
        let call: JSONTree
        let reply: JSONTree
    }

    @Test func `every call of version 0.1 still has an answer, with every member that it had`() async throws {
        let machine = try await RemoteMachine(enrolled: .leftThumb)
        let lines = try String(contentsOf: Self.transcript, encoding: .utf8).split(separator: "\n")
        #expect(lines.count > 20)
        let described = try InterfaceMethod.all()
        for line in lines {
            let pair = try JSONDecoder().decode(Pair.self, from: Data(line.utf8))
            guard case .object(let call) = pair.call, case .text(let method)? = call["method"],
                case .object(let reply) = pair.reply
            else {
                Issue.record("not a pair: \(line)")
                continue
            }
            let connection = try ServiceConnection(machine.transport.connect())
            let parameters = call["parameters"] ?? .object([:])
            let check: (JSONTree) -> Void = { #expect(described[method]?.faults(of: $0) ?? [] == []) }
            do throws(ServiceCallError) {
                let answer: CallReply<JSONTree> = try await connection.call(
                    method,
                    parameters,
                    update: call["more"] == .flag(true) ? check : nil
                )
                check(answer.parameters)
                let old = reply["parameters"] ?? .object([:])
                #expect(Self.missing(of: old, in: answer.parameters) == [], "\(method)")
                #expect(reply["error"] == nil, "\(method)")
            } catch {
                guard case .refused(let refusal) = error else {
                    Issue.record("\(method): \(error)")
                    continue
                }
                #expect(reply["error"] == .text(refusal.name), "\(method)")
            }
        }
    }

    /// The members of an old reply that a new one lacks, or has in another form.
    private static func missing(
        of old: JSONTree,
        in new: JSONTree,
        _ path: String = ""
    ) -> [String] {
        switch (old, new) {
        case (.null, _), (.text, .text), (.flag, .flag): []
        case (.whole, .whole), (.whole, .number), (.number, .number), (.number, .whole): []
        case (.list(let old), .list(let new)):
            // Elements of one list may lack different members: the one that has most of them counts.
            if let old = old.first {
                new.map { missing(of: old, in: $0, path + "[]") }.min { $0.count < $1.count } ?? []
            } else {
                []
            }
        case (.object(let old), .object(let new)):
            old.sorted { $0.key < $1.key }.flatMap { name, value in
                missing(of: value, in: new[name] ?? .null, "\(path).\(name)")
            }
        default: [path]
        }
    }

    @Test func `a method that an older service does not have is an error that says so`() async throws {
        let tap = TapTransport(try await RemoteMachine().transport) { message in
            let text = String(decoding: message, as: UTF8.self)
            let newer = text.replacing("io.whorl.Owner.IsOptedOut", with: "io.whorl.Owner.IsNewer")
            return Data(newer.utf8)
        }
        let application = ApplicationID(rawValue: "org.example.app")
        let services = Services.remote(profile: "ada", application: application, over: tap)
        let error = await #expect(throws: ServiceError.self) {
            _ = try await services.ask(IsOptedOut(application))
        }
        #expect(error?.message.contains("is older than this program") == true)
        #expect(error?.recovery.contains("systemctl restart whorld") == true)
    }
}
