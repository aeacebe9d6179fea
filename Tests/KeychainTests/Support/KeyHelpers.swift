// SPDX-License-Identifier: Apache-2.0

import FacesOverSocket
import WhorlEngine
import WhorlContext
import PretendedChip
import ChildPipe
import Foundation
import KeychainServices
import Testing
import WhorlService

/// Runs something on a test device with a chip.
func onPretendedChip<Value>(_ body: (PretendedChip) throws -> Value) rethrows -> Value {
    let chip = PretendedChip()
    return try ContextParts.$ofTask.withValue(chip.parts().asTested) { try body(chip) }
}

/// What a function of Apple's gave, or its error.
func outcome<Value>(_ body: (UnsafeMutablePointer<Unmanaged<CFError>?>) -> Value?) -> Result<Value, NSError> {
    var error: Unmanaged<CFError>?
    let value = body(&error)
    let failure = error?.takeRetainedValue()
    switch (value, failure) {
    case (let value?, nil): return .success(value)
    case (nil, let failure?): return .failure(failure)
    default: return .failure(NSError(domain: "both or none", code: 0))
    }
}

extension Result where Failure == NSError {
    /// The error's domain and number.
    var code: String? {
        switch self {
        case .success: nil
        case .failure(let error): "\(error.domain) \(error.code)"
        }
    }
}

func status(_ status: OSStatus) -> String { "\(NSOSStatusErrorDomain) \(status)" }

/// A new key of this process, on a curve.
func softwareKey(_ bits: Int) throws -> SecKey { try softwareKey(kSecAttrKeyTypeECSECPrimeRandom, bits) }

/// A new key of the chip, or one of this process with so many bits.
func anyKey(_ kind: String) throws -> SecKey {
    try kind == "chip" ? chipKey() : softwareKey(Int(kind) ?? 0)
}

/// A new key of this process.
func softwareKey(_ type: CFString, _ bits: Int) throws -> SecKey {
    let query: [CFString: Any] = [kSecAttrKeyType: type, kSecAttrKeySizeInBits: bits]
    return try outcome { SecKeyCreateRandomKey(query as CFDictionary, $0) }.get()
}

/// A new key of the chip.
func chipKey(
    _ flags: SecAccessControlCreateFlags? = nil,
    _ context: AnyObject? = nil
) throws -> SecKey {
    var half: [String: Any] = [:]
    if let flags {
        half[kSecAttrAccessControl as String] = try #require(
            SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, flags, nil)
        )
    }
    half[kSecUseAuthenticationContext as String] = context
    let query: [String: Any] = [
        kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
        kSecAttrKeySizeInBits as String: 256,
        kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave,
        kSecPrivateKeyAttrs as String: half,
    ]
    return try outcome { SecKeyCreateRandomKey(query as CFDictionary, $0) }.get()
}

func bytes(_ key: SecKey) throws -> Data {
    try outcome { SecKeyCopyExternalRepresentation(key, $0) }.map { Data(referencing: $0) }.get()
}

func publicKey(_ key: SecKey) throws -> SecKey { try #require(SecKeyCopyPublicKey(key)) }

/// Runs a program, and gives what it printed; a failure is one of the test.
func run(_ program: String, _ arguments: [String], input: Data = Data()) throws -> Data {
    let process = ChildProgram()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [program] + arguments
    let (output, given) = (try ChildPipe(), try ChildPipe())
    process.standardOutput = output.writing
    process.standardInput = given.reading
    process.standardError = FileHandle.nullDevice
    try process.start()
    try output.writing.close()
    try given.reading.close()
    try given.writing.write(contentsOf: input)
    try given.writing.close()
    let data = output.reading.readDataToEndOfFile()
    let status = process.waitForEnd()
    try #require(status == 0, "\(program) \(arguments.first ?? "") failed")
    return data
}

/// A certificate of a person called ada, in DER.
func certificateBytes(serial: Int) throws -> Data {
    try withFolder { folder in
        let (key, file) = (folder.appending(path: "key").path, folder.appending(path: "certificate"))
        _ = try run(
            "openssl",
            [
                "req", "-x509", "-nodes", "-outform", "DER", "-subj", "/CN=ada", "-set_serial", "\(serial)",
                "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-keyout", key, "-out",
                file.path,
            ]
        )
        return try Data(contentsOf: file)
    }
}

/// A folder that is gone afterwards.
func withFolder<Value>(_ body: (URL) throws -> Value) throws -> Value {
    let folder = FileManager.default.temporaryDirectory.appending(path: "whorl-keys-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
}
