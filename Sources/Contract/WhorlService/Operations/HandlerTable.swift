// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials

/// A table of handlers that perform operations in this process.
package struct HandlerTable: ServiceAsker {
    /// The handler of one operation.
    ///
    /// A bare function would also work, but its type would include that of the reply. The runtime would then have to
    /// look up a dozen conformances for each operation in each process.
    private final class Handler<Asked: ServiceOperation>: Sendable {
        let answer: @Sendable (Asked, Prompter?) async throws(ServiceError) -> Asked.Reply

        init(_ answer: @escaping @Sendable (Asked, Prompter?) async throws(ServiceError) -> Asked.Reply) {
            self.answer = answer
        }
    }

    private var handlers: [ObjectIdentifier: any AnyObject & Sendable] = [:]
    private let decoding: @Sendable (Data) throws(ServiceError) -> SealedItem

    /// Creates an empty table.
    ///
    /// - Parameter decode: Decodes an item that a program stored.
    package init(decoding decode: @escaping @Sendable (Data) throws(ServiceError) -> SealedItem) {
        decoding = decode
    }

    /// Returns whether the table has a handler for the operation.
    package func answers(_ operation: any ServiceOperation.Type) -> Bool {
        handlers[ObjectIdentifier(operation)] != nil
    }

    package func sealedItem(encoded: Data) throws(ServiceError) -> SealedItem { try decoding(encoded) }

    package func answer<Asked: ServiceOperation>(
        _ operation: Asked,
        _ prompter: Prompter?
    ) async throws(ServiceError) -> Asked.Reply {
        guard let handler = handlers[ObjectIdentifier(Asked.self)] as? Handler<Asked> else {
            throw ServiceError(.serviceUnavailable, cause: "no handler for \(Asked.name)")
        }
        return try await handler.answer(operation, prompter)
    }

    private mutating func add<Asked: ServiceOperation>(
        _ answer: @escaping @Sendable (Asked, Prompter?) async throws(ServiceError) -> Asked.Reply
    ) { handlers[ObjectIdentifier(Asked.self)] = Handler(answer) }

    /// Adds the handler for an operation.
    package mutating func on<Asked: ServiceOperation>(
        _ body: @escaping @Sendable (Asked) async throws(ServiceError) -> Asked.Reply
    ) { add { (asked: Asked, _) async throws(ServiceError) in try await body(asked) } }

    package mutating func on<Asked: ServiceOperation, Value>(
        _ body: @escaping @Sendable (Asked) async throws(ServiceError) -> Value
    ) where Asked.Reply == Valued<Value> {
        add { (asked: Asked, _) async throws(ServiceError) in Valued(try await body(asked)) }
    }

    package mutating func on<Asked: ServiceOperation, Value>(
        _ body: @escaping @Sendable (Asked) async throws(ServiceError) -> Value?
    ) where Asked.Reply == Optionally<Value> {
        add { (asked: Asked, _) async throws(ServiceError) in Optionally(try await body(asked)) }
    }

    package mutating func on<Asked: ServiceOperation>(
        _ body: @escaping @Sendable (Asked) async throws(ServiceError) -> Void
    ) where Asked.Reply == NoValue {
        add { (asked: Asked, _) async throws(ServiceError) in
            try await body(asked)
            return NoValue()
        }
    }

    /// Adds the handler for an operation that may prompt the owner.
    package mutating func on<Asked: OwnerOperation>(
        _ body: @escaping @Sendable (Asked, Prompter) async throws(ServiceError) -> Asked.Reply
    ) {
        add { (asked: Asked, prompter) async throws(ServiceError) in
            guard let prompter else { throw ServiceError(.notInteractive) }
            return try await body(asked, prompter)
        }
    }

    package mutating func on<Asked: OwnerOperation>(
        _ body: @escaping @Sendable (Asked, Prompter) async throws(ServiceError) -> Void
    ) where Asked.Reply == NoValue {
        on { (asked: Asked, prompter: Prompter) async throws(ServiceError) in
            try await body(asked, prompter)
            return NoValue()
        }
    }
}
