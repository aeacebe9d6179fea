// SPDX-License-Identifier: Apache-2.0

/// The TPM's response codes that Whorl tells apart, without the number of a handle, session or parameter.
///
/// The corresponding C constants are `TPM2_RC_…`, which Swift does not import. Source: TPM 2.0 Library Part 2, 6.6.3.
enum RC {
    static let asymmetric: UInt32 = 0x081
    static let hash: UInt32 = 0x083
    static let value: UInt32 = 0x084
    static let hierarchy: UInt32 = 0x085
    static let handle: UInt32 = 0x08b
    static let authFail: UInt32 = 0x08e
    static let scheme: UInt32 = 0x092
    static let symmetric: UInt32 = 0x096
    static let policyFail: UInt32 = 0x09d
    static let integrity: UInt32 = 0x09f
    static let badAuth: UInt32 = 0x0a2
    static let expired: UInt32 = 0x0a3
    static let policyCc: UInt32 = 0x0a4
    static let binding: UInt32 = 0x0a5
    static let curve: UInt32 = 0x0a6
    static let eccPoint: UInt32 = 0x0a7
    static let initialize: UInt32 = 0x100
    static let failure: UInt32 = 0x101
    static let policy: UInt32 = 0x126
    static let pcr: UInt32 = 0x127
    static let pcrChanged: UInt32 = 0x128
    static let tooManyContexts: UInt32 = 0x12e
    static let authUnavailable: UInt32 = 0x12f
    static let commandCode: UInt32 = 0x143
    static let nvAuthorization: UInt32 = 0x149
    static let nvUninitialized: UInt32 = 0x14a
    static let nvSpace: UInt32 = 0x14b
    static let nvDefined: UInt32 = 0x14c
    static let noResult: UInt32 = 0x154
    static let sensitive: UInt32 = 0x155
    static let contextGap: UInt32 = 0x901
    static let objectMemory: UInt32 = 0x902
    static let sessionMemory: UInt32 = 0x903
    static let memory: UInt32 = 0x904
    static let sessionHandles: UInt32 = 0x905
    static let objectHandles: UInt32 = 0x906
    static let yielded: UInt32 = 0x908
    static let testing: UInt32 = 0x90a
    static let referenceH0: UInt32 = 0x910
    static let referenceS6: UInt32 = 0x91e
    static let nvRate: UInt32 = 0x920
    static let lockout: UInt32 = 0x921
    static let retry: UInt32 = 0x922
    static let nvUnavailable: UInt32 = 0x923

    /// The bit of codes that carry the number of the handle, session or parameter at fault.
    static let formatOne: UInt32 = 0x080
    /// The bit of such codes when a parameter is at fault.
    static let parameter: UInt32 = 0x040
}
