// SPDX-License-Identifier: Apache-2.0

import WhorlService

// The TPM opens the items supplied by a caller only for the user they belong to.
extension HasChip: ProgramIndependent {}
extension MakeItem: ProgramIndependent {}
extension DecodeItem: ProgramIndependent {}
extension CheckItems: ProgramIndependent {}
extension PrepareVault: ProgramIndependent {}

extension UseItem: ConfinedOperation {
    func within(_ names: NameSpace) throws(ServiceError) -> UseItem {
        guard case .named(let id) = item else { return self }
        var use = self
        use.item = .named(try names.stored(id))
        return use
    }
}

extension AddItem: ConfinedOperation {
    func within(_ names: NameSpace) throws(ServiceError) -> AddItem { AddItem(try names.stored(id), item) }
}

extension ListItems: ConfinedOperation {
    func within(_ names: NameSpace) throws(ServiceError) -> ListItems { self }

    static func shown(_ reply: Valued<[VaultItem]>, within names: NameSpace) -> Valued<[VaultItem]> {
        Valued(reply.value.compactMap { names.confinement.shown($0) })
    }
}

extension ReadItemAccess: ConfinedOperation {
    func within(_ names: NameSpace) throws(ServiceError) -> ReadItemAccess {
        ReadItemAccess(of: try names.stored(id))
    }
}

extension ReadPublicKey: ConfinedOperation {
    func within(_ names: NameSpace) throws(ServiceError) -> ReadPublicKey {
        ReadPublicKey(of: try names.stored(id))
    }
}

extension DeleteItem: ConfinedOperation {
    func within(_ names: NameSpace) throws(ServiceError) -> DeleteItem {
        DeleteItem(try names.stored(id), request)
    }
}
