// SPDX-License-Identifier: Apache-2.0

// An app needs a server, a user and a transport to use this module.
@_exported public import LoginAssertion
@_exported public import LoginTransport
@_exported public import WhorlSecretMemory

// The types in an error's details, and the type of presenters; a program need not know the modules that define them.
@_exported public import struct WhorlService.Prompt
@_exported public import enum WhorlService.PromptAction
@_exported public import class WhorlService.PromptEntry
@_exported public import protocol WhorlService.PromptPresenter
@_exported public import enum WhorlService.PromptUpdate
@_exported public import struct WhorlService.ServiceError
