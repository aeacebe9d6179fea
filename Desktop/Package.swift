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

/// The desktop's agent.
///
/// It is a separate package, so that building Whorl does not require GTK.
let package = Package(
    name: "whorl-desktop",
    products: [.executable(name: "whorl-prompt", targets: ["whorl-prompt"])],
    dependencies: [.package(name: "whorl", path: "..", traits: [])],
    targets: [
        .systemLibrary(name: "CGTK", pkgConfig: "gtk4", providers: [.apt(["libgtk-4-dev"])]),
        .executableTarget(
            name: "whorl-prompt",
            dependencies: ["CGTK", .product(name: "PromptAgent", package: "whorl")],
            swiftSettings: common
        ),
    ]
)
