// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Foundation
import Testing
import WhorlIPC
import WhorlService

@testable import WhorlRemote

@Suite("The interfaces' texts")
struct InterfaceTests {
    @Test func `every method that is served is described, and none else`() throws {
        var host = ServiceHost(
            services: { _ throws(ServiceRefusal) in throw ServiceRefusal("io.whorl.NotYours") },
            keychain: { _, _ throws(ServiceRefusal) in throw ServiceRefusal("io.whorl.NotYours") }
        )
        host.logins = LoginAccess(owner: { _ in fatalError("no login is asked for here") }, place: nil)
        let served = host.router(version: "test").methods.filter { !$0.hasPrefix("org.varlink.") }
        let described = InterfaceText.all.flatMap { interface in
            interface.text.matches(of: /(?m)^method (\w+)\(/).map { "\(interface.name).\($0.1)" }
        }
        #expect(Set(served) == Set(described))
        #expect(described.count == Set(described).count)
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
