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

/// The first screen of a kiosk.
///
/// It uses no Whorl library: greetd and PAM prompt for the touch and decide.
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
