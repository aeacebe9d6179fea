// swift-tools-version: 6.1
// SPDX-License-Identifier: Apache-2.0

// Two programs as one writes them for macOS. Nothing in their sources speaks of Linux; what does is in here.

import PackageDescription

let security = Target.Dependency.product(name: "LocalAuthentication", package: "whorl")

let package = Package(
    name: "samples",
    dependencies: [.package(name: "whorl", path: "..")],
    targets: [
        .executableTarget(name: "password-safe", dependencies: [security]),
        .executableTarget(name: "app-lock", dependencies: [security]),
    ]
)
