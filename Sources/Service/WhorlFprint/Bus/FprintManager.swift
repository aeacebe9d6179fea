// SPDX-License-Identifier: Apache-2.0

internal import GLibRuntime

/// The object that names the readers.
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

/// The object that tells all readers with their properties.
final class FprintTree: ServedObject {
    private let service: FprintService

    init(service: FprintService) { self.service = service }

    func call(_ method: String, _ parameters: BusValue, from client: String, _ reply: BusReply) {
        reply.answer([.dictionary(key: "o", value: "a{sa{sv}}", service.assumeIsolated { $0.tree })])
    }

    func property(_ name: String) -> BusContent? { nil }
}
