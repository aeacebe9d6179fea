// swift-tools-version: 6.1
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "consumer",
    dependencies: [.package(name: "whorl", path: "../..")],
    targets: [
        .executableTarget(
            name: "consumer",
            dependencies: [.product(name: "LocalAuthentication", package: "whorl")]
        )
    ]
)
