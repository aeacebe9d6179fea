// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Testing

@testable import WhorlLibfprint

@Suite struct `What a comparison is worth` {
    @Test(arguments: ["virtual_image", "virtual_device", "virtual_device_storage", "virtual_of_tomorrow"])
    func `is nothing with a virtual driver, whoever compares`(driver: String) {
        for storage in [ReaderInfo.Storage.host, .reader] {
            #expect(ReaderStrength(driver: driver, kind: .virtual, storage: storage) == .none)
        }
    }

    @Test func `is the driver's threshold where the host compares, and unknown where the chip does`() {
        #expect(
            ReaderStrength(driver: "uru4000", kind: .hardware, storage: .host)
                == .minutiaeScore(threshold: 40)
        )
        #expect(
            ReaderStrength(driver: "aes3500", kind: .hardware, storage: .host) == .minutiaeScore(threshold: 9)
        )
        #expect(ReaderStrength(driver: "elanmoc", kind: .hardware, storage: .reader) == .onReader)
    }
}
