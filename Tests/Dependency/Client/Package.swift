// swift-tools-version: 6.1
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "client",
    dependencies: [.package(url: "URL", from: "VERSION", traits: [])],
    targets: [
        .executableTarget(
            name: "client",
            dependencies: [
                .product(name: "Whorl", package: "whorl"),
                .product(name: "LocalAuthentication", package: "whorl"),
            ]
        )
    ]
)
