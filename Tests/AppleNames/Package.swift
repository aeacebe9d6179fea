// swift-tools-version: 5.9
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// Programs as one writes them for Apple's systems. The first line decides the language mode: 5.9 stands for Swift 5, and
// scripts/check-apple-names builds `idioms` a second time with 6.0, which stands for Swift 6.
let apple: [Target.Dependency] = [
    .product(name: "Security", package: "whorl"), .product(name: "CryptoKit", package: "whorl"),
    .product(name: "LocalAuthentication", package: "whorl"),
]
let core = Target.Dependency.product(name: "CoreFoundation", package: "whorl")
let testing = Target.Dependency.product(name: "LocalAuthenticationTesting", package: "whorl")

let package = Package(
    name: "apple-names",
    dependencies: [.package(name: "whorl", path: "../..")],
    targets: [
        .executableTarget(name: "names", dependencies: apple),
        .executableTarget(name: "core", dependencies: apple + [core]),
        .executableTarget(
            name: "foundation",
            dependencies: apple,
            swiftSettings: [
                .unsafeFlags(["-Xfrontend", "-import-module", "-Xfrontend", "LocalAuthentication"])
            ]
        ),
        .executableTarget(name: "idioms", dependencies: apple + [testing]),
        .executableTarget(name: "swift5", dependencies: apple + [testing]),
    ]
)
