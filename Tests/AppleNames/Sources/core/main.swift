// SPDX-License-Identifier: Apache-2.0

import CoreFoundation
import Foundation
import LocalAuthentication
import Security

// A file that imports Core Foundation beside Foundation and Security: no name is ambiguous.
var error: Unmanaged<CFError>?
let parameters: CFDictionary = [kSecAttrKeyType as String: kSecAttrKeyTypeEC] as CFDictionary
let key = SecKeyCreateRandomKey(parameters, &error)
// The key cannot be made, so there is an error.
// swift-format-ignore: NeverForceUnwrap
let left: CFError = error!.takeRetainedValue()
let domain: CFErrorDomain = CFErrorGetDomain(left)
let bytes: [UInt8] = [1, 2, 3]
let data = bytes.withUnsafeBufferPointer { buffer -> Int in
    let borrowed = CFDataCreateWithBytesNoCopy(
        kCFAllocatorDefault,
        buffer.baseAddress,
        buffer.count,
        kCFAllocatorNull
    )
    return (borrowed! as Data).count
}
let isData = CFGetTypeID(Data(bytes) as CFData) == CFDataGetTypeID()
print(CFErrorGetCode(left), domain as String, isData, data)
