// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

// The hand that puts fingers on the reader, a package of its own. `scripts/bench` builds and runs it.

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
    targets: [
        .executableTarget(name: "turns", swiftSettings: settings)
    ]
)
