// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

// A package of its own, which uses Whorl as any program would.

import PackageDescription

let package = Package(
    name: "keychain-bench",
    dependencies: [
        // Named, since the folder of a clone may have any name.
        .package(name: "whorl", path: "../.."),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .executableTarget(
            name: "keychain",
            dependencies: [
                .product(name: "LocalAuthentication", package: "whorl"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6)]
        )
    ]
)
