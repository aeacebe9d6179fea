// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Foundation
import Testing
import WhorlIPC
import WhorlService

@testable import WhorlRemote

@Suite("The interfaces' texts")
struct InterfaceTests {
    /// A service that answers nothing.
    static var host: ServiceHost {
        var host = ServiceHost(
            services: { _ throws(ServiceRefusal) in throw ServiceRefusal("io.whorl.NotYours") },
            keychain: { _, _ throws(ServiceRefusal) in throw ServiceRefusal("io.whorl.NotYours") }
        )
        host.logins = LoginAccess(
            owner: { _ in fatalError("no login is asked for here") },
            obstacle: { _ in nil },
            place: nil
        )
        return host
    }

    @Test func `every method that is served is described, and none else`() throws {
        let served = Self.host.router(version: "test").methods.filter { !$0.hasPrefix("org.varlink.") }
        let described = InterfaceText.all.flatMap { interface in
            interface.text.matches(of: /(?m)^method (\w+)\(/).map { "\(interface.name).\($0.1)" }
        }
        #expect(Set(served) == Set(described))
        #expect(described.count == Set(described).count)
    }

    /// An engine of which nothing is asked.
    private struct Engine: PrivateEngine {
        func readerOfOwn() async throws(ServiceError) -> any FingerprintReader {
            throw ServiceError(.biometryNotAvailable)
        }

        func keychainGroups() throws(ServiceError) -> (groups: [String], count: Int) { ([], 0) }
    }

    @Test func `pictures and the rows of other programs are served by a private child alone`() {
        let systems = Set(Self.host.router(version: "test").methods)
        #expect(systems.filter { $0.hasPrefix("io.whorl.Private.") } == [])
        var host = Self.host
        host.privateEngine = Engine()
        let text = InterfaceText.ofPrivateChild
        let described = text.text.matches(of: /(?m)^method (\w+)\(/).map { "\(text.name).\($0.1)" }
        #expect(Set(host.router(version: "test").methods).subtracting(systems) == Set(described))
        #expect(described.count == 3)
    }

    @Test func `the table of the page has each method with its rule`() throws {
        let rows = Self.host.guarded(version: "test").methods.map(\.row).sorted().joined(separator: "\n")
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let page = try String(contentsOf: root.appending(path: "Docs/Service.md"), encoding: .utf8)
        let parts = page.components(separatedBy: "|---|---|---|---|---|---|\n")
        let table = try #require(parts.count == 2 ? parts.last : nil)
        #expect(table.hasPrefix(rows + "\n\n"), "the table is:\n\(rows)")
    }

    @Test func `every text names its interface and has balanced brackets`() {
        for interface in InterfaceText.all {
            #expect(interface.text.contains("\ninterface \(interface.name)\n"))
            #expect(interface.text.count { $0 == "(" } == interface.text.count { $0 == ")" })
        }
    }

    @Test func `every error that crosses the wire is described`() {
        let names = [ServiceError.name, LoginRefused.name, LoginRefused.rootAlone]
        let described = InterfaceText.all.flatMap { interface in
            interface.text.matches(of: /(?m)^error (\w+) \(/).map { "\(interface.name).\($0.1)" }
        }
        #expect(Set(names) == Set(described))
    }
}

extension MethodRule {
    /// The row of the method in Docs/Service.md.
    fileprivate var row: String {
        let (confined, elsewhere) =
            switch rules.callers {
            case .anyProgram: ("what belongs to them", "yes")
            case .unconfined: ("no", "yes")
            case .unconfinedAtReader: ("no", "no")
            case .root: ("no", "yes")
            }
        let cells = [
            "`\(name.dropFirst("io.whorl.".count))`", confined,
            asksOwner && elsewhere == "yes" ? "without a touch" : elsewhere,
            rules.callers == .root ? "root" : "", asksOwner ? "yes" : "",
            rules.effect == .repeatable ? "yes" : "",
        ]
        return "| \(cells.joined(separator: " | ")) |".replacing("|  |", with: "| |").replacing(
            "|  |",
            with: "| |"
        )
    }
}
