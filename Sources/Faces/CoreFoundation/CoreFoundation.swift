// SPDX-License-Identifier: Apache-2.0

// Apple's name for the module with Core Foundation's names. Foundation for Linux has a C module of this name, whose
// types would be ambiguous with ours.
@_exported public import KeychainServices
