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

// What programs write to cast objects by their type's number: each type conforms by itself.
protocol CFCastable: AnyObject { static var typeID: CFTypeID { get } }
extension CFString: CFCastable { static var typeID: CFTypeID { CFStringGetTypeID() } }
extension CFNumber: CFCastable { static var typeID: CFTypeID { CFNumberGetTypeID() } }
extension CFBoolean: CFCastable { static var typeID: CFTypeID { CFBooleanGetTypeID() } }
extension CFData: CFCastable { static var typeID: CFTypeID { CFDataGetTypeID() } }
extension CFDate: CFCastable { static var typeID: CFTypeID { CFDateGetTypeID() } }
extension CFDictionary: CFCastable { static var typeID: CFTypeID { CFDictionaryGetTypeID() } }
extension CFArray: CFCastable { static var typeID: CFTypeID { CFArrayGetTypeID() } }
extension CFSet: CFCastable { static var typeID: CFTypeID { CFSetGetTypeID() } }

func cast<T: CFCastable>(_ object: CFTypeRef?, to type: T.Type) -> T? {
    guard let object, CFGetTypeID(object) == type.typeID else { return nil }
    // The number of the type says that the cast succeeds.
    // swift-format-ignore: NeverForceUnwrap
    return (object as! T)
}

let flag: CFTypeRef = kCFBooleanTrue
let count: CFTypeRef = 3 as CFNumber
let set: CFTypeRef = Set(["a"]) as CFSet
print(
    cast(flag, to: CFBoolean.self).map(CFBooleanGetValue) as Any,
    cast(flag, to: CFNumber.self) as Any,
    cast(count, to: CFNumber.self) as Any,
    cast(count, to: CFBoolean.self) as Any,
    cast(set, to: CFSet.self)?.count as Any
)
// swift-format-ignore: NeverForceUnwrap
let own = CFErrorCreate(kCFAllocatorDefault, "org.example.names" as CFString, 7, nil)!
// swift-format-ignore: NeverForceUnwrap
let identifier = CFUUIDCreateString(kCFAllocatorDefault, CFUUIDCreate(kCFAllocatorDefault))! as String
// swift-format-ignore: NeverForceUnwrap
let copied = CFDataCreate(kCFAllocatorDefault, bytes, bytes.count)!
let read = [UInt8](UnsafeBufferPointer(start: CFDataGetBytePtr(copied), count: CFDataGetLength(copied)))
print(CFErrorGetCode(own), identifier.count, read)
