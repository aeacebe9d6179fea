// SPDX-License-Identifier: Apache-2.0

import WhorlIPC
import WhorlService

/// Calls the methods of a service, each on a connection that no other call uses at the same time.
///
/// A call that may be repeated uses a connection whose last call was answered a moment ago, if one is left. If the
/// service has exited or was updated in between, the call is sent again. A call that changes something, or asks the
/// owner, gets a new connection, so that it is never sent twice.
struct ServiceClient: Sendable {
    let transport: any ServiceTransport
    private let kept: IdleConnections
    let watch: AnswerWatch?

    init(transport: any ServiceTransport, keeping kept: IdleConnections = IdleConnections()) {
        self.transport = transport
        watch = transport.answerLimits.map { limits in
            AnswerWatch(limits) { () throws(SystemCallError) in try transport.connect() }
        }
        self.kept = kept
    }

    /// Calls a method, and waits in a task for its reply.
    ///
    /// - Parameters:
    ///   - operation: The method, with the values that it takes.
    ///   - update: Called for each update before the reply. Without it none is asked for.
    /// - Returns: The reply.
    /// - Throws: the service's own error, or the one of a call that got no answer.
    func call<Asked: ServiceOperation>(
        _ operation: Asked,
        update: ((Asked.Reply) -> Void)? = nil
    ) async throws(ServiceError) -> Asked.Reply {
        try await call(Asked.name, Asked.rules, operation, update: update)
    }

    /// Calls a method with the types of its parameters and its reply.
    fileprivate func call<Parameters: Codable & Sendable, Reply: Codable & Sendable>(
        _ name: String,
        _ rules: OperationRules,
        _ parameters: Parameters,
        update: ((Reply) -> Void)?
    ) async throws(ServiceError) -> Reply {
        /// Calls the method, and keeps the connection where it was answered.
        func call(
            on connection: ServiceConnection,
            knowsProcess: Bool
        ) async throws(ServiceCallError) -> Reply {
            defer { if knowsProcess, let socket = connection.release() { kept.keep(socket) } }
            let reply: CallReply<Reply> = try await connection.call(name, parameters, update: update)
            return reply.parameters
        }

        do throws(ServiceCallError) {
            if rules.effect == .repeatable, update == nil, let socket = kept.take() {
                do throws(ServiceCallError) {
                    return try await call(on: try connection(over: socket), knowsProcess: true)
                } catch .connection {
                    // The service has left since the last call.
                }
            }
            // A connection that does not know the process is useless for the next call.
            let knowsProcess = rules.isAboutProcess
            let connection = knowsProcess ? try await provenConnection() : try self.connection()
            return try await call(on: connection, knowsProcess: knowsProcess)
        } catch {
            throw ServiceError(error)
        }
    }

    /// Calls a method, and blocks the calling thread until the reply is there.
    ///
    /// - Parameters:
    ///   - operation: The method, with its parameters.
    ///   - files: The memory files sent along with the call that are not secret.
    ///   - update: Called for each update before the reply. Without it, no updates are requested.
    /// - Returns: The reply, with its descriptors.
    /// - Throws: as ``call(_:update:)``.
    func callBlocking<Asked: ServiceOperation>(
        _ operation: Asked,
        _ files: [Descriptor] = [],
        update: ((CallReply<Asked.Reply>) throws(ServiceCallError) -> Void)? = nil
    ) throws(ServiceError) -> CallReply<Asked.Reply> {
        /// Whether a part of the answer has come.
        var hasBegun = false
        let begin: (CallReply<Asked.Reply>) throws(ServiceCallError) -> Void = {
            (part) throws(ServiceCallError) in
            hasBegun = true
            try update?(part)
        }
        let told = update == nil ? nil : begin
        do throws(ServiceCallError) {
            if Asked.rules.effect == .repeatable, let socket = kept.take() {
                do throws(ServiceCallError) {
                    return try finish(BlockingCall(socket), operation, files, told)
                } catch {
                    // Else the service has left since the last call.
                    guard case .connection = error, !hasBegun else { throw error }
                }
            }
            // A blocking call has a time limit of its own; it does not wait for what is known.
            if let silence = watch?.recentSilence { throw .connection(silence) }
            var call = BlockingCall(try socket())
            try call.proveProcess()
            return try finish(call, operation, files, told)
        } catch {
            throw ServiceError(error)
        }
    }

    /// Calls a method, and keeps the connection where it was answered.
    private func finish<Asked: ServiceOperation>(
        _ call: consuming BlockingCall,
        _ operation: Asked,
        _ files: [Descriptor],
        _ update: ((CallReply<Asked.Reply>) throws(ServiceCallError) -> Void)?
    ) throws(ServiceCallError) -> CallReply<Asked.Reply> {
        let reply = try call.call(
            Asked.name,
            operation,
            descriptors: files,
            returning: Asked.Reply.self,
            update: update
        )
        if let socket = call.release() { kept.keep(socket) }
        return reply
    }

    /// Opens a connection.
    func connection() throws(ServiceCallError) -> ServiceConnection {
        try connection(over: try socket())
    }

    /// Opens a connection that knows this process.
    func provenConnection() async throws(ServiceCallError) -> ServiceConnection {
        let connection = try connection()
        try await connection.proveProcess()
        return connection
    }

    /// Takes over a connection.
    func connection(over socket: Descriptor) throws(ServiceCallError) -> ServiceConnection {
        try connecting(ServiceConnection(socket, watch: watch))
    }

    private func socket() throws(ServiceCallError) -> Descriptor { try connecting(transport.connect()) }

    private func connecting<Value>(
        _ answer: @autoclosure () throws(SystemCallError) -> Value
    ) throws(ServiceCallError) -> Value {
        do { return try answer() } catch { throw .connection(error) }
    }
}

extension ServiceClient {
    /// Calls a method that may prompt the owner.
    func callPrompting<Asked: ServiceOperation>(
        _ operation: Asked,
        _ prompter: Prompter
    ) async throws(ServiceError) -> Asked.Reply {
        let prompts = RemotePrompts<Asked.Reply>(prompter, self)
        let call = Prompting(call: operation, presenter: await PresenterAbilities(of: prompter.presenter))
        let answer = await Result<Prompted<Asked.Reply>, ServiceError>(
            of: try await self.call(Asked.name, Asked.rules, call, update: { prompts.take($0) })
        )
        await prompts.finish()
        guard let value = try answer.get().value else { throw ServiceError(.malformed) }
        return value
    }
}
