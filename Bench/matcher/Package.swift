// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

// A package of its own, so that the benchmark builds the synthetic fingers and nothing else of Whorl.

import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "matcher-bench",
    targets: [
        // Sources/SyntheticFingers is a link to the folder in the main package.
        .target(name: "SyntheticFingers", swiftSettings: settings),
        .executableTarget(name: "presses", dependencies: ["SyntheticFingers"], swiftSettings: settings),
    ]
)
