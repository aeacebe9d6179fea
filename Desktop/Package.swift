// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// As in the package above, warnings can be turned into errors.
let strict = Context.environment["WHORL_STRICT"] != nil

let common: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
    // GTK deprecates functions whose successors GTK 4.8 does not have.
    + (strict ? [.treatAllWarnings(as: .error), .treatWarning("DeprecatedDeclaration", as: .warning)] : [])

/// The part of Whorl that calls the service.
let agent: Target.Dependency = .product(name: "PromptAgent", package: "whorl")

/// GTK, and the part of Whorl that calls the service.
let service: [Target.Dependency] = ["CGTK", "CGLib", "MainThread", agent]

/// The programs of a desktop: the agent that shows prompts, the settings, and the keyring's prompter.
///
/// They are a separate package, so that building Whorl does not require GTK.
let package = Package(
    name: "whorl-desktop",
    products: [
        .executable(name: "whorl-prompt", targets: ["whorl-prompt"]),
        .executable(name: "whorl-settings", targets: ["whorl-settings"]),
        .executable(name: "whorl-keyring", targets: ["whorl-keyring"]),
        .executable(name: "whorl-keyring-dialog", targets: ["whorl-keyring-dialog"]),
    ],
    dependencies: [.package(name: "whorl", path: "..", traits: [])],
    targets: [
        .systemLibrary(name: "CGTK", pkgConfig: "gtk4", providers: [.apt(["libgtk-4-dev"])]),
        .systemLibrary(name: "CGLib", pkgConfig: "gio-unix-2.0", providers: [.apt(["libglib2.0-dev"])]),
        // How passwords are encrypted on their way to the keyring's daemon.
        .systemLibrary(name: "CGcr", pkgConfig: "gcr-base-3", providers: [.apt(["libgcr-3-dev"])]),
        .target(name: "MainThread", dependencies: ["CGLib"], swiftSettings: common),
        // The windows of prompts and enrollments, which both programs show.
        .target(name: "PromptWindows", dependencies: service, swiftSettings: common),
        .executableTarget(
            name: "whorl-prompt",
            dependencies: ["PromptWindows"] + service,
            swiftSettings: common
        ),
        // The switches that whorl-settings shows and whorl-settings-helper, which is written in C, changes.
        .systemLibrary(name: "CSwitches"),
        .executableTarget(
            name: "whorl-settings",
            dependencies: ["CSwitches", "PromptWindows"] + service,
            swiftSettings: common
        ),
        // The messages between the keyring's prompter and its dialog.
        .target(name: "KeyringQuestion", swiftSettings: common),
        // Compiled as C, because Swift does not import what the C library declares only for GNU's sources.
        .target(name: "CMemory", cSettings: [.define("_GNU_SOURCE")]),
        // It stays in memory with the session, and therefore does not link GTK.
        .executableTarget(
            name: "whorl-keyring",
            dependencies: ["CGLib", "CGcr", "CMemory", "KeyringQuestion", "MainThread", agent],
            swiftSettings: common
        ),
        .executableTarget(
            name: "whorl-keyring-dialog",
            dependencies: ["KeyringQuestion", "PromptWindows"] + service,
            swiftSettings: common
        ),
    ]
)
