// SPDX-License-Identifier: Apache-2.0

// The names that a presenter needs, so that a program needs no other import. Nothing else of these modules is exported:
// their names are not part of Apple's API.
@_exported public import protocol WhorlService.PromptPresenter
@_exported public import struct WhorlService.Prompt
@_exported public import enum WhorlService.PromptAction
@_exported public import class WhorlService.PromptEntry
@_exported public import enum WhorlService.PromptUpdate
@_exported public import enum WhorlFingerprint.Finger
@_exported public import struct WhorlFingerprint.ReaderInfo
@_exported public import enum WhorlFingerprint.ScanEvent
@_exported public import enum WhorlFingerprint.ScanRetry

/// An addition for Linux: on Apple's systems the system itself shows the prompt.
extension LAContext {
    /// The presenter of this context's prompts; `nil`, the default, means the terminal.
    ///
    /// A program with its own screen (a desktop, a kiosk, a login) sets its own presenter, since it has no terminal
    /// that a person sees. An evaluation uses the presenter that is set when it begins.
    ///
    ///     #if os(Linux)
    ///     context.promptPresenter = KioskPrompt()
    ///     #endif
    ///
    /// A presenter receives only information to display, and its return value can only end an evaluation: no presenter
    /// can make one succeed.
    public var promptPresenter: (any PromptPresenter)? {
        get { settings.presenter }
        set { change { $0.presenter = newValue } }
    }
}
