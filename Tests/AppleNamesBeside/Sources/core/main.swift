// SPDX-License-Identifier: Apache-2.0

import CoreFoundation
import Foundation
import Security
import X509

let query: CFDictionary =
    [kSecClass: kSecClassGenericPassword, kSecReturnData: kCFBooleanTrue!] as CFDictionary
var item: CFTypeRef?
print(SecItemCopyMatching(query, &item), CFGetTypeID(query) == CFDictionaryGetTypeID())
