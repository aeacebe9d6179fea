// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import SyntheticFingers

@Suite struct PortableMathTests {
    @Test func `sine and cosine agree with the C library`() {
        for step in -4000...4000 {
            let x = Double(step) / 100
            #expect(abs(PortableMath.sin(x) - Glibc.sin(x)) < 1e-13, "sin \(x)")
            #expect(abs(PortableMath.cos(x) - Glibc.cos(x)) < 1e-13, "cos \(x)")
        }
    }

    @Test func `the exponential agrees with the C library`() {
        for step in -400...400 {
            let x = Double(step) / 10
            #expect(abs(PortableMath.exp(x) / Glibc.exp(x) - 1) < 1e-13, "exp \(x)")
        }
        #expect(PortableMath.exp(-1000) == 0)
    }

    @Test func `the arctangent agrees with the C library in every direction`() {
        for step in 0..<3600 {
            let angle = Double(step) * PortableMath.pi / 1800
            let (x, y) = (3 * Glibc.cos(angle), 3 * Glibc.sin(angle))
            #expect(abs(PortableMath.atan2(y, x) - Glibc.atan2(y, x)) < 1e-13, "direction \(step)")
        }
        #expect(PortableMath.atan2(0, 0) == 0)
        #expect(PortableMath.atan2(0, -1) == PortableMath.pi)
    }
}
