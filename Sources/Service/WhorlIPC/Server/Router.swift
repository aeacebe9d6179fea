// SPDX-License-Identifier: Apache-2.0

/// One call, as its handler sees it.
package struct ServiceCall: Sendable {
    /// The user and process that made the call.
    package let client: ServiceClientIdentity
    /// Whether the caller accepts updates before the reply (Varlink: "more").
    package let wantsMore: Bool
    let attached: CallDescriptors
    let contents: CallContents
    let send: @Sendable ([UInt8], [Descriptor]) -> Void
    /// Waits until the caller has read all data that was sent.
    var reading: @Sendable () async -> Void = {}
    /// The turns for which the call waits; if `nil`, the call runs immediately.
    var turns: UserTurns?

    /// The descriptors that were sent with the call, that the method accepts, and that have not been read yet.
    package var descriptors: [Descriptor] { attached.all }

    /// Takes a process that the caller passed as a descriptor with the call.
    ///
    /// - Parameter place: The position of the descriptor.
    /// - Returns: The process; `nil` if there is no such descriptor, or it does not refer to a running process.
    package func process(at place: Int) -> PeerProcess? {
        attached.take(place).flatMap(PeerProcess.init(passed:))
    }

    /// Waits until the caller has read all data that was sent or has closed the connection, so that long answers need
    /// little memory.
    package func untilRead() async { await reading() }

    /// Sends an update before the reply; does nothing if the caller does not accept updates.
    ///
    /// - Parameters:
    ///   - parameters: The update's values.
    ///   - descriptors: At most 8 descriptors; the values refer to them by index.
    package func update(_ parameters: some Encodable & Sendable, descriptors: [Descriptor] = []) {
        guard wantsMore else { return }
        // If one of our values cannot be encoded, it is a bug in the service, which its tests find.
        var files = descriptors
        let message = ReplyMessage(parameters: parameters, continues: true)
        guard let bytes = try? Wire.encode(message, beside: &files) else { return }
        send(bytes, files)
    }
}

/// The user and process at the other end of a connection.
package struct ServiceClientIdentity: Sendable {
    /// The user, who determines the caller's rights.
    package let user: PeerUser
    /// The process, for prompts and logs; `nil` if it has ended or did not prove its identity.
    package let process: PeerProcess?
    /// The security module's label for the peer.
    package let label: PeerLabel
    /// The facts that were determined about the process, which are stored as long as the connection exists.
    package let findings: ConnectionFindings

    package init(
        user: PeerUser,
        process: PeerProcess?,
        label: PeerLabel,
        findings: ConnectionFindings = ConnectionFindings()
    ) {
        self.user = user
        self.process = process
        self.label = label
        self.findings = findings
    }
}

/// A handler's answer: values, and the descriptors to send with them, such as secrets.
package struct ServiceReply<Parameters: Encodable & Sendable>: Sendable {
    package let parameters: Parameters
    package let descriptors: [Descriptor]

    package init(_ parameters: Parameters, descriptors: [Descriptor] = []) {
        self.parameters = parameters
        self.descriptors = descriptors
    }
}

/// The methods of a service, by their qualified names.
package struct Router: Sendable {
    /// A complete reply, as it is sent.
    struct Answer: Sendable {
        var bytes: [UInt8]
        var descriptors: [Descriptor] = []
    }

    typealias Handler = @Sendable (ServiceCall) async -> Result<Answer, ServiceRefusal>

    /// Checks that the caller may call a method; throws the refusal if not.
    package typealias Admission = @Sendable (ServiceCall) async throws(ServiceRefusal) -> Void

    /// Admits every caller.
    package static let everyCaller: Admission = { _ throws(ServiceRefusal) in }

    private var handlers: [String: Handler] = [:]
    /// The names of the methods that may prompt the user.
    private var asking: Set<String> = []
    /// The description of each interface, which is the text of its `.varlink` file.
    private var interfaces: [String: String] = [:]

    /// Creates a router without methods.
    ///
    /// - Parameter about: The information that `org.varlink.service.GetInfo` returns.
    package init(_ about: ServiceInfo) {
        self.about = about
        addIntrospection()
    }

    private let about: ServiceInfo

    /// Adds an interface's description.
    ///
    /// Its methods are added separately.
    package mutating func describe(_ interface: String, _ text: String) {
        interfaces[interface] = text
        addIntrospection()
    }

    /// Adds a method.
    ///
    /// - Parameters:
    ///   - method: The method's qualified name, such as `io.whorl.Owner.Evaluate`.
    ///   - admission: The rule for the method's callers, which is checked before the parameters are read.
    ///   - asksOwner: Whether the call may prompt the user.
    ///   - most: The maximum number of descriptors that the method accepts with a call; further ones are closed before
    ///     it runs.
    ///   - size: The maximum size of each memory file, in bytes; larger files are closed as well.
    ///   - body: Called with the parameters, which have the declared types, and the call.
    package mutating func on<Parameters: Decodable & Sendable, Product: Encodable & Sendable>(
        _ method: String,
        admitting admission: @escaping Admission,
        asksOwner: Bool = false,
        taking most: Int = 0,
        ofAtMost size: Int = .max,
        _ body:
            @escaping @Sendable (Parameters, ServiceCall) async throws(ServiceRefusal) -> ServiceReply<
                Product
            >
    ) {
        if asksOwner { asking.insert(method) }
        handlers[method] = { call in
            call.attached.close(behind: most, largerThan: size)
            return await Self.answer(call, asksOwner, admission, body)
        }
    }

    private static func answer<Parameters: Decodable & Sendable, Product: Encodable & Sendable>(
        _ call: ServiceCall,
        _ asksOwner: Bool,
        _ admission: Admission,
        _ body:
            @escaping @Sendable (Parameters, ServiceCall) async throws(ServiceRefusal) -> ServiceReply<
                Product
            >
    ) async -> Result<Answer, ServiceRefusal> {
        do throws(ServiceRefusal) {
            try await admission(call)
            let asked = { () async throws(ServiceRefusal) in
                try await body(try parameters(Parameters.self, of: call), call)
            }
            let reply: ServiceReply<Product>
            if let turns = call.turns {
                // After the rule, which may examine the caller for a long time: the turn may be shared by all users.
                reply = try await turns.takeFiles(
                    bringing: call.attached.size,
                    asksOwner: asksOwner,
                    asked
                )
            } else {
                reply = try await asked()
            }
            var files = reply.descriptors
            // Our own values can always be encoded; a secret needs room for its memory file.
            guard let bytes = try? Wire.encode(ReplyMessage(parameters: reply.parameters), beside: &files)
            else { return .failure(ServiceRefusal("io.whorl.InternalError")) }
            return .success(Answer(bytes: bytes, descriptors: files))
        } catch {
            return .failure(error)
        }
    }

    /// Returns whether a call to a method may prompt the user.
    func asksOwner(_ method: String) -> Bool { asking.contains(method) }

    /// The names of all methods.
    package var methods: [String] { handlers.keys.sorted() }

    /// Returns the handler of a method.
    func handler(of method: String) throws(ServiceRefusal) -> Handler {
        // A string equals others that are canonically equivalent in Unicode, such as the kelvin sign and the letter K.
        if method.utf8.allSatisfy({ $0 < 0x80 }), let handler = handlers[method] { return handler }
        let interface = method.split(separator: ".", omittingEmptySubsequences: false).dropLast()
            .joined(separator: ".")
        let isKnown = handlers.keys.contains { $0.hasPrefix(interface + ".") }
        throw isKnown
            ? .methodNotFound(String(method.prefix(200))) : .interfaceNotFound(String(interface.prefix(200)))
    }

    private static func parameters<Parameters: Decodable>(
        _ type: Parameters.Type,
        of call: ServiceCall
    ) throws(ServiceRefusal) -> Parameters {
        do {
            // Calls may take long, and members that no method uses are dropped here.
            defer { call.contents.letGo() }
            return try Wire.decode(
                CallParameters<Parameters>.self,
                call.contents.bytes,
                beside: call.attached
            )
            .parameters
        } catch let refusal as ServiceRefusal {
            throw refusal
        } catch {
            throw .invalidParameter(Self.place(of: error))
        }
    }

    /// Returns the path of the member at which decoding failed, such as `policy` or `request.reason`.
    private static func place(of error: any Error) -> String {
        let path: [any CodingKey] =
            switch error {
            case DecodingError.keyNotFound(let key, let context): context.codingPath + [key]
            case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
                DecodingError.dataCorrupted(let context):
                context.codingPath
            default: []
            }
        // A call without parameters is read as `{}`, without this member around it.
        let inside = path.first?.stringValue == "parameters" ? path.dropFirst() : path[...]
        return inside.map(\.stringValue).joined(separator: ".")
    }

    // MARK: - org.varlink.service

    private mutating func addIntrospection() {
        let service = "org.varlink.service"
        let texts = interfaces.merging([service: ServiceInfo.description]) { $1 }
        var info = about
        info.interfaces = texts.keys.sorted()
        on("\(service).GetInfo", admitting: Self.everyCaller) {
            [info] (_: NoParameters, _) async throws(ServiceRefusal) in
            ServiceReply(info)
        }
        on("\(service).GetInterfaceDescription", admitting: Self.everyCaller) {
            (asked: AskedInterface, _) async throws(ServiceRefusal) -> ServiceReply<InterfaceText> in
            guard let text = texts[asked.interface] else {
                throw .interfaceNotFound(String(asked.interface.prefix(200)))
            }
            return ServiceReply(InterfaceText(description: text))
        }
    }

    private struct AskedInterface: Decodable { let interface: String }
    private struct InterfaceText: Encodable { let description: String }
}

/// The information that `org.varlink.service.GetInfo` returns.
package struct ServiceInfo: Codable, Sendable, Hashable {
    package var vendor: String
    package var product: String
    package var version: String
    /// Required by Varlink; empty, because the project's address may change and the service does not.
    package private(set) var url = ""
    package var interfaces: [String] = []

    package init(vendor: String, product: String, version: String) {
        self.vendor = vendor
        self.product = product
        self.version = version
    }

    /// The description of the interface that every Varlink service provides (varlink.org, "Service Interface").
    static let description = """
        # The interface that every Varlink service has.
        interface org.varlink.service

        method GetInfo() -> (
          vendor: string,
          product: string,
          version: string,
          url: string,
          interfaces: []string
        )

        method GetInterfaceDescription(interface: string) -> (description: string)

        error InterfaceNotFound (interface: string)
        error MethodNotFound (method: string)
        error MethodNotImplemented (method: string)
        error InvalidParameter (parameter: string)
        """
}
