// swift-tools-version: 6.1
// SPDX-License-Identifier: Apache-2.0

// Programs as they would be written for macOS. The sources of the first two contain nothing specific to Linux, only
// this manifest does. The third signs in to a server with a touch.

import PackageDescription

// On a Mac, LocalAuthentication is the system's.
let security = Target.Dependency.product(
    name: "LocalAuthentication",
    package: "whorl",
    condition: .when(platforms: [.linux])
)

let login = [
    Target.Dependency.product(name: "BiometricLogin", package: "whorl"),
    Target.Dependency.product(name: "BiometricLoginHTTP", package: "whorl"),
]

let package = Package(
    name: "samples",
    dependencies: [.package(name: "whorl", path: "..")],
    targets: [
        .executableTarget(name: "password-safe", dependencies: [security]),
        .executableTarget(name: "app-lock", dependencies: [security]),
        .executableTarget(name: "bank", dependencies: login, swiftSettings: [.swiftLanguageMode(.v6)]),
    ]
)
