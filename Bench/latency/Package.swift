// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

// A package of its own, which uses Whorl as any program would. `scripts/bench` builds and runs it.

import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "latency-bench",
    dependencies: [
        // Named, since the folder of a clone may have any name.
        .package(name: "whorl", path: "../..")
    ],
    targets: [
        .systemLibrary(name: "CGIO", pkgConfig: "gio-2.0"),
        .target(name: "CObjectCount", dependencies: ["CGIO"]),
        .executableTarget(
            name: "subject",
            dependencies: [
                "CObjectCount",
                .product(name: "Fingerprint", package: "whorl"),
                .product(name: "WhorlSystem", package: "whorl"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(name: "turns", swiftSettings: settings),
    ]
)
