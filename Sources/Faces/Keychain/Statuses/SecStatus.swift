// SPDX-License-Identifier: Apache-2.0

// The results of keychain calls, with Apple's numbers.

/// It worked.
public let errSecSuccess: OSStatus = 0
/// It worked.
public let noErr: OSStatus = 0
/// The function or an option of it is not there.
public let errSecUnimplemented: OSStatus = -4
/// The disk or the chip could not be used.
public let errSecIO: OSStatus = -36
/// A parameter is wrong.
public let errSecParam: OSStatus = -50
/// There was no memory.
public let errSecAllocate: OSStatus = -108
/// The person pressed cancel.
public let errSecUserCanceled: OSStatus = -128
/// The request is wrong.
public let errSecBadReq: OSStatus = -909
/// The program may not use the access group.
public let errSecMissingEntitlement: OSStatus = -34018
/// There is no keychain, or no chip for a protected item.
public let errSecNotAvailable: OSStatus = -25291
/// The attribute cannot be changed.
public let errSecReadOnly: OSStatus = -25292
/// The owner was not recognised.
public let errSecAuthFailed: OSStatus = -25293
/// There is such an item already.
public let errSecDuplicateItem: OSStatus = -25299
/// There is no such item, or none that can still be opened.
public let errSecItemNotFound: OSStatus = -25300
/// A prompt would be needed, and is not allowed.
public let errSecInteractionNotAllowed: OSStatus = -25308
/// A prompt would be needed.
public let errSecInteractionRequired: OSStatus = -25315
/// The item's data cannot be had.
public let errSecDataNotAvailable: OSStatus = -25316
/// Bytes are not what they should be.
public let errSecDecode: OSStatus = -26275
/// A row is damaged.
public let errSecInvalidRecord: OSStatus = -67701
/// The key cannot be used for that.
public let errSecInvalidKeyRef: OSStatus = -67712
/// The algorithm is not there, or not for this key.
public let errSecInvalidAlgorithm: OSStatus = -67747
/// The signature is not right.
public let errSecVerifyFailed: OSStatus = -67808
