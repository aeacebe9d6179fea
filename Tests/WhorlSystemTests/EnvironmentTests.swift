// SPDX-License-Identifier: Apache-2.0

import Testing
import WhorlSystem

struct EnvironmentTests {
    @Test func `a process of ordinary rights reads its environment`() {
        #expect(SystemConfiguration.processEnvironment["PATH"] != nil)
    }
}
