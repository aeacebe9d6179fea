// SPDX-License-Identifier: Apache-2.0

internal import WhorlGLib

/// fprintd's interfaces, in the D-Bus introspection format.
enum FprintInterface {
    static let name = "net.reactivated.Fprint"
    static let manager = "net.reactivated.Fprint.Manager"
    static let device = "net.reactivated.Fprint.Device"
    static let tree = "org.freedesktop.DBus.ObjectManager"
    static let root = "/net/reactivated/Fprint"

    static let managerDescription = description(
        of: manager,
        methods: [("GetDevices", [], ["ao devices"]), ("GetDefaultDevice", [], ["o device"])]
    )

    static let deviceDescription = description(
        of: device,
        methods: [
            ("Claim", ["s username"], []), ("Release", [], []),
            ("ListEnrolledFingers", ["s username"], ["as enrolled_fingers"]),
            ("DeleteEnrolledFingers", ["s username"], []), ("DeleteEnrolledFingers2", [], []),
            ("DeleteEnrolledFinger", ["s finger_name"], []),
            ("EnrollStart", ["s finger_name"], []), ("EnrollStop", [], []),
            ("VerifyStart", ["s finger_name"], []), ("VerifyStop", [], []),
        ],
        signals: [
            ("EnrollStatus", ["s result", "b done"]), ("VerifyStatus", ["s result", "b done"]),
            ("VerifyFingerSelected", ["s finger_name"]),
        ],
        properties: [
            ("name", "s"), ("num-enroll-stages", "i"), ("scan-type", "s"), ("finger-present", "b"),
            ("finger-needed", "b"),
        ]
    )

    static let treeDescription = description(
        of: tree,
        methods: [("GetManagedObjects", [], ["a{oa{sa{sv}}} objects"])],
        signals: [
            ("InterfacesAdded", ["o path", "a{sa{sv}} interfaces"]),
            ("InterfacesRemoved", ["o path", "as interfaces"]),
        ]
    )

    /// Returns an interface's description; each argument is written as its signature, a space and its name.
    private static func description(
        of name: String,
        methods: [(String, [String], [String])],
        signals: [(String, [String])] = [],
        properties: [(String, String)] = []
    ) -> String {
        let methods = methods.map { method, takes, gives in
            let parts =
                takes.map { argument($0, " direction=\"in\"") }
                + gives.map { argument($0, " direction=\"out\"") }
            return "<method name=\"\(method)\">\(parts.joined())</method>"
        }
        let signals = signals.map { signal, parts in
            "<signal name=\"\(signal)\">\(parts.map { argument($0, "") }.joined())</signal>"
        }
        let properties = properties.map { "<property name=\"\($0)\" type=\"\($1)\" access=\"read\"/>" }
        let members = (methods + signals + properties).joined()
        return "<node><interface name=\"\(name)\">\(members)</interface></node>"
    }

    private static func argument(_ text: String, _ direction: String) -> String {
        let parts = text.split(separator: " ")
        return "<arg type=\"\(parts[0])\" name=\"\(parts[1])\"\(direction)/>"
    }
}

/// The object that lists the readers.
final class FprintManager: ServedObject {
    private let service: FprintService

    init(service: FprintService) { self.service = service }

    func call(_ method: String, _ parameters: BusValue, from client: String, _ reply: BusReply) {
        let paths = service.assumeIsolated { $0.paths }
        switch method {
        case "GetDevices": reply.answer([.array(of: "o", paths.map { .path($0) })])
        default:
            guard let first = paths.first else {
                return reply.refuse(FprintError.noSuchDevice.busName, FprintError.noSuchDevice.message)
            }
            reply.answer([.path(first)])
        }
    }

    func property(_ name: String) -> BusContent? { nil }
}

/// The object that lists all readers with their properties.
final class FprintTree: ServedObject {
    private let service: FprintService

    init(service: FprintService) { self.service = service }

    func call(_ method: String, _ parameters: BusValue, from client: String, _ reply: BusReply) {
        reply.answer([.dictionary(key: "o", value: "a{sa{sv}}", service.assumeIsolated { $0.tree })])
    }

    func property(_ name: String) -> BusContent? { nil }
}
