// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// Warnings are errors only when asked for (`WHORL_STRICT=1`, as `make check` does): a newer compiler's new
/// warning must not break the build of a program that merely depends on this package.
let strict = Context.environment["WHORL_STRICT"] != nil

/// `scripts/fuzz` sets it: libFuzzer's program is built in place of the tests that replay what it found.
let fuzzes = Context.environment["WHORL_FUZZ"] != nil
let fuzzer = "-sanitize=fuzzer,address"

/// `make bench` sets it: the programs that measure are of no use to anyone else.
let measures = Context.environment["WHORL_BENCH"] != nil

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
        "WhorlEngine", "WhorlEnrollment", "WhorlFingerprint", "SecretMemory", "SoftwareTPM", "StateStore",
        "WhorlTPM", "WhorlVault", "WhorlService", "WhorlSupport", crypto, grdb,
    ],
    "BiometricLoginTests": [
        "FacesOverSocket", "WhorlEngine", "AuthenticationContext", "BiometricLogin", "BiometricLoginHTTP",
        "WhorlEnrollment", "WhorlFingerprint", "LocalAuthenticationTesting", "LoginAssertion", "LoginServer",
        "LoginTransport", "RelyingParty", "SecretMemory", "SoftwareMachine", "SoftwareTPM", "StateStore",
        "WhorlVault", "WhorlService", "WhorlSystem", crypto, grdb,
    ],
    "CommandLineTests": [
        "WhorlEngine", "ChildPipe", "WhorlFingerprint", "GreyscalePNG", "LoginServer", "MainLoopProbe",
        "SecretMemory", "SeededGenerator", "SoftwareMachine", "SoftwareTPM", "SyntheticFingers", "WhorlVault",
        "whorl", "whorl-login-http", "whorl-simulate", "WhorlService", "WhorlSystem",
    ],
    "EnrollmentTests": [
        "WhorlEnrollment", "WhorlFingerprint", "SecretMemory", "StateStore", "WhorlService", crypto, grdb,
    ],
    "FingerprintTests": ["WhorlFingerprint"],
    "GLibRuntimeTests": ["CGLib", "GLibRuntime"],
    "KeychainTests": [
        "FacesOverSocket", "WhorlEngine", "AuthenticationContext", "ChildPipe", "ChipDouble", "IdiomProbe",
        "KeychainIdioms", "WhorlEnrollment", "WhorlFingerprint", "KeychainServices", "KeychainRows",
        "LocalAuthentication", "LocalAuthenticationPrompts", "SecretMemory", "SecureEnclaveKeys",
        "SoftwareMachine", "SoftwareTPM", "StateStore", "WhorlVault", "WhorlService", "WhorlSystem", crypto,
        cryptoExtras, grdb,
    ],
    "LibfprintReaderTests": [
        "BlockedPool", "CGLib", "ChildPipe", "WhorlFingerprint", "GLibRuntime", "LibfprintReader",
        "ReaderConformance", "ReaderProbe", "SyntheticFingers", "WhorlSupport",
    ],
    "LocalAuthenticationTests": [
        "FacesOverSocket", "WhorlEngine", "AuthenticationContext", "WhorlFingerprint", "KeychainServices",
        "LocalAuthentication", "LocalAuthenticationPrompts", "SecretMemory", "WhorlVault", "WhorlService",
    ],
    "LocalAuthenticationTestingTests": [
        "FacesOverSocket", "AuthenticationContext", "ChildPipe", "WhorlFingerprint", "KeychainServices",
        "LocalAuthentication", "LocalAuthenticationTesting", "PretendedSystem", "ReplyProbe", "WhorlService",
    ],
    "LoginAssertionTests": ["LoginAssertion", crypto],
    "MockReaderTests": ["BlockedPool", "WhorlFingerprint", "MockReader", "ReaderConformance"],
    "NothingLostTests": [
        "ChildPipe", "WhorlFingerprint", "KeepingProbe", "KeptThings", "KeychainServices", "SeededGenerator",
        "SoftwareTPM",
    ],
    "RelyingPartyTests": [
        "ChildPipe", "LoginAssertion", "RelyingParty", "SoftwareTPM", crypto, cryptoExtras, grdb,
    ],
    "SecretMemoryTests": ["SecretMemory"],
    "SecureEnclaveTests": [
        "FacesOverSocket", "WhorlEngine", "AuthenticationContext", "ChipDouble", "LocalAuthentication",
        "SecureEnclaveKeys", "WhorlVault", "WhorlService", crypto,
    ],
    "StateStoreTests": ["SecretMemory", "StateStore", "WhorlService", crypto, grdb],
    "SyntheticFingersTests": ["SyntheticFingers"],
    "TPMTests": ["BlockedPool", "SecretMemory", "SoftwareTPM", "WhorlTPM", crypto],
    "TerminalPromptTests": [
        "WhorlEngine", "WhorlFingerprint", "SecretMemory", "TerminalPrompt", "WhorlService",
    ],
    "VaultTests": [
        "BlockedPool", "SecretMemory", "SoftwareTPM", "StateStore", "WhorlTPM", "WhorlVault", "WhorlService",
        "WhorlSupport", crypto, cryptoExtras, grdb,
    ],
    "WhorlSupportTests": ["BlockedPool", "WhorlSupport"],
    "WhorlCallersTests": [
        "SecretMemory", "WhorlCallers", "WhorlIPC", "WhorlRemote", "WhorlService", "WhorlSystem",
    ],
    "WhorlConfigurationTests": [
        "whorld", "WhorlConfiguration", "WhorlRemote", "WhorlService", "WhorlSupport",
    ],
    "WhorlFprintTests": ["WhorlCallers", "WhorlFingerprint", "WhorlFprint", "WhorlService"],
    "WhorlIPCTests": ["CSocket", "SecretMemory", "WhorlIPC", "WhorlSupport"],
    "WhorlRemoteTests": [
        "FacesOverSocket", "AuthenticationContext", "CSocket", "WhorlFingerprint", "KeychainServices",
        "LocalAuthentication", "LibfprintReader", "LoginManager", "SecretMemory", "SoftwareMachine",
        "SoftwareTPM", "WhorlIPC", "WhorlRemote", "WhorlService", "WhorlSupport", "WhorlSystem",
    ],
    "WhorlSystemTests": [
        "WhorlEngine", "BlockedPool", "GLibRuntime", "LoginManager", "WhorlFingerprint", "MockReader",
        "SecretMemory", "SoftwareMachine", "SoftwareTPM", "StateStore", "WhorlVault", "WhorlService",
        "WhorlSystem",
    ],
]

/// What reads bytes from outside (Tests/Fuzzing).
let fuzzed: [Target.Dependency] = [
    "WhorlEngine", "BiometricLogin", "CGLib", "WhorlEnrollment", "WhorlFingerprint", "KeychainServices",
    "KeychainRows", "LibfprintReader", "LoginAssertion", "LoginTransport", "MockReader", "RelyingParty",
    "SecretMemory", "StateStore", "SyntheticFingers", "TerminalPrompt", "WhorlTPM", "WhorlVault", "whorl",
    "WhorlCallers", "WhorlConfiguration", "WhorlIPC", "WhorlRemote", "WhorlService", "WhorlSupport",
    "WhorlSystem", crypto, grdb,
]

/// What the command line uses.
let commandLine: [Target.Dependency] = [
    "AuthenticationContext", "BiometricLogin", "GLibRuntime", "WhorlFingerprint", "LoginAssertion",
    "LoginTransport", "SecretMemory", "TerminalPrompt", "WhorlConfiguration", "WhorlRemote", "WhorlService",
    "WhorlSupport", "WhorlSystem", arguments, crypto, logging,
]

/// A target and its floor: it lies in `Sources/FLOOR/NAME`.
typealias Part = (_ floor: String) -> Target

func library(
    _ name: String,
    uses: [Target.Dependency] = [],
    resources: [Resource]? = nil,
    settings: [SwiftSetting] = common
) -> Part {
    {
        .target(
            name: name,
            dependencies: uses,
            path: "Sources/\($0)/\(name)",
            resources: resources,
            swiftSettings: settings
        )
    }
}

func program(_ name: String, uses: [Target.Dependency]) -> Part {
    {
        .executableTarget(
            name: name,
            dependencies: uses,
            path: "Sources/\($0)/\(name)",
            swiftSettings: common
        )
    }
}

func system(_ name: String, pkgConfig: String? = nil, package: String? = nil) -> Part {
    {
        .systemLibrary(
            name: name,
            path: "Sources/\($0)/\(name)",
            pkgConfig: pkgConfig,
            providers: package.map { [.apt([$0])] }
        )
    }
}

/// The command line without its entry, which can be linked to the fuzzer's.
let fuzzedProgram: Part = {
    .target(
        name: "whorl",
        dependencies: commandLine,
        path: "Sources/\($0)/whorl",
        exclude: ["Program.swift"],
        swiftSettings: common
    )
}

/// The engine, without which programs ask the system's service alone.
let engine = Target.Dependency.target(name: "WhorlSystem", condition: .when(traits: ["Engine"]))

/// The house, from the ground up: a target uses only targets of its own floor and of those below.
///
/// This is the one list of them: `Tests/ArchitectureTests` holds imports against it and draws the picture in
/// Docs/Architecture.md from it.
let house: KeyValuePairs<String, [Part]> = [
    "Ground/C": [
        system("CGLib", pkgConfig: "gio-2.0", package: "libglib2.0-dev"),
        system("CFprint", pkgConfig: "libfprint-2", package: "libfprint-2-dev"),
        system("CTSS2", pkgConfig: "tss2-esys", package: "libtss2-dev"),
        system("CSocket"),
    ],
    "Ground": [
        library("SecretMemory", uses: [crypto]),
        library("WhorlSupport"),
    ],
    "Fixtures": [
        // Fingers that no person has, for tests and demonstrations.
        library("SyntheticFingers")
    ],
    "Hardware": [
        library("WhorlFingerprint", settings: pure),
        library("MockReader", uses: ["WhorlFingerprint"], settings: pure),
        library("GLibRuntime", uses: ["CGLib", "WhorlSupport"]),
        library("LoginManager", uses: ["GLibRuntime", "WhorlSupport"]),
        library(
            "LibfprintReader",
            uses: ["CFprint", "CGLib", "WhorlFingerprint", "GLibRuntime", "WhorlSupport", logging]
        ),
        library("WhorlTPM", uses: ["CTSS2", "SecretMemory", "WhorlSupport", crypto]),
    ],
    "Wall": [
        library("WhorlService", uses: ["WhorlFingerprint", "SecretMemory", "WhorlSupport", crypto])
    ],
    "State": [
        library("StateStore", uses: ["SecretMemory", "WhorlService", "WhorlSupport", crypto, grdb, sqlite]),
        library(
            "WhorlEnrollment",
            uses: [
                "WhorlFingerprint", "SecretMemory", "StateStore", "WhorlService", "WhorlSupport", crypto,
                grdb,
            ]
        ),
        library(
            "WhorlVault",
            uses: [
                "SecretMemory", "StateStore", "WhorlTPM", "WhorlService", "WhorlSupport", crypto,
                cryptoExtras, grdb,
            ]
        ),
        library("KeychainRows", uses: ["GLibRuntime", "StateStore", "WhorlService", "WhorlSupport", grdb]),
    ],
    "Service": [
        library(
            "WhorlEngine",
            uses: [
                "WhorlEnrollment", "WhorlFingerprint", "SecretMemory", "StateStore", "WhorlVault",
                "WhorlService", "WhorlSupport", crypto, grdb, logging,
            ]
        ),
        library("WhorlIPC", uses: ["CSocket", "SecretMemory", "WhorlSupport"]),
        // The wall over a socket: the client's half and the service's, without the engine.
        library(
            "WhorlRemote",
            uses: ["WhorlFingerprint", "SecretMemory", "WhorlIPC", "WhorlService", "WhorlSupport"],
            resources: [
                "", ".Agent", ".Fingers", ".Items", ".Keychain", ".Keyring", ".Login", ".Maintenance",
                ".Owner",
                ".Passcode", ".Prompt", ".Readers",
            ].map {
                .embedInCode("Interface/Varlink/io.whorl\($0).varlink")
            }
        ),
        // The programs that ask the system's service: their sessions, their confinement, the system's rules for them.
        library(
            "WhorlCallers",
            uses: ["GLibRuntime", "WhorlIPC", "WhorlRemote", "WhorlService", "WhorlSupport"]
        ),
        // fprintd's interface on the system's D-Bus, which only the service links.
        library(
            "WhorlFprint",
            uses: [
                "GLibRuntime", "LibfprintReader", "WhorlCallers", "WhorlFingerprint", "WhorlIPC",
                "WhorlService", "WhorlSupport", "WhorlSystem",
            ]
        ),
        // The administrator's file, which the service takes and `whorl doctor` checks.
        library("WhorlConfiguration", uses: ["GLibRuntime", "WhorlRemote", "WhorlService", "WhorlSupport"]),
        library(
            "WhorlSystem",
            uses: [
                "GLibRuntime", "WhorlEngine", "WhorlEnrollment", "WhorlFingerprint", "KeychainRows",
                "LibfprintReader", "LoginManager", "MockReader", "SecretMemory", "StateStore", "WhorlTPM",
                "WhorlVault", "WhorlIPC", "WhorlRemote", "WhorlService", "WhorlSupport",
            ]
        ),
        // The root of a machine that a test makes up: no program links it without asking.
        library(
            "PretendedSystem",
            uses: [
                "WhorlEngine", "WhorlEnrollment", "WhorlFingerprint", "KeychainRows", "MockReader",
                "SecretMemory", "StateStore", "WhorlVault", "WhorlService", "WhorlSupport", crypto,
            ]
        ),
    ],
    "Faces": [
        library(
            "TerminalPrompt",
            uses: ["WhorlFingerprint", "SecretMemory", "WhorlService", "WhorlSupport"]
        ),
        library(
            "AuthenticationContext",
            uses: [
                "GLibRuntime", "SecretMemory", "TerminalPrompt", "WhorlRemote", "WhorlService",
                "WhorlSupport", engine,
            ]
        ),
        library(
            "KeychainServices",
            uses: [
                "AuthenticationContext", "SecretMemory", "WhorlService", "WhorlSupport", asn1, crypto,
                cryptoExtras,
            ]
        ),
        library(
            "LocalAuthentication",
            uses: [
                "AuthenticationContext", "GLibRuntime", "KeychainServices", "SecretMemory", "WhorlService",
                "WhorlSupport",
            ]
        ),
        // The names that a program needs to show the prompt itself; they are not Apple's.
        library(
            "LocalAuthenticationPrompts",
            uses: ["AuthenticationContext", "LocalAuthentication", "WhorlFingerprint", "WhorlService"]
        ),
        library(
            "SecureEnclaveKeys",
            uses: [
                "AuthenticationContext", "GLibRuntime", "KeychainServices", "LocalAuthentication",
                "SecretMemory", crypto,
            ]
        ),
        // Apple's names, for programs that import them. No target depends on them: a module of this name in a build
        // makes `#if canImport(Security)` true in all packages of that build (Docs/Keys.md).
        library("Security", uses: ["KeychainServices"]),
        library("CryptoKit", uses: ["SecureEnclaveKeys", crypto]),
        library("CoreFoundation", uses: ["KeychainServices"]),
        library(
            "LocalAuthenticationTesting",
            uses: [
                "AuthenticationContext", "WhorlFingerprint", "GLibRuntime", "MockReader", "PretendedSystem",
                "SecretMemory", "WhorlService",
            ]
        ),
    ],
    "Login": [
        library("LoginAssertion", uses: ["WhorlSupport", crypto], settings: pure),
        // The network is a module of its own: a program that brings another one does not link it.
        library("LoginTransport", uses: ["LoginAssertion", "SecretMemory", "WhorlSupport"]),
        library(
            "BiometricLogin",
            uses: [
                "AuthenticationContext", "WhorlFingerprint", "KeychainServices", "LoginAssertion",
                "LoginTransport", "SecretMemory", "WhorlService", "WhorlSupport", crypto,
            ]
        ),
        library("BiometricLoginHTTP", uses: ["LoginAssertion", "LoginTransport", "SecretMemory"]),
        // The server's half needs neither a reader nor a TPM.
        library("RelyingParty", uses: ["LoginAssertion", "WhorlSupport", crypto, cryptoExtras, grdb]),
    ],
    "Programs": [
        fuzzes ? fuzzedProgram : program("whorl", uses: commandLine),
        program(
            "whorld",
            uses: [
                "GLibRuntime", "LoginManager", "WhorlCallers", "WhorlConfiguration", "WhorlFingerprint",
                "WhorlFprint", "WhorlIPC", "WhorlRemote", "WhorlService", "WhorlSupport", "WhorlSystem",
                arguments,
            ]
        ),
        // The finger in front of libfprint's virtual reader, for tests and demonstrations.
        program("whorl-simulate", uses: ["SyntheticFingers", "WhorlSupport", arguments]),
        program(
            "whorl-login-http",
            uses: ["BiometricLoginHTTP", "LoginAssertion", "LoginTransport", "SecretMemory", "WhorlSupport"]
        ),
    ],
]

/// Libraries that tests share.
func helper(_ name: String, uses: [Target.Dependency] = [], exclude: [String] = []) -> Target {
    .target(
        name: name,
        dependencies: uses,
        path: "Tests/Support/\(name)",
        exclude: exclude,
        swiftSettings: common
    )
}

/// Programs that tests start.
func probe(_ name: String, uses: [Target.Dependency], exclude: [String] = []) -> Target {
    .executableTarget(
        name: name,
        dependencies: uses,
        path: "Tests/Support/\(name)",
        exclude: exclude,
        swiftSettings: common
    )
}

let helpers: [Target] = [
    helper("BlockedPool"),
    helper("ChildPipe"),
    helper(
        "ChipDouble",
        uses: ["WhorlEngine", "WhorlFingerprint", "SecretMemory", "WhorlVault", "WhorlService", crypto]
    ),
    // Recorded pictures of libfprint are PNG files.
    .systemLibrary(name: "CPNG", path: "Tests/Support/CPNG"),
    helper("GreyscalePNG", uses: ["CPNG"]),
    helper(
        "FacesOverSocket",
        uses: ["AuthenticationContext", "WhorlIPC", "WhorlRemote", "WhorlService", "WhorlSystem"]
    ),
    // fprintd's interface with fprintd's own calls of libfprint, for fprintd's tests (scripts/test-fprintd).
    probe(
        "FprintdProgram",
        uses: [
            "CFprint", "CGLib", "GLibRuntime", "LibfprintReader", "LoginManager", "WhorlCallers",
            "WhorlFingerprint", "WhorlFprint", "WhorlSupport", "WhorlSystem",
        ]
    ),
    probe("IdiomProbe", uses: ["KeychainIdioms", "LocalAuthentication"]),
    probe("KeepingProbe", uses: ["KeptThings"]),
    helper(
        "KeptThings",
        uses: [
            "WhorlEngine", "AuthenticationContext", "BiometricLogin", "FacesOverSocket", "WhorlEnrollment",
            "WhorlFingerprint", "KeychainServices", "LocalAuthentication", "LoginAssertion", "SecretMemory",
            "SecureEnclaveKeys", "SoftwareMachine", "WhorlVault", "WhorlService", "WhorlSystem",
        ]
    ),
    helper("KeychainIdioms", uses: ["LocalAuthentication"]),
    helper("LoginServer", uses: ["ChildPipe"], exclude: ["server.py"]),
    probe("MainLoopProbe", uses: ["CGLib", "LocalAuthentication"]),
    helper("ReaderConformance", uses: ["WhorlFingerprint"]),
    probe("ReaderProbe", uses: ["WhorlFingerprint", "LibfprintReader"], exclude: ["testbed.py"]),
    probe("ReplyProbe", uses: ["LocalAuthentication", "LocalAuthenticationTesting"]),
    helper("SeededGenerator"),
    helper(
        "SoftwareMachine",
        uses: [
            "WhorlEngine", "WhorlEnrollment", "WhorlFingerprint", "SoftwareTPM", "WhorlService",
            "WhorlSystem",
        ]
    ),
    helper("SoftwareTPM", uses: ["ChildPipe"]),
]

/// A program that `scripts/bench` runs; it is here because it uses what no product exports.
func bench(_ name: String, in folder: String, uses: [Target.Dependency], exclude: [String] = []) -> Target {
    .executableTarget(
        name: name,
        dependencies: uses,
        path: "Bench/\(folder)",
        exclude: exclude,
        swiftSettings: common
    )
}

let benches: [Target] = [
    bench("LoginBench", in: "login", uses: ["LoginAssertion", crypto], exclude: ["client", "server"]),
    bench(
        "LoginClientBench",
        in: "login/client",
        uses: [
            "WhorlEngine", "AuthenticationContext", "BiometricLogin", "WhorlEnrollment", "WhorlFingerprint",
            "SecretMemory", "SoftwareMachine", "SoftwareTPM", "StateStore", "WhorlVault", "WhorlSystem",
        ]
    ),
    .target(name: "CObjectCount", dependencies: ["CGLib"], path: "Bench/latency/CObjectCount"),
    bench(
        "LatencySubject",
        in: "latency/subject",
        uses: [
            "WhorlEngine", "CObjectCount", "GLibRuntime", "WhorlEnrollment", "WhorlFingerprint",
            "WhorlService", "WhorlSystem",
        ]
    ),
    bench(
        "ServiceBench",
        in: "service",
        uses: [
            "GLibRuntime", "SyntheticFingers", "WhorlFingerprint", "WhorlRemote", "WhorlService",
            "WhorlSystem",
        ],
        exclude: ["activate.c"]
    ),
    bench(
        "EnrollmentBench",
        in: "enrollment",
        uses: ["LibfprintReader", "SyntheticFingers", "WhorlFingerprint"]
    ),
    bench(
        "ReleaseBench",
        in: "tpm",
        uses: ["SecretMemory", "SoftwareTPM", "StateStore", "WhorlTPM", "WhorlVault"],
        exclude: ["release.c", "release.sh"]
    ),
]

let package = Package(
    name: "whorl",
    products: [
        .library(name: "LocalAuthentication", targets: ["LocalAuthentication"]),
        .library(name: "LocalAuthenticationPrompts", targets: ["LocalAuthenticationPrompts"]),
        .library(name: "KeychainServices", targets: ["KeychainServices"]),
        .library(name: "SecureEnclaveKeys", targets: ["SecureEnclaveKeys"]),
        .library(name: "Security", targets: ["Security"]),
        .library(name: "CryptoKit", targets: ["CryptoKit"]),
        .library(name: "CoreFoundation", targets: ["CoreFoundation"]),
        .library(name: "LocalAuthenticationTesting", targets: ["LocalAuthenticationTesting"]),
        .library(name: "WhorlSystem", targets: ["WhorlSystem"]),
        .library(name: "WhorlFingerprint", targets: ["WhorlFingerprint"]),
        .library(name: "MockReader", targets: ["MockReader"]),
        // What an agent of a desktop needs: the service, and the vocabulary of a prompt.
        .library(
            name: "PromptAgent",
            targets: ["SecretMemory", "WhorlFingerprint", "WhorlRemote", "WhorlService", "WhorlSupport"]
        ),
        .library(name: "LoginAssertion", targets: ["LoginAssertion"]),
        .library(name: "RelyingParty", targets: ["RelyingParty"]),
        .library(name: "BiometricLogin", targets: ["BiometricLogin"]),
        .library(name: "BiometricLoginHTTP", targets: ["BiometricLoginHTTP"]),
    ]
        + (fuzzes
            ? []
            : [
                .executable(name: "whorl", targets: ["whorl"]),
                .executable(name: "whorl-login-http", targets: ["whorl-login-http"]),
                .executable(name: "whorl-simulate", targets: ["whorl-simulate"]),
                .executable(name: "whorld", targets: ["whorld"]),
            ]),
    traits: [
        .trait(
            name: "Engine",
            description:
                "Programs answer themselves where no service is installed; needs libfprint, tpm2-tss and SQLite."
        ),
        .default(enabledTraits: ["Engine"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: house.flatMap { floor, parts in parts.map { $0(floor) } }
        + helpers + (measures ? benches : [])
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
