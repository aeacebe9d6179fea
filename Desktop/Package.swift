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
    ] + (strict ? [.treatAllWarnings(as: .error)] : [])

/// GTK, and the part of Whorl that calls the service.
let service: [Target.Dependency] = ["CGTK", .product(name: "PromptAgent", package: "whorl")]

/// The programs of a desktop: the agent that shows prompts, and the settings.
///
/// They are a separate package, so that building Whorl does not require GTK.
let package = Package(
    name: "whorl-desktop",
    products: [
        .executable(name: "whorl-prompt", targets: ["whorl-prompt"]),
        .executable(name: "whorl-settings", targets: ["whorl-settings"]),
    ],
    dependencies: [.package(name: "whorl", path: "..", traits: [])],
    targets: [
        .systemLibrary(name: "CGTK", pkgConfig: "gtk4", providers: [.apt(["libgtk-4-dev"])]),
        // The windows of prompts and enrollments, which both programs show.
        .target(name: "PromptWindows", dependencies: service, swiftSettings: common),
        .executableTarget(
            name: "whorl-prompt",
            dependencies: ["PromptWindows"] + service,
            swiftSettings: common
        ),
        .executableTarget(
            name: "whorl-settings",
            dependencies: ["PromptWindows"] + service,
            swiftSettings: common
        ),
    ]
)
