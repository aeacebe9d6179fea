// SPDX-License-Identifier: Apache-2.0

// The results of keychain calls, with Apple's numbers.

/// The call succeeded.
public let errSecSuccess: OSStatus = 0
/// The call succeeded.
public let noErr: OSStatus = 0
/// The function or one of its options is not implemented.
public let errSecUnimplemented: OSStatus = -4
/// The disk or the chip could not be used.
public let errSecIO: OSStatus = -36
/// A parameter is wrong.
public let errSecParam: OSStatus = -50
/// Memory could not be allocated.
public let errSecAllocate: OSStatus = -108
/// The person pressed cancel.
public let errSecUserCanceled: OSStatus = -128
/// The request is wrong.
public let errSecBadReq: OSStatus = -909
/// The program may not use the access group.
public let errSecMissingEntitlement: OSStatus = -34018
/// The keychain is unavailable, or a protected item has no chip.
public let errSecNotAvailable: OSStatus = -25291
/// The attribute cannot be changed.
public let errSecReadOnly: OSStatus = -25292
/// The owner was not recognised.
public let errSecAuthFailed: OSStatus = -25293
/// The item exists already.
public let errSecDuplicateItem: OSStatus = -25299
/// No such item exists, or none that can still be opened.
public let errSecItemNotFound: OSStatus = -25300
/// A prompt is needed but not allowed.
public let errSecInteractionNotAllowed: OSStatus = -25308
/// A prompt is needed.
public let errSecInteractionRequired: OSStatus = -25315
/// The item's data is not available.
public let errSecDataNotAvailable: OSStatus = -25316
/// The bytes could not be decoded.
public let errSecDecode: OSStatus = -26275
/// A row is damaged.
public let errSecInvalidRecord: OSStatus = -67701
/// The key cannot be used for the operation.
public let errSecInvalidKeyRef: OSStatus = -67712
/// The algorithm is not supported, or not for this key.
public let errSecInvalidAlgorithm: OSStatus = -67747
/// The signature is invalid.
public let errSecVerifyFailed: OSStatus = -67808
