// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// As in the package above: warnings are errors when asked for.
let strict = Context.environment["WHORL_STRICT"] != nil

let common: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ] + (strict ? [.treatAllWarnings(as: .error)] : [])

/// The desktop's agent, in a package of its own so that who only wants a touch never builds with GTK.
let package = Package(
    name: "whorl-prompt",
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
