// SPDX-License-Identifier: Apache-2.0

import FacesOverSocket
import WhorlEngine
import WhorlContext
import LocalAuthentication
import Testing
import WhorlService

@Suite struct RightWithoutChipTests {
    @Test func `without a chip a right is not saved, and the error says why`() async {
        let machine = Machine()
        let parts = ContextParts(
            asker: machine.handlers,
            presenter: TestPresenter(),
            application: ApplicationID(rawValue: "org.example.test")
        ).asTested
        await ContextParts.$ofTask.withValue(parts) {
            await #expect {
                try await LARightStore.shared.saveRight(LARight(), identifier: "safe", secret: Data([1]))
            } throws: {
                let error = $0 as NSError
                return error.domain == NSOSStatusErrorDomain && error.code == Int(errSecNotAvailable)
                    && error.localizedDescription.contains("TPM")
            }
        }
    }
}
