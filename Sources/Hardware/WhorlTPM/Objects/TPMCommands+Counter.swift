// SPDX-License-Identifier: Apache-2.0

internal import CWhorlTSS2

extension TPMCommands {
    /// Defines a counter and increments it once, because it does not have a value or its final name until then.
    ///
    /// If the increment fails, the index is deleted again. If that also fails, or if the program ends in between,
    /// ``findCounters(writePolicy:)`` finds the index.
    ///
    /// - Parameters:
    ///   - index: The index, by default the first free one in Whorl's range.
    ///   - writePolicy: The policy required to increment the counter.
    ///   - root: The storage root.
    ///   - credentials: The credentials that satisfy the policy.
    /// - Returns: The counter.
    /// - Throws: ``TPMError/Code-swift.enum/nvSpace``, ``TPMError/Code-swift.enum/nvDefined``,
    ///   ``TPMError/Code-swift.enum/ownerAuthNeeded`` and the errors of any command.
    ///
    /// Source: TPM 2.0 Library Part 3, TPM2_NV_DefineSpace, TPM2_NV_Increment.
    package func defineCounter(
        at index: UInt32? = nil,
        writePolicy: TPMPolicy,
        under root: StorageRoot,
        credentials: Credentials
    ) throws(TPMError) -> NVCounter {
        let index = if let index { index } else { try freeCounterIndex() }
        let template = try NVCounter.template(index: index, writePolicy: writePolicy.digest)
        return try connection.withRoot(root) { (root) throws(TPMError) in
            let object = try connection.define(template)
            defer { connection.close(object) }
            do throws(TPMError) {
                try connection.increment(object, meeting: writePolicy, with: credentials, root: root)
                // ESAPI's entry now has the attribute WRITTEN, like the TPM's.
                return NVCounter(
                    index: index,
                    name: try connection.name(of: object),
                    resource: try connection.serialize(object)
                )
            } catch {
                try? connection.undefine(object)
                throw error
            }
        }
    }

    /// Returns the counter's value, with one command.
    ///
    /// The response is not authenticated, so use it for information only. Decisions belong in a policy that names the
    /// counter.
    ///
    /// Source: TPM 2.0 Library Part 3, TPM2_NV_Read.
    package func read(_ counter: NVCounter) throws(TPMError) -> UInt64 {
        try connection.withCounter(counter) { (index) throws(TPMError) in try connection.readCounter(index) }
    }

    /// Increments a counter, with four commands if the authority is loaded.
    ///
    /// Source: TPM 2.0 Library Part 3, TPM2_NV_Increment.
    package func increment(
        _ counter: NVCounter,
        writePolicy: TPMPolicy,
        under root: StorageRoot,
        credentials: Credentials
    ) throws(TPMError) {
        try connection.withRoot(root) { (root) throws(TPMError) in
            try connection.withCounter(counter) { (index) throws(TPMError) in
                try connection.increment(index, meeting: writePolicy, with: credentials, root: root)
            }
        }
    }

    /// Deletes a counter.
    ///
    /// Objects whose policy names the counter become permanently unusable.
    ///
    /// Source: TPM 2.0 Library Part 3, TPM2_NV_UndefineSpace.
    package func undefine(_ counter: NVCounter) throws(TPMError) {
        try connection.withCounter(counter) { (index) throws(TPMError) in try connection.undefine(index) }
    }

    /// Returns a counter's public area (TPMS_NV_PUBLIC), from which the counter's name is computed.
    ///
    /// - Throws: ``TPMError/Code-swift.enum/nvMissing`` if the index has a different name.
    ///
    /// Source: TPM 2.0 Library Part 3, TPM2_NV_ReadPublic.
    package func publicArea(of counter: NVCounter) throws(TPMError) -> [UInt8] {
        try connection.withCounter(counter) { (index) throws(TPMError) in
            var area = try connection.publicArea(ofIndex: index)
            let bytes = try Marshalling.bytes(Tss2_MU_TPMS_NV_PUBLIC_Marshal, of: &area)
            guard TPMName(ofPublicArea: bytes) == counter.name else { throw TPMError(.nvMissing) }
            return bytes
        }
    }

    /// Returns the state of a counter, with two commands if it is unchanged and one if it no longer exists.
    package func check(_ counter: NVCounter) throws(TPMError) -> NVCounterCheck {
        do throws(TPMError) {
            return try connection.withPublic(counter.index) { (index) throws(TPMError) -> NVCounterCheck in
                if try connection.name(of: index) == counter.name {
                    return .same(try connection.readCounter(index))
                }
                let area = try connection.publicArea(ofIndex: index)
                return area.attributes == NVCounter.attributes ? .unwritten : .other
            }
        } catch {
            // It may also be deleted between the two commands.
            guard error.saysMissingHandle else { throw error }
            return .missing
        }
    }

    /// Returns Whorl's counters that can be incremented only with this policy, for example those left by an interrupted
    /// provisioning.
    ///
    /// The result includes counters that have never been incremented, with their preliminary names.
    package func findCounters(writePolicy: PolicyDigest) throws(TPMError) -> [NVCounter] {
        var found: [NVCounter] = []
        for handle in try handles(.nvIndices) where NVCounter.ownIndices.contains(handle) {
            let counter = try connection.withPublic(handle) { (index) throws(TPMError) -> NVCounter? in
                let area = try connection.publicArea(ofIndex: index)
                guard area.attributes & ~UInt32(TPMA_NV_WRITTEN) == NVCounter.attributes,
                    area.authPolicy.bytes == writePolicy.bytes
                else { return nil }
                return NVCounter(
                    index: handle,
                    name: try connection.name(of: index),
                    resource: try connection.serialize(index)
                )
            }
            if let counter { found.append(counter) }
        }
        return found
    }

    private func freeCounterIndex() throws(TPMError) -> UInt32 {
        let taken = try Set(handles(.nvIndices))
        guard let index = NVCounter.ownIndices.first(where: { !taken.contains($0) }) else {
            throw TPMError(.nvSpace)
        }
        return index
    }
}

extension Connection {
    /// Calls `body` with the handle of a counter.
    ///
    /// - Throws: ``TPMError/Code-swift.enum/nvMissing`` if a command in `body` does not find the index.
    func withCounter<Value: ~Copyable>(
        _ counter: NVCounter,
        _ body: (ESYS_TR) throws(TPMError) -> Value
    ) throws(TPMError) -> Value {
        do throws(TPMError) {
            return try withPinned(counter.resource, handle: counter.index, name: counter.name, body)
        } catch {
            throw error.saysMissingHandle ? error.told(as: .nvMissing) : error
        }
    }

    fileprivate func define(_ template: TPM2B_NV_PUBLIC) throws(TPMError) -> ESYS_TR {
        var template = template
        var auth = TPM2B_AUTH()
        var object = Fixed.none
        try asOwner { () throws(TPMError) in
            try call("TPM2_NV_DefineSpace") {
                Esys_NV_DefineSpace(
                    $0,
                    Fixed.owner,
                    Fixed.password,
                    Fixed.none,
                    Fixed.none,
                    &auth,
                    &template,
                    &object
                )
            }
        }
        return object
    }

    fileprivate func increment(
        _ index: ESYS_TR,
        meeting policy: TPMPolicy,
        with credentials: Credentials,
        root: ESYS_TR
    ) throws(TPMError) {
        try sequence { () throws(TPMError) in
            var session = try session(meeting: policy, with: credentials, root: root, needed: nil)
            try session.spend([]) { (session) throws(TPMError) in
                try call("TPM2_NV_Increment") {
                    Esys_NV_Increment($0, index, index, session, Fixed.none, Fixed.none)
                }
            }
        }
    }

    fileprivate func undefine(_ index: ESYS_TR) throws(TPMError) {
        try asOwner { () throws(TPMError) in
            try call("TPM2_NV_UndefineSpace") {
                Esys_NV_UndefineSpace($0, Fixed.owner, index, Fixed.password, Fixed.none, Fixed.none)
            }
        }
    }

    fileprivate func readCounter(_ index: ESYS_TR) throws(TPMError) -> UInt64 {
        var data: UnsafeMutablePointer<TPM2B_MAX_NV_BUFFER>?
        try call("TPM2_NV_Read") {
            Esys_NV_Read($0, index, index, Fixed.password, Fixed.none, Fixed.none, 8, 0, &data)
        }
        let bytes = try CMemory.take(data, of: "TPM2_NV_Read") {
            Sized.bytes($0.pointee.buffer, $0.pointee.size)
        }
        guard bytes.count == 8 else { throw TPMError(.other, command: "TPM2_NV_Read", cause: "no counter") }
        return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    func publicArea(ofIndex index: ESYS_TR) throws(TPMError) -> TPMS_NV_PUBLIC {
        var area: UnsafeMutablePointer<TPM2B_NV_PUBLIC>?
        try call("TPM2_NV_ReadPublic") {
            Esys_NV_ReadPublic($0, index, Fixed.none, Fixed.none, Fixed.none, &area, nil)
        }
        return try CMemory.take(area, of: "TPM2_NV_ReadPublic") { $0.pointee.nvPublic }
    }
}
