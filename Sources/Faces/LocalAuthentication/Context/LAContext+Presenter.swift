// SPDX-License-Identifier: Apache-2.0

// The words that a presenter is made of, so that a program needs no other import. Nothing else of these modules is
// exported: their names are no part of Apple's API.
@_exported public import protocol Authentication.PromptPresenter
@_exported public import struct Authentication.Prompt
@_exported public import enum Authentication.PromptAction
@_exported public import enum Authentication.PromptUpdate
@_exported public import enum Fingerprint.Finger
@_exported public import struct Fingerprint.ReaderInfo
@_exported public import enum Fingerprint.ScanEvent
@_exported public import enum Fingerprint.ScanRetry

/// What Linux has and Apple's systems have not: there the system itself shows the prompt.
extension LAContext {
    /// Who shows this context's prompts; `nil`, the default, means the terminal.
    ///
    /// A program with a screen of its own (a desktop, a kiosk, a login) gives its own presenter, since it has no terminal
    /// that a person sees. An evaluation takes the presenter that is set when it begins.
    ///
    ///     #if os(Linux)
    ///     context.promptPresenter = KioskPrompt()
    ///     #endif
    ///
    /// What a presenter is told is for the eye, and what it returns can only end an evaluation: no presenter can make one
    /// succeed.
    public var promptPresenter: (any PromptPresenter)? {
        get { settings.presenter }
        set { change { $0.presenter = newValue } }
    }
}
