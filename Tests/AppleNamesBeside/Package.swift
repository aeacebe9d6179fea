// swift-tools-version: 6.1
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// Programs that have swift-certificates in their build, whose sources ask `#if canImport(Security)`.
let package = Package(
    name: "apple-names-beside",
    dependencies: [
        .package(name: "whorl", path: "../.."),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
    ],
    targets: [
        .executableTarget(
            name: "together",
            dependencies: [
                .product(name: "LocalAuthentication", package: "whorl"),
                .product(name: "X509", package: "swift-certificates"),
            ]
        ),
        // No file of the build imports the C module CoreFoundation, so this name needs no other one.
        .executableTarget(
            name: "core",
            dependencies: [
                .product(name: "CoreFoundation", package: "whorl"),
                .product(
                    name: "Security",
                    package: "whorl",
                    moduleAliases: ["Security": "WhorlSecurity"]
                ),
                .product(name: "X509", package: "swift-certificates"),
            ]
        ),
        // With another name in the build its sources still say `import Security`.
        .executableTarget(
            name: "both",
            dependencies: [
                .product(
                    name: "Security",
                    package: "whorl",
                    moduleAliases: ["Security": "WhorlSecurity"]
                ),
                .product(
                    name: "CryptoKit",
                    package: "whorl",
                    moduleAliases: ["CryptoKit": "WhorlCryptoKit"]
                ),
                .product(name: "X509", package: "swift-certificates"),
            ]
        ),
    ]
)
