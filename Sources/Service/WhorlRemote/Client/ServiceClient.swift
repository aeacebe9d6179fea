// SPDX-License-Identifier: Apache-2.0

import WhorlIPC
import WhorlService

/// Calls a service's methods, each over a connection that no other call uses at the same time.
///
/// A call that may be repeated reuses an idle connection whose last call was answered recently, if there is one. If the
/// service has exited or was updated in the meantime, the call is sent again. A call that changes something or prompts
/// the owner uses a new connection, so that it is never sent twice.
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

    /// Calls a method and waits for its reply without blocking a thread.
    ///
    /// - Parameters:
    ///   - operation: The method, with its parameters.
    ///   - update: Called for each update before the reply; `nil` to request no updates.
    /// - Returns: The reply.
    /// - Throws: The service's error, or the error for a call that was not answered.
    func call<Asked: ServiceOperation>(
        _ operation: Asked,
        update: ((Asked.Reply) -> Void)? = nil
    ) async throws(ServiceError) -> Asked.Reply {
        try await call(Asked.name, Asked.rules, operation, update: update)
    }

    /// Calls the operation's method, with the types of its parameters and its reply.
    fileprivate func call<Parameters: Codable & Sendable, Reply: Codable & Sendable>(
        _ name: String,
        _ rules: OperationRules,
        _ parameters: Parameters,
        update: ((Reply) -> Void)?
    ) async throws(ServiceError) -> Reply {
        /// Calls the method, and makes the connection available for reuse if the call was answered.
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

    /// Calls a method, and blocks the calling thread until the reply arrives.
    ///
    /// - Parameters:
    ///   - operation: The method, with its parameters.
    ///   - files: The memory files to send along with the call, which are not secret.
    ///   - update: Called for each update before the reply; `nil` to request no updates.
    /// - Returns: The reply, with the descriptors sent along with it.
    /// - Throws: The errors of ``call(_:update:)``.
    func callBlocking<Asked: ServiceOperation>(
        _ operation: Asked,
        _ files: [Descriptor] = [],
        update: ((CallReply<Asked.Reply>) throws(ServiceCallError) -> Void)? = nil
    ) throws(ServiceError) -> CallReply<Asked.Reply> {
        /// Whether a part of the answer has arrived.
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

    /// Calls a method, and makes the connection available for reuse if the call was answered.
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

    /// Opens a connection over which this process has proven its identity.
    func provenConnection() async throws(ServiceCallError) -> ServiceConnection {
        let connection = try connection()
        try await connection.proveProcess()
        return connection
    }

    /// Creates a connection from an open socket.
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
