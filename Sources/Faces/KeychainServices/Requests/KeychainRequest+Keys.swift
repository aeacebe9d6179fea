// SPDX-License-Identifier: Apache-2.0

internal import WhorlService

internal import WhorlContext

/// Parsing of the dictionary keys that are not attributes: matching, results, authentication and values.
extension KeychainRequest {
    mutating func readMatch(_ key: String, _ value: Any, _ purpose: Purpose) throws(KeychainError) {
        let isLimitOfUpdate = purpose == .select && key == "m_Limit"
        guard purpose == .copy || purpose == .delete || isLimitOfUpdate else {
            throw KeychainError(errSecParam)
        }
        switch key {
        case "m_Limit": limit = try KeychainRequest.limit(value)
        case "m_SearchList": break
        case "m_TrustedOnly":
            guard try !KeychainRequest.flag(value) else { throw KeychainError(errSecUnimplemented) }
        case "m_Policy", "m_ItemList": throw KeychainError(errSecUnimplemented)
        default:
            guard try certificates.read(key, value) else { throw KeychainError(errSecParam) }
            // As on Apple's systems, deleting accepts no filter other than attributes.
            guard purpose == .copy || certificates.isEmpty else { throw KeychainError(errSecUnimplemented) }
        }
    }

    private static func limit(_ value: Any) throws(KeychainError) -> Int {
        switch DictionaryObjects.text(value) {
        case "m_LimitOne"?: return 1
        case "m_LimitAll"?: return .max
        case _?: throw KeychainError(errSecParam)
        case nil:
            guard let number = KeychainClass.Form.number(value), number > 0 else {
                throw KeychainError(errSecParam)
            }
            return Int(number)
        }
    }

    mutating func readReturn(_ key: String, _ value: Any, _ purpose: Purpose) throws(KeychainError) {
        let kind: Returns =
            switch key {
            case "r_Data": .data
            case "r_Attributes": .attributes
            case "r_Ref": .reference
            case "r_PersistentRef": .persistentReference
            default: throw KeychainError(errSecParam)
            }
        guard try KeychainRequest.flag(value) else { return }
        switch purpose {
        case .add, .copy: returns.insert(kind)
        // Programs may use a query for reading to delete items as well.
        case .delete: break
        case .select, .change: throw KeychainError(errSecParam)
        }
    }

    mutating func readUse(_ key: String, _ value: Any, _ purpose: Purpose) throws(KeychainError) {
        switch key {
        case "u_AuthCtx":
            guard let holder = value as? any ContextHolder else { throw KeychainError(errSecParam) }
            boundContext = KeyContext(holder)
        case "u_AuthUI":
            switch value as? String {
            case "u_AuthUIA"?: break
            case "u_AuthUIF"?: interface = .fail
            case "u_AuthUIS"? where purpose == .copy: interface = .skip
            default: throw KeychainError(errSecParam)
            }
        case "u_NoAuthUI": if try KeychainRequest.flag(value), interface == .allow { interface = .fail }
        case "u_OpPrompt":
            guard let text = value as? String else { throw KeychainError(errSecParam) }
            prompt = text
        case "u_Keychain": break
        case "u_ItemList": throw KeychainError(errSecUnimplemented)
        default: throw KeychainError(errSecParam)
        }
    }

    mutating func readValue(_ key: String, _ value: Any, _ purpose: Purpose) throws(KeychainError) {
        switch key {
        case "v_Data":
            guard let data = DictionaryObjects.data(value) else { throw KeychainError(errSecParam) }
            // Programs may use the dictionary with which the item was added as a query. Searches ignore its value.
            guard purpose == .add || purpose == .change else { return }
            guard data.count <= KeychainRequest.longestValue else { throw KeychainError(errSecParam) }
            self.value = data
        case "v_Ref":
            if let object = value as? SecIdentity {
                identity = object
            } else if let object = value as? any ItemReference {
                reference = object
            } else {
                throw KeychainError(errSecParam)
            }
        case "v_PersistentRef":
            guard purpose != .add, let data = value as? Data, let named = PersistentReference(data) else {
                throw KeychainError(errSecParam)
            }
            persistentReference = named
        default: throw KeychainError(errSecParam)
        }
    }
}
