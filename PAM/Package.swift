// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// Whether to build the installed module in Embedded Swift, which requires no runtime.
///
/// `make pam` sets it.
///
/// Otherwise, the same sources are built as ordinary Swift for the tests.
let ships = Context.environment["WHORL_PAM_SHIPS"] != nil
/// Whether to build libFuzzer's program instead of the tests.
///
/// `PAM/fuzz` sets it.
let fuzzes = Context.environment["WHORL_FUZZ"] != nil
let fuzzer = "-sanitize=fuzzer,address"

let swift: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6), .strictMemorySafety(), .treatAllWarnings(as: .error),
        .enableUpcomingFeature("InternalImportsByDefault"),
    ]
    + (ships
        ? [
            .enableExperimentalFeature("Embedded"),
            .unsafeFlags([
                "-Osize", "-Xfrontend", "-function-sections", "-Xcc", "-fno-asynchronous-unwind-tables",
                "-Xcc",
                "-fno-unwind-tables",
            ]),
        ]
        : [])
    + (fuzzes ? [.unsafeFlags([fuzzer, "-enable-testing"])] : [])

let exports = "\(Context.packageDirectory)/exports.map"
let linker: [LinkerSetting] =
    [.linkedLibrary("pam")]
    + (ships
        ? [
            .unsafeFlags(
                [
                    "-use-ld=lld", "-Xlinker", "--version-script=\(exports)", "-Xlinker", "-s", "-Xlinker",
                    "--gc-sections", "-Xlinker", "--icf=all",
                ] + ["now", "relro", "defs", "noexecstack"].flatMap { ["-Xlinker", "-z", "-Xlinker", $0] }
            )
        ] : [])

/// The PAM module.
///
/// It is a separate package because it is built in a different dialect and has no dependencies.
let package = Package(
    name: "pam-whorl",
    products: [.library(name: "pam_whorl", type: .dynamic, targets: ["PamWhorl"])],
    targets: [
        .systemLibrary(name: "CPAM"),
        // The folder Wire is also part of the C library, which is another package.
        .target(
            name: "PamWhorl",
            dependencies: ["CPAM"],
            path: "Sources",
            exclude: ["CPAM"],
            sources: ["PamWhorl", "Wire"],
            swiftSettings: swift,
            linkerSettings: linker
        ),
    ]
        + (fuzzes
            ? [
                .executableTarget(
                    name: "FuzzReplies",
                    dependencies: ["PamWhorl"],
                    path: "Tests/FuzzReplies",
                    swiftSettings: swift,
                    linkerSettings: [.unsafeFlags([fuzzer, "-use-ld=lld"])]
                )
            ]
            : [
                .testTarget(
                    name: "PamWhorlTests",
                    dependencies: ["PamWhorl"],
                    swiftSettings: [.swiftLanguageMode(.v6)]
                )
            ])
)
