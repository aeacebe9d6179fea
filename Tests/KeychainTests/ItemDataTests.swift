// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainServices
import Testing

/// The object in which a program gets a value is of a class of our own, and used as Foundation's.
@Suite("The object of a value") struct ItemDataTests {
    private let bench: KeychainBench

    init() throws { bench = try KeychainBench() }

    private func object(of value: Data) throws -> NSData {
        try bench.run {
            #expect(SecItemAdd(generic("a", [kSecValueData: value]), nil) == errSecSuccess)
            return try #require(find(generic("a", [kSecReturnData: true])).object as? NSData)
        }
    }

    @Test(arguments: [Data(), Data([7]), Data((0..<200).map { UInt8($0) })])
    func `a value equals Foundation's own data, and is read in all ways`(value: Data) throws {
        let object = try object(of: value)
        let own = NSData(data: value)
        #expect(object.isEqual(own) && own.isEqual(object) && object.hash == own.hash)
        #expect(object as Data == value && Data(referencing: object) == value && object.length == value.count)
        #expect(object.base64EncodedString() == value.base64EncodedString())
        #expect((object.copy() as? NSData)?.isEqual(own) == true)
        let changed = try #require(object.mutableCopy() as? NSMutableData)
        changed.append(Data([9]))
        #expect(changed as Data == value + [9])
        #expect(object.subdata(with: NSRange(location: 0, length: value.count)) == value)
        #expect("\(object)" == "\(own)")
    }

    @Test func `a value is archived as data, which programs without this library read`() throws {
        let object = try object(of: Data([1, 2, 3]))
        let archive = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
        #expect(archive.range(of: Data("ItemData".utf8)) == nil)
        #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSData.self, from: archive) == object)
    }
}
