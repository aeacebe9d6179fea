// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlService

@Suite struct `The table of errors` {
    private static let codes = ServiceError.Code.allCases

    /// The codes whose sentences have a gap without the values that belong to the failure.
    private static let needingValues: Set<ServiceError.Code> = [
        .fingerExists, .readerNotConnected, .noSuchItem, .itemExists, .enrollmentChanged, .itemTampered,
        .measuredBootChanged, .accessDenied, .applicationPasswordWrong,
        .secretTooLarge, .digestWrongSize, .sshRequestRefused, .accessRefused, .passcodeNeeded,
        .storeNotWritable, .storeTooOpen,
        .storeDamaged, .storeNewer, .storeForeign, .storeBusy, .storeKeyMissing, .storeKeyDamaged, .diskFull,
    ]

    private static let values: [ServiceError.Detail: String] = [
        .subject: "x", .finger: "right-index-finger", .reader: "r", .bytes: "3", .milliseconds: "60000",
        .items: "x\ny", .reason: "it cannot", .operation: "identify", .failure: "busy",
    ]

    @Test func `lists each of its rows once, by its name in Swift`() throws {
        let table = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../Sources/Contract/WhorlService/Errors/ErrorTable.swift"),
            encoding: .utf8
        )
        let rows = table.matches(of: /public static let (\w+) = row\(\s*"(\w+)"/).map(\.output)
        #expect(rows.count == table.matches(of: /\brow\(/).count)
        #expect(rows.filter { $0.1 != $0.2 }.isEmpty)
        #expect(rows.map { String($0.1) }.sorted() == Self.codes.map(\.rawValue).sorted())
        #expect(Set(Self.codes).count == Self.codes.count)
    }

    @Test(arguments: codes)
    func `has two whole sentences for each code`(_ code: ServiceError.Code) {
        let isWhole = Self.gaps(in: ServiceError(code)).isEmpty
        #expect(
            isWhole != Self.needingValues.contains(code),
            "\(code.rawValue): \(ServiceError(code).message)"
        )
        let gaps = Self.gaps(in: ServiceError(code, details: Self.values))
        #expect(gaps.isEmpty, "\(code.rawValue): \(gaps)")
    }

    @Test(arguments: codes)
    func `ends each sentence with a full stop`(_ code: ServiceError.Code) {
        for error in [ServiceError(code), ServiceError(code, details: Self.values)] {
            for sentence in [error.message, error.recovery] {
                #expect(sentence.count > 1 && sentence.hasSuffix("."), "\(code.rawValue): \(sentence)")
            }
        }
    }

    /// The sentences of an error in which a value is missing.
    private static func gaps(in error: ServiceError) -> [String] {
        [error.message, error.recovery].filter { sentence in
            sentence.contains(/^\s|\s\s|\s[.,;:)]|\(\s*\)|\s`\.|``/)
        }
    }
}
