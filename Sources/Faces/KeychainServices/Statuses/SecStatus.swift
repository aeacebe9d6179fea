// SPDX-License-Identifier: Apache-2.0

// The results of keychain calls, with Apple's numbers.

/// The call succeeded.
public let errSecSuccess: OSStatus = 0
/// The call succeeded.
public let noErr: OSStatus = 0
/// The function or one of its options is not implemented.
public let errSecUnimplemented: OSStatus = -4
/// The disk or the TPM could not be accessed.
public let errSecIO: OSStatus = -36
/// A parameter is not valid.
public let errSecParam: OSStatus = -50
/// Memory could not be allocated.
public let errSecAllocate: OSStatus = -108
/// The user canceled the prompt.
public let errSecUserCanceled: OSStatus = -128
/// The request is not valid.
public let errSecBadReq: OSStatus = -909
/// The program may not use the access group.
public let errSecMissingEntitlement: OSStatus = -34018
/// The keychain is unavailable, or a protected item requires a TPM.
public let errSecNotAvailable: OSStatus = -25291
/// The attribute cannot be changed.
public let errSecReadOnly: OSStatus = -25292
/// The owner was not recognized.
public let errSecAuthFailed: OSStatus = -25293
/// The item already exists.
public let errSecDuplicateItem: OSStatus = -25299
/// The item does not exist, or can never be opened again.
public let errSecItemNotFound: OSStatus = -25300
/// A prompt is required but not allowed.
public let errSecInteractionNotAllowed: OSStatus = -25308
/// A prompt is required.
public let errSecInteractionRequired: OSStatus = -25315
/// The item's data is not available.
public let errSecDataNotAvailable: OSStatus = -25316
/// The data could not be decoded.
public let errSecDecode: OSStatus = -26275
/// A record is damaged.
public let errSecInvalidRecord: OSStatus = -67701
/// The key cannot be used for the operation.
public let errSecInvalidKeyRef: OSStatus = -67712
/// The algorithm is not supported, or the key does not support it.
public let errSecInvalidAlgorithm: OSStatus = -67747
/// The signature is invalid.
public let errSecVerifyFailed: OSStatus = -67808

// The other results of Apple's keychain calls. Most of them are never returned here, but programs compare with them.

/// The disk is full.
public let errSecDiskFull: OSStatus = -34
/// The disk is full.
public let errSecDskFull: OSStatus = -34
/// The file is already open for writing.
public let errSecOpWr: OSStatus = -49
/// The file is not writable.
public let errSecWrPerm: OSStatus = -61
/// A component of the keychain failed.
public let errSecInternalComponent: OSStatus = -2070
/// A system component failed.
public let errSecCoreFoundationUnknown: OSStatus = -4960
/// The program may not use this function.
public let errSecRestrictedAPI: OSStatus = -34020
/// The keychain does not exist.
public let errSecNoSuchKeychain: OSStatus = -25294
/// The keychain is not valid.
public let errSecInvalidKeychain: OSStatus = -25295
/// The keychain already exists.
public let errSecDuplicateKeychain: OSStatus = -25296
/// The callback is already installed.
public let errSecDuplicateCallback: OSStatus = -25297
/// The callback is not valid.
public let errSecInvalidCallback: OSStatus = -25298
/// The buffer is too small.
public let errSecBufferTooSmall: OSStatus = -25301
/// The data is too large.
public let errSecDataTooLarge: OSStatus = -25302
/// The attribute does not exist for this item class.
public let errSecNoSuchAttr: OSStatus = -25303
/// The reference to the item is not valid.
public let errSecInvalidItemRef: OSStatus = -25304
/// The search reference is not valid.
public let errSecInvalidSearchRef: OSStatus = -25305
/// The item class does not exist.
public let errSecNoSuchClass: OSStatus = -25306
/// There is no default keychain.
public let errSecNoDefaultKeychain: OSStatus = -25307
/// The attribute cannot be changed.
public let errSecReadOnlyAttr: OSStatus = -25309
/// The keychain was created by another version.
public let errSecWrongSecVersion: OSStatus = -25310
/// Keys of this size are not allowed.
public let errSecKeySizeNotAllowed: OSStatus = -25311
/// The storage component is missing.
public let errSecNoStorageModule: OSStatus = -25312
/// The certificate component is missing.
public let errSecNoCertificateModule: OSStatus = -25313
/// The trust policy component is missing.
public let errSecNoPolicyModule: OSStatus = -25314
/// The data of the item cannot be changed.
public let errSecDataNotModifiable: OSStatus = -25317
/// A certificate in the chain was not found.
public let errSecCreateChainFailed: OSStatus = -25318
/// The preferences domain is not valid.
public let errSecInvalidPrefsDomain: OSStatus = -25319
/// The machine is not fully awake.
public let errSecInDarkWake: OSStatus = -25320
/// The access control list is not in standard simple form.
public let errSecACLNotSimple: OSStatus = -25240
/// The policy was not found.
public let errSecPolicyNotFound: OSStatus = -25241
/// The trust setting is not valid.
public let errSecInvalidTrustSetting: OSStatus = -25242
/// The item has no access control.
public let errSecNoAccessForItem: OSStatus = -25243
/// The owner of the item cannot be changed.
public let errSecInvalidOwnerEdit: OSStatus = -25244
/// A trust result is not available.
public let errSecTrustNotAvailable: OSStatus = -25245
/// The format is not supported.
public let errSecUnsupportedFormat: OSStatus = -25256
/// The format is unknown.
public let errSecUnknownFormat: OSStatus = -25257
/// The key can be exported only in encrypted form.
public let errSecKeyIsSensitive: OSStatus = -25258
/// There is more than one private key.
public let errSecMultiplePrivKeys: OSStatus = -25259
/// A passphrase is required.
public let errSecPassphraseRequired: OSStatus = -25260
/// The reference to a password is not valid.
public let errSecInvalidPasswordRef: OSStatus = -25261
/// The trust settings are not valid.
public let errSecInvalidTrustSettings: OSStatus = -25262
/// Trust settings do not exist.
public let errSecNoTrustSettings: OSStatus = -25263
/// The PKCS #12 file is damaged, or its password is wrong.
public let errSecPkcs12VerifyFailure: OSStatus = -25264
/// The certificate was not signed by the next certificate in the chain.
public let errSecNotSigner: OSStatus = -26267
