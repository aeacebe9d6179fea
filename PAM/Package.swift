// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// `make pam` sets it for the module that is installed: Embedded Swift, which needs no runtime.
///
/// Without it the same sources are ordinary Swift, for the tests.
let ships = Context.environment["WHORL_PAM_SHIPS"] != nil
/// `PAM/fuzz` sets it: libFuzzer's program is built in place of the tests.
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

/// The PAM module's package, of its own, since it is built in another dialect and depends on nothing.
let package = Package(
    name: "pam-whorl",
    products: [.library(name: "pam_whorl", type: .dynamic, targets: ["PamWhorl"])],
    targets: [
        .systemLibrary(name: "CPAM"),
        // The folder Wire is a part of the library for C too, which is another package.
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
