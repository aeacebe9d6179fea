// SPDX-License-Identifier: Apache-2.0

// A test names fingers; nothing else of the module is exported.
@_exported public import enum WhorlFingerprint.Finger
@_exported public import enum WhorlFingerprint.ScanRetry
