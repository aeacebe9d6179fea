// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import WhorlIPC
import WhorlService

/// Calls the methods of a service, each on a connection of its own.
///
/// A connection costs some 20 µs, and none that is kept can be stale after the service has left or was updated.
struct ServiceClient: Sendable {
    let transport: any ServiceTransport

    /// Calls a method, and waits in a task for its reply.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - parameters: The values that it takes.
    ///   - attachments: The descriptors that the parameters name.
    ///   - failing: The type of the method's error.
    ///   - update: Called for each update before the reply. Without it none is asked for.
    /// - Returns: The reply.
    /// - Throws: the service's own error, or the one of a call that got no answer.
    func call<Parameters, Result, Failure: RemoteFailure>(
        _ method: ServiceMethod<Parameters, Result>,
        _ parameters: Parameters,
        _ attachments: Attachments = Attachments(),
        failing: Failure.Type,
        update: ((Result) -> Void)? = nil
    ) async throws(Failure) -> CallReply<Result> {
        do throws(ServiceCallError) {
            let connection = try self.connection()
            if transport.provesProcess { try await connection.proveProcess() }
            return try await connection.call(
                method.name,
                parameters,
                descriptors: attachments.descriptors,
                update: update
            )
        } catch {
            throw Failure(error)
        }
    }

    /// Calls a method, and blocks the calling thread until the reply is there.
    func callBlocking<Parameters, Result, Failure: RemoteFailure>(
        _ method: ServiceMethod<Parameters, Result>,
        _ parameters: Parameters,
        _ attachments: Attachments = Attachments(),
        failing: Failure.Type,
        update: ((CallReply<Result>) throws(ServiceCallError) -> Void)? = nil
    ) throws(Failure) -> CallReply<Result> {
        do throws(ServiceCallError) {
            var call = BlockingCall(try socket())
            if transport.provesProcess { try call.proveProcess() }
            return try call.call(
                method.name,
                parameters,
                descriptors: attachments.descriptors,
                update: update
            )
        } catch {
            throw Failure(error)
        }
    }

    /// Opens a connection.
    func connection() throws(ServiceCallError) -> ServiceConnection {
        let socket = try socket()
        do throws(SystemCallError) {
            return try ServiceConnection(socket)
        } catch {
            throw .connection(error)
        }
    }

    private func socket() throws(ServiceCallError) -> Descriptor {
        do { return try transport.connect() } catch { throw .connection(error) }
    }
}

/// Puts what lies beside a call together.
///
/// - Throws: the failure of a call that could not be sent, for want of memory.
func attached<Value, Failure: RemoteFailure>(
    failing: Failure.Type,
    _ body: (inout Attachments) throws(SecretDescriptor.Fault) -> Value
) throws(Failure) -> (Value, Attachments) {
    var attachments = Attachments()
    do {
        let value = try body(&attachments)
        return (value, attachments)
    } catch {
        throw Failure(unsent: error)
    }
}

extension RemoteFailure {
    /// Makes the error of a call that was not sent, since its secret found no place.
    fileprivate init(unsent fault: SecretDescriptor.Fault) {
        if case .system(let error) = fault {
            self.init(unanswered: .connection(error))
        } else {
            self.init(unanswered: .malformed)
        }
    }
}

extension CallReply {
    /// The secret at a place beside the reply.
    func secret<Failure: RemoteFailure>(at place: Int, failing: Failure.Type) throws(Failure) -> SecretBytes {
        guard descriptors.indices.contains(place) else { throw Failure(unanswered: .malformed) }
        do {
            return try SecretDescriptor.read(descriptors[place])
        } catch {
            throw Failure(unanswered: .malformed)
        }
    }
}
