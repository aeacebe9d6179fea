// swift-tools-version: 6.1
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// A program that says `import Security` and `import CryptoKit`, and one that has swift-certificates in the same build.
let package = Package(
    name: "apple-names",
    dependencies: [
        .package(name: "whorl", path: "../.."),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
    ],
    targets: [
        .executableTarget(
            name: "names",
            dependencies: [
                .product(name: "Security", package: "whorl"), .product(name: "CryptoKit", package: "whorl"),
                .product(name: "LocalAuthentication", package: "whorl"),
            ]
        ),
        .executableTarget(
            name: "together",
            dependencies: [
                .product(name: "LocalAuthentication", package: "whorl"),
                .product(name: "X509", package: "swift-certificates"),
            ]
        ),
    ]
)
