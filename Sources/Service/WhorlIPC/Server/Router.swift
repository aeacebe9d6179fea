// SPDX-License-Identifier: Apache-2.0

/// One call as its handler sees it.
package struct ServiceCall: Sendable {
    /// The user and process that asked.
    package let client: ServiceClientIdentity
    /// Whether the caller takes updates before the reply (Varlink: "more").
    package let wantsMore: Bool
    let attached: CallDescriptors
    let contents: CallContents
    let send: @Sendable ([UInt8], [Descriptor]) -> Void
    /// Waits until the caller has read what was sent.
    var reading: @Sendable () async -> Void = {}
    /// The turns that the call waits for; without them it has its turn at once.
    var turns: UserTurns?

    /// The descriptors beside the call that the method takes and that were not read yet.
    package var descriptors: [Descriptor] { attached.all }

    /// Takes a process that the caller has passed beside the call, by a descriptor of it.
    ///
    /// - Parameter place: The place of the descriptor.
    /// - Returns: `nil` where none is there, or it is not of a process that runs.
    package func process(at place: Int) -> PeerProcess? {
        attached.take(place).flatMap(PeerProcess.init(passed:))
    }

    /// Waits until the caller has read all that was sent, or has hung up, so that long answers need little memory.
    package func untilRead() async { await reading() }

    /// Sends an update before the reply; dropped where the caller takes none.
    ///
    /// - Parameters:
    ///   - parameters: The update's values.
    ///   - descriptors: At most 8, which the values name by their index.
    package func update(_ parameters: some Encodable & Sendable, descriptors: [Descriptor] = []) {
        guard wantsMore else { return }
        // A value of ours that cannot be encoded is a mistake in the service, which its tests find.
        var files = descriptors
        let message = ReplyMessage(parameters: parameters, continues: true)
        guard let bytes = try? Wire.encode(message, beside: &files) else { return }
        send(bytes, files)
    }
}

/// The user and process at the other end of a connection.
package struct ServiceClientIdentity: Sendable {
    /// The user; rights follow it.
    package let user: PeerUser
    /// The process, for prompts and logs; `nil` where it has ended or did not prove itself.
    package let process: PeerProcess?
    /// The security module's word on the peer.
    package let label: PeerLabel
    /// What was found out about the process, for as long as the connection lasts.
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

/// A handler's answer: values, and descriptors such as secrets beside them.
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
    /// A whole reply as it goes over the wire.
    struct Answer: Sendable {
        var bytes: [UInt8]
        var descriptors: [Descriptor] = []
    }

    typealias Handler = @Sendable (ServiceCall) async -> Result<Answer, ServiceRefusal>

    /// Returns if the caller may call a method, and otherwise throws the refusal.
    package typealias Admission = @Sendable (ServiceCall) async throws(ServiceRefusal) -> Void

    /// Admits every caller.
    package static let everyCaller: Admission = { _ throws(ServiceRefusal) in }

    private var handlers: [String: Handler] = [:]
    /// The methods during which somebody may be asked.
    private var asking: Set<String> = []
    /// The text of each interface, as its `.varlink` file has it.
    private var interfaces: [String: String] = [:]

    /// Describes a service without methods of its own.
    ///
    /// - Parameter about: Answers `org.varlink.service.GetInfo`.
    package init(_ about: ServiceInfo) {
        self.about = about
        addIntrospection()
    }

    private let about: ServiceInfo

    /// Adds an interface's description; its methods are added one by one.
    package mutating func describe(_ interface: String, _ text: String) {
        interfaces[interface] = text
        addIntrospection()
    }

    /// Adds a method.
    ///
    /// - Parameters:
    ///   - method: Its qualified name, such as `io.whorl.Owner.Evaluate`.
    ///   - admission: The rule for its callers, which is asked before the parameters are read.
    ///   - asksOwner: Whether somebody may be asked during the call.
    ///   - most: The most descriptors that the method takes beside a call; others are closed before it runs.
    ///   - size: The most bytes of each memory file; larger ones are closed too.
    ///   - body: Gets the parameters, which have the declared types, and the call.
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
                // After the rule, which may look for long at who asks: the turn may be one of all users.
                reply = try await turns.takeFiles(
                    bringing: call.attached.size,
                    asksOwner: asksOwner,
                    asked
                )
            } else {
                reply = try await asked()
            }
            var files = reply.descriptors
            // A value of ours always encodes; a secret needs room for its memory file.
            guard let bytes = try? Wire.encode(ReplyMessage(parameters: reply.parameters), beside: &files)
            else { return .failure(ServiceRefusal("io.whorl.InternalError")) }
            return .success(Answer(bytes: bytes, descriptors: files))
        } catch {
            return .failure(error)
        }
    }

    /// Whether somebody may be asked during a call of a method.
    func asksOwner(_ method: String) -> Bool { asking.contains(method) }

    /// The names of all methods.
    package var methods: [String] { handlers.keys.sorted() }

    /// The handler of a method.
    func handler(of method: String) throws(ServiceRefusal) -> Handler {
        // A text equals others with the same meaning in Unicode, such as the sign of kelvin for the letter K.
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
            // Calls may last long, and members that no method has are dropped here.
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

    /// The member that a decoder stumbled over, such as `policy` or `request.reason`.
    private static func place(of error: any Error) -> String {
        let path: [any CodingKey] =
            switch error {
            case DecodingError.keyNotFound(let key, let context): context.codingPath + [key]
            case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
                DecodingError.dataCorrupted(let context):
                context.codingPath
            default: []
            }
        // A call without parameters is read as `{}`, which has no such member above it.
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

/// The answer of `org.varlink.service.GetInfo`.
package struct ServiceInfo: Codable, Sendable, Hashable {
    package var vendor: String
    package var product: String
    package var version: String
    package var url: String
    package var interfaces: [String] = []

    package init(vendor: String, product: String, version: String, url: String) {
        self.vendor = vendor
        self.product = product
        self.version = version
        self.url = url
    }

    /// The interface that every Varlink service has (varlink.org, "Service Interface").
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
