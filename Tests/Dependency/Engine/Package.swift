// swift-tools-version: 6.1
// SPDX-License-Identifier: Apache-2.0

// Programs that depend on a released version. On a Mac, where LocalAuthentication is the system's, the same manifest
// links nothing of Whorl's.

import PackageDescription

func whorl(_ product: String) -> Target.Dependency {
    .product(name: product, package: "whorl", condition: .when(platforms: [.linux]))
}

let package = Package(
    name: "consumer",
    dependencies: [.package(url: "URL", from: "VERSION")],
    targets: [
        .executableTarget(name: "open-vault", dependencies: [whorl("LocalAuthentication")]),
        .executableTarget(name: "deploy", dependencies: [whorl("Whorl")]),
        .executableTarget(
            name: "sign-in",
            dependencies: [whorl("BiometricLogin"), whorl("BiometricLoginHTTP")]
        ),
        .testTarget(
            name: "SafeTests",
            dependencies: [whorl("LocalAuthentication"), whorl("LocalAuthenticationTesting")]
        ),
    ]
)
