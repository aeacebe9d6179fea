// SPDX-License-Identifier: Apache-2.0

internal import CTSS2

/// An object or session that may still be loaded after the connection to the TPM was lost.
struct Leftover: Sendable {
    /// The TPM's handle; `nil` for an object whose load command was not answered.
    let handle: UInt32?
    /// The name of an object; `nil` for a session.
    let name: TPMName?
}

extension Connection {
    /// Returns the TPM's handle and the name behind an ESAPI handle; sends no command.
    func leftover(of handle: ESYS_TR) -> Leftover? {
        var number: UInt32 = 0
        guard Esys_TR_GetTpmHandle(esys, handle, &number) == 0 else { return nil }
        return Leftover(handle: number, name: number >> 24 == 0x80 ? try? name(of: handle) : nil)
    }

    /// Flushes what a lost connection has left loaded, if it is still the same object; ignores failures, since a
    /// restarted TPM has nothing left.
    ///
    /// The kernel flushes when a program closes /dev/tpmrm0; a bare TPM does not.
    func flush(_ leftovers: [Leftover]) {
        for leftover in leftovers where !isBroken {
            switch (leftover.handle, leftover.name) {
            case (let handle?, let name?): flush(handle, ifNamed: name)
            case (nil, let name?):
                let handles = try? TPMCommands(connection: self).handles(.transient)
                for handle in handles ?? [] { flush(handle, ifNamed: name) }
            case (let handle?, nil): flushSession(handle)
            case (nil, nil): break
            }
        }
    }

    private func flush(_ handle: UInt32, ifNamed name: TPMName) {
        try? withPublic(handle) { (object) throws(TPMError) in
            guard try self.name(of: object) == name else { return }
            _ = Esys_FlushContext(esys, object)
        }
    }

    private func flushSession(_ handle: UInt32) {
        var session = Fixed.none
        let code = Esys_TR_FromTPMPublic(esys, handle, Fixed.none, Fixed.none, Fixed.none, &session)
        if code == 0 { flush(session) }
    }
}
