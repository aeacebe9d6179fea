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

/// A kiosk's first screen.
///
/// It needs no product of Whorl: greetd and PAM ask for the touch, and decide.
let package = Package(
    name: "kiosk",
    products: [.executable(name: "kiosk-greeter", targets: ["kiosk-greeter"])],
    targets: [
        .systemLibrary(name: "CKioskGTK", pkgConfig: "gtk4", providers: [.apt(["libgtk-4-dev"])]),
        .target(name: "Kiosk", swiftSettings: common),
        .executableTarget(
            name: "kiosk-greeter",
            dependencies: ["CKioskGTK", "Kiosk"],
            swiftSettings: common
        ),
        .testTarget(name: "KioskTests", dependencies: ["Kiosk"], swiftSettings: common),
    ]
)
