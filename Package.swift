// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// Warnings are errors only when asked for (`WHORL_STRICT=1`, as `make check` does): a newer compiler's new
/// warning must not break the build of a program that merely depends on this package.
let strict = Context.environment["WHORL_STRICT"] != nil

/// `scripts/fuzz` sets it: libFuzzer's program is built in place of the tests that replay what it found.
let fuzzes = Context.environment["WHORL_FUZZ"] != nil
let fuzzer = "-sanitize=fuzzer,address"

let common: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ] + (strict ? [.treatAllWarnings(as: .error)] : [])
    + (fuzzes ? [.unsafeFlags([fuzzer, "-enable-testing"])] : [])

/// For modules that touch no C: every unsafe expression is an error.
let pure = common + [.strictMemorySafety(), .treatWarning("StrictMemorySafety", as: .error)]

let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let asn1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let sqlite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

/// The test targets and what they use; each has the name of its folder in `Tests`.
let tests: KeyValuePairs<String, [Target.Dependency]> = [
    "ArchitectureTests": [],
    "AuthenticationTests": [
        "Authentication", "Enrollment", "Fingerprint", "SecretMemory", "SoftwareTPM", "StateStore", "TPM",
        "Vault", "WhorlSupport", crypto, grdb,
    ],
    "BiometricLoginTests": [
        "Authentication", "AuthenticationContext", "BiometricLogin", "BiometricLoginHTTP", "Fingerprint",
        "LocalAuthenticationTesting", "LoginAssertion", "LoginServer", "LoginTransport", "SecretMemory",
        "SoftwareMachine", "SoftwareTPM", "StateStore", "Vault", "WhorlSystem", crypto, grdb,
    ],
    "CommandLineTests": [
        "Authentication", "ChildPipe", "GreyscalePNG", "LoginServer", "MainLoopProbe", "SoftwareTPM",
        "SyntheticFingers", "Vault", "whorl", "whorl-login-http",
    ],
    "EnrollmentTests": ["Enrollment", "Fingerprint", "SecretMemory", "StateStore", crypto, grdb],
    "FingerprintTests": ["Fingerprint"],
    "GLibRuntimeTests": ["CGLib", "GLibRuntime"],
    "GreyscalePNGTests": ["GreyscalePNG"],
    "KeychainTests": [
        "Authentication", "AuthenticationContext", "ChipDouble", "Enrollment", "Fingerprint", "Keychain",
        "LocalAuthentication", "SecretMemory", "SecureEnclaveKeys", "SoftwareMachine", "SoftwareTPM",
        "StateStore", "Vault", "WhorlSystem", crypto, cryptoExtras, grdb,
    ],
    "LibfprintReaderTests": [
        "BlockedPool", "CGLib", "ChildPipe", "Fingerprint", "GLibRuntime", "LibfprintReader",
        "ReaderConformance", "ReaderProbe", "SyntheticFingers", "WhorlSupport",
    ],
    "LocalAuthenticationTests": [
        "Authentication", "AuthenticationContext", "Fingerprint", "Keychain", "LocalAuthentication",
        "SecretMemory", "Vault",
    ],
    "LocalAuthenticationTestingTests": [
        "AuthenticationContext", "ChildPipe", "Fingerprint", "Keychain", "LocalAuthentication",
        "LocalAuthenticationTesting", "ReplyProbe",
    ],
    "LoginAssertionTests": ["LoginAssertion", crypto],
    "MockReaderTests": ["BlockedPool", "Fingerprint", "MockReader", "ReaderConformance"],
    "NothingLostTests": [
        "Authentication", "AuthenticationContext", "BiometricLogin", "Enrollment", "Fingerprint", "Keychain",
        "LocalAuthentication", "LoginAssertion", "SecretMemory", "SecureEnclaveKeys", "SoftwareMachine",
        "SoftwareTPM", "Vault", "WhorlSystem",
    ],
    "RelyingPartyTests": ["LoginAssertion", "RelyingParty", "RelyingPartyPostgreSQL", crypto, grdb],
    "SecretMemoryTests": ["SecretMemory"],
    "SecureEnclaveTests": [
        "Authentication", "AuthenticationContext", "ChipDouble", "LocalAuthentication", "SecureEnclaveKeys",
        "Vault", crypto,
    ],
    "StateStoreTests": ["SecretMemory", "StateStore", crypto, grdb],
    "SyntheticFingersTests": ["SyntheticFingers"],
    "TPMTests": ["BlockedPool", "SecretMemory", "SoftwareTPM", "TPM", crypto],
    "TerminalPromptTests": ["Authentication", "Fingerprint", "SecretMemory", "TerminalPrompt"],
    "VaultTests": [
        "BlockedPool", "SecretMemory", "SoftwareTPM", "StateStore", "TPM", "Vault", "WhorlSupport", crypto,
        cryptoExtras, grdb,
    ],
    "WhorlSupportTests": ["BlockedPool", "WhorlSupport"],
    "WhorlSystemTests": [
        "Authentication", "BlockedPool", "Fingerprint", "MockReader", "StateStore", "Vault", "WhorlSystem",
    ],
]

/// What reads bytes from outside (Tests/Fuzzing).
let fuzzed: [Target.Dependency] = [
    "Authentication", "BiometricLogin", "CGLib", "Enrollment", "Fingerprint", "GreyscalePNG", "Keychain",
    "LibfprintReader", "LoginAssertion", "LoginTransport", "MockReader", "SecretMemory", "StateStore",
    "SyntheticFingers", "TPM", "TerminalPrompt", "Vault", "WhorlSupport", "WhorlSystem", "whorl", crypto,
    grdb,
]

/// What the command line uses.
let program: [Target.Dependency] = [
    "Authentication", "AuthenticationContext", "BiometricLogin", "Enrollment", "Fingerprint", "GreyscalePNG",
    "LoginAssertion", "LoginTransport", "SecretMemory", "StateStore", "SyntheticFingers", "TPM",
    "TerminalPrompt", "Vault", "WhorlSupport", "WhorlSystem", arguments, crypto, logging,
]

let package = Package(
    name: "whorl",
    products: [
        .library(name: "LocalAuthentication", targets: ["LocalAuthentication"]),
        .library(name: "Keychain", targets: ["Keychain"]),
        .library(name: "SecureEnclaveKeys", targets: ["SecureEnclaveKeys"]),
        .library(name: "Security", targets: ["Security"]),
        .library(name: "CryptoKit", targets: ["CryptoKit"]),
        .library(name: "CoreFoundation", targets: ["CoreFoundation"]),
        .library(name: "LocalAuthenticationTesting", targets: ["LocalAuthenticationTesting"]),
        .library(name: "WhorlSystem", targets: ["WhorlSystem"]),
        .library(name: "Fingerprint", targets: ["Fingerprint"]),
        .library(name: "MockReader", targets: ["MockReader"]),
        .library(name: "LoginAssertion", targets: ["LoginAssertion"]),
        .library(name: "RelyingParty", targets: ["RelyingParty"]),
        .library(name: "RelyingPartyPostgreSQL", targets: ["RelyingPartyPostgreSQL"]),
        .library(name: "BiometricLogin", targets: ["BiometricLogin"]),
        .library(name: "BiometricLoginHTTP", targets: ["BiometricLoginHTTP"]),
    ]
        + (fuzzes
            ? []
            : [
                .executable(name: "whorl", targets: ["whorl"]),
                .executable(name: "whorl-login-http", targets: ["whorl-login-http"]),
            ]),
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        // C, as the system has it
        .systemLibrary(name: "CGLib", pkgConfig: "gio-2.0", providers: [.apt(["libglib2.0-dev"])]),
        .systemLibrary(name: "CFprint", pkgConfig: "libfprint-2", providers: [.apt(["libfprint-2-dev"])]),
        .systemLibrary(name: "CTSS2", pkgConfig: "tss2-esys", providers: [.apt(["libtss2-dev"])]),
        .systemLibrary(name: "CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
        .systemLibrary(name: "CPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),

        // Ground
        .target(name: "SecretMemory", swiftSettings: common),
        .target(name: "WhorlSupport", swiftSettings: common),
        .target(name: "GLibRuntime", dependencies: ["CGLib", "WhorlSupport"], swiftSettings: common),

        // The TPM
        .target(
            name: "TPM",
            dependencies: ["CTSS2", "SecretMemory", "WhorlSupport", crypto],
            swiftSettings: common
        ),

        // The reader model, and a reader made of a script
        .target(name: "Fingerprint", swiftSettings: pure),
        .target(name: "MockReader", dependencies: ["Fingerprint"], swiftSettings: pure),
        .target(
            name: "LibfprintReader",
            dependencies: ["CFprint", "CGLib", "Fingerprint", "GLibRuntime", "WhorlSupport", logging],
            swiftSettings: common
        ),

        // What is on the disk; whose fingers; who may
        .target(
            name: "StateStore",
            dependencies: ["SecretMemory", "WhorlSupport", crypto, grdb, sqlite],
            swiftSettings: common
        ),
        .target(
            name: "Enrollment",
            dependencies: ["Fingerprint", "SecretMemory", "StateStore", "WhorlSupport", crypto, grdb],
            swiftSettings: common
        ),
        .target(
            name: "Vault",
            dependencies: ["SecretMemory", "StateStore", "TPM", "WhorlSupport", crypto, cryptoExtras, grdb],
            swiftSettings: common
        ),
        .target(
            name: "Authentication",
            dependencies: [
                "Enrollment", "Fingerprint", "SecretMemory", "StateStore", "Vault", "WhorlSupport", crypto,
                grdb, logging,
            ],
            swiftSettings: common
        ),
        .target(
            name: "TerminalPrompt",
            dependencies: ["Authentication", "Fingerprint", "SecretMemory", "WhorlSupport"],
            swiftSettings: common
        ),

        // The composition root, and the faces
        .target(
            name: "WhorlSystem",
            dependencies: [
                "Authentication", "Enrollment", "Fingerprint", "LibfprintReader", "MockReader",
                "StateStore", "TPM", "TerminalPrompt", "Vault", "WhorlSupport",
            ],
            swiftSettings: common
        ),
        .target(
            name: "AuthenticationContext",
            dependencies: [
                "Authentication", "GLibRuntime", "SecretMemory", "StateStore", "Vault", "WhorlSupport",
                "WhorlSystem",
            ],
            swiftSettings: common
        ),
        .target(
            name: "Keychain",
            dependencies: [
                "Authentication", "AuthenticationContext", "SecretMemory", "StateStore", "Vault",
                "WhorlSupport", asn1,
                crypto, cryptoExtras, grdb,
            ],
            swiftSettings: common
        ),
        .target(
            name: "LocalAuthentication",
            dependencies: [
                "Authentication", "AuthenticationContext", "Fingerprint", "Keychain", "SecretMemory",
                "StateStore", "Vault", "WhorlSupport",
            ],
            swiftSettings: common
        ),

        .target(
            name: "SecureEnclaveKeys",
            dependencies: [
                "AuthenticationContext", "Keychain", "LocalAuthentication", "SecretMemory", crypto,
            ],
            swiftSettings: common
        ),

        // What an app's own tests need
        .target(
            name: "LocalAuthenticationTesting",
            dependencies: [
                "Authentication", "AuthenticationContext", "Enrollment", "Fingerprint", "MockReader",
                "SecretMemory", "StateStore", "Vault", "WhorlSupport", crypto,
            ],
            swiftSettings: common
        ),

        // Names of Apple's, for programs that import them. Nothing here depends on them: a module of this name in a build
        // makes `#if canImport(Security)` true in all packages of that build (Docs/Keys.md).
        .target(name: "Security", dependencies: ["Keychain"], swiftSettings: common),
        .target(name: "CryptoKit", dependencies: ["SecureEnclaveKeys", crypto], swiftSettings: common),
        .target(name: "CoreFoundation", dependencies: ["Keychain"], swiftSettings: common),

        // Signing in to a server: what a device says, which both sides read
        .target(name: "LoginAssertion", dependencies: [crypto], swiftSettings: pure),
        // The server's half; it needs neither a reader nor a TPM
        .target(name: "RelyingParty", dependencies: ["LoginAssertion", crypto, grdb], swiftSettings: common),
        .target(
            name: "RelyingPartyPostgreSQL",
            dependencies: ["CPQ", "LoginAssertion", "RelyingParty", "WhorlSupport"],
            swiftSettings: common
        ),

        // The device's half; the network is apart from it, so that whoever brings one of his own links no other
        .target(
            name: "LoginTransport",
            dependencies: ["LoginAssertion", "SecretMemory", "WhorlSupport"],
            swiftSettings: common
        ),
        .target(
            name: "BiometricLogin",
            dependencies: [
                "Authentication", "AuthenticationContext", "Fingerprint", "Keychain", "LoginAssertion",
                "LoginTransport", "SecretMemory", "StateStore", "Vault", "WhorlSupport", crypto,
            ],
            swiftSettings: common
        ),
        .target(
            name: "BiometricLoginHTTP",
            dependencies: ["LoginAssertion", "LoginTransport", "SecretMemory"],
            swiftSettings: common
        ),

        // Fingers that nobody has, for tests and demonstrations
        .target(name: "SyntheticFingers", swiftSettings: common),
        .target(name: "GreyscalePNG", dependencies: ["CPNG"], swiftSettings: common),

        // Programs
        // Without its entry it can be linked to the fuzzer's.
        fuzzes
            ? .target(name: "whorl", dependencies: program, exclude: ["Program.swift"], swiftSettings: common)
            : .executableTarget(name: "whorl", dependencies: program, swiftSettings: common),
        .executableTarget(
            name: "whorl-login-http",
            dependencies: [
                "BiometricLoginHTTP", "LoginAssertion", "LoginTransport", "SecretMemory", "WhorlSupport",
            ],
            swiftSettings: common
        ),

        // Tests
        .target(
            name: "ReaderConformance",
            dependencies: ["Fingerprint"],
            path: "Tests/Support/ReaderConformance",
            swiftSettings: common
        ),
        .executableTarget(
            name: "ReaderProbe",
            dependencies: ["Fingerprint", "LibfprintReader"],
            path: "Tests/Support/ReaderProbe",
            exclude: ["testbed.py"],
            swiftSettings: common
        ),
        .executableTarget(
            name: "MainLoopProbe",
            dependencies: ["CGLib", "LocalAuthentication"],
            path: "Tests/Support/MainLoopProbe",
            swiftSettings: common
        ),
        .executableTarget(
            name: "ReplyProbe",
            dependencies: ["LocalAuthentication", "LocalAuthenticationTesting"],
            path: "Tests/Support/ReplyProbe",
            swiftSettings: common
        ),
        .target(
            name: "ChipDouble",
            dependencies: ["Authentication", "Fingerprint", "SecretMemory", "Vault", crypto],
            path: "Tests/Support/ChipDouble",
            swiftSettings: common
        ),
        .target(name: "BlockedPool", path: "Tests/Support/BlockedPool", swiftSettings: common),
        .target(name: "ChildPipe", path: "Tests/Support/ChildPipe", swiftSettings: common),
        .target(
            name: "LoginServer",
            dependencies: ["ChildPipe"],
            path: "Tests/Support/LoginServer",
            exclude: ["server.py"],
            swiftSettings: common
        ),
        .target(
            name: "SoftwareMachine",
            dependencies: ["Authentication", "Enrollment", "Fingerprint", "SoftwareTPM", "WhorlSystem"],
            path: "Tests/Support/SoftwareMachine",
            swiftSettings: common
        ),
        .target(name: "SoftwareTPM", path: "Tests/Support/SoftwareTPM", swiftSettings: common),
        // `scripts/bench` runs it.
        .executableTarget(
            name: "LoginBench",
            dependencies: ["LoginAssertion", crypto],
            path: "Bench/login",
            exclude: ["client", "server"],
            swiftSettings: common
        ),
        .executableTarget(
            name: "LoginClientBench",
            dependencies: [
                "Authentication", "AuthenticationContext", "BiometricLogin", "Enrollment", "Fingerprint",
                "SecretMemory", "SoftwareMachine", "SoftwareTPM", "StateStore", "Vault", "WhorlSystem",
            ],
            path: "Bench/login/client",
            swiftSettings: common
        ),
        // `scripts/bench` runs it. In this package, since a proof that a finger matched leaves it nowhere.
        .executableTarget(
            name: "ReleaseBench",
            dependencies: ["SecretMemory", "SoftwareTPM", "StateStore", "TPM", "Vault"],
            path: "Bench/tpm",
            exclude: ["release.c", "release.sh"],
            swiftSettings: common
        ),
    ]
        + tests.map { name, dependencies in
            .testTarget(name: name, dependencies: dependencies, swiftSettings: common)
        }
        + [
            fuzzes
                ? .executableTarget(
                    name: "fuzz",
                    dependencies: fuzzed,
                    path: "Tests/Fuzzing",
                    exclude: ["Corpus", "ReplayTests.swift"],
                    swiftSettings: common,
                    linkerSettings: [.unsafeFlags([fuzzer, "-use-ld=lld"])]
                )
                : .testTarget(
                    name: "FuzzingTests",
                    dependencies: fuzzed,
                    path: "Tests/Fuzzing",
                    exclude: ["Corpus", "Driver.swift"],
                    swiftSettings: common
                )
        ]
)
