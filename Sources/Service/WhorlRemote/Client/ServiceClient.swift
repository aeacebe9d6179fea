// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import WhorlIPC
import WhorlService

/// Calls the methods of a service, each on a connection that no other call uses at the time.
///
/// What may be said twice goes over a connection whose last call was answered a moment ago, where one is left. The service
/// may have gone or been updated in between: it is then said once more. Whatever changes something, or asks the owner, gets
/// a connection of its own, so that it is never sent twice.
struct ServiceClient: Sendable {
    let transport: any ServiceTransport
    private let kept: KeptSockets

    init(transport: any ServiceTransport, keeping kept: KeptSockets = KeptSockets()) {
        self.transport = transport
        self.kept = kept
    }

    /// Calls a method, and waits in a task for its reply.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - parameters: The values that it takes.
    ///   - attachments: The descriptors that the parameters name.
    ///   - update: Called for each update before the reply. Without it none is asked for.
    /// - Returns: The reply.
    /// - Throws: the service's own error, or the one of a call that got no answer.
    func call<Parameters, Result>(
        _ method: ServiceMethod<Parameters, Result>,
        _ parameters: Parameters,
        _ attachments: Attachments = Attachments(),
        update: ((Result) -> Void)? = nil
    ) async throws(ServiceError) -> CallReply<Result> {
        /// Calls the method, and keeps the connection where it was answered.
        func call(
            on connection: ServiceConnection,
            knowsProcess: Bool
        ) async throws(ServiceCallError) -> CallReply<Result> {
            defer { if knowsProcess, let socket = connection.release() { kept.keep(socket) } }
            return try await connection.call(
                method.name,
                parameters,
                descriptors: attachments.descriptors,
                update: update
            )
        }
        do throws(ServiceCallError) {
            if method.isRepeatable, update == nil, let socket = kept.take() {
                do throws(ServiceCallError) {
                    return try await call(on: try connection(over: socket), knowsProcess: true)
                } catch .connection {
                    // The service has left since the last call.
                }
            }
            // A connection that does not know the process is of no use to the next call.
            let knowsProcess = method.isAboutProcess
            let connection = knowsProcess ? try await provenConnection() : try self.connection()
            return try await call(on: connection, knowsProcess: knowsProcess)
        } catch {
            throw ServiceError(error)
        }
    }

    /// Calls a method, and blocks the calling thread until the reply is there.
    func callBlocking<Parameters, Result>(
        _ method: ServiceMethod<Parameters, Result>,
        _ parameters: Parameters,
        _ attachments: Attachments = Attachments(),
        update: ((CallReply<Result>) throws(ServiceCallError) -> Void)? = nil
    ) throws(ServiceError) -> CallReply<Result> {
        /// Whether a part of the answer has come.
        var hasBegun = false
        let begin: (CallReply<Result>) throws(ServiceCallError) -> Void = { (part) throws(ServiceCallError) in
            hasBegun = true
            try update?(part)
        }
        let told = update == nil ? nil : begin
        do throws(ServiceCallError) {
            if method.isRepeatable, let socket = kept.take() {
                do throws(ServiceCallError) {
                    return try finish(BlockingCall(socket), method, parameters, attachments, told)
                } catch {
                    // Else the service has left since the last call.
                    guard case .connection = error, !hasBegun else { throw error }
                }
            }
            var call = BlockingCall(try socket())
            try call.proveProcess()
            return try finish(call, method, parameters, attachments, told)
        } catch {
            throw ServiceError(error)
        }
    }

    /// Calls a method, and keeps the connection where it was answered.
    private func finish<Parameters, Result>(
        _ call: consuming BlockingCall,
        _ method: ServiceMethod<Parameters, Result>,
        _ parameters: Parameters,
        _ attachments: Attachments,
        _ update: ((CallReply<Result>) throws(ServiceCallError) -> Void)?
    ) throws(ServiceCallError) -> CallReply<Result> {
        let reply = try call.call(
            method.name,
            parameters,
            descriptors: attachments.descriptors,
            returning: Result.self,
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

    /// Takes a connection over.
    func connection(over socket: Descriptor) throws(ServiceCallError) -> ServiceConnection {
        try connecting(ServiceConnection(socket))
    }

    private func socket() throws(ServiceCallError) -> Descriptor { try connecting(transport.connect()) }

    private func connecting<Value>(
        _ answer: @autoclosure () throws(SystemCallError) -> Value
    ) throws(ServiceCallError) -> Value {
        do { return try answer() } catch { throw .connection(error) }
    }
}

extension CallReply {
    /// The secret at a place beside the reply.
    func secret(at place: Int) throws(ServiceError) -> SecretBytes {
        // A descriptor that is no sealed memory file counts as one that is missing.
        guard descriptors.indices.contains(place), let secret = try? SecretDescriptor.read(descriptors[place])
        else { throw ServiceError(.malformed) }
        return secret
    }
}
