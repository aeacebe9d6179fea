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

/// The parts of other packages, by the names that they have in the lists below.
let foreign: [String: Target.Dependency] = [
    "crypto": .product(name: "Crypto", package: "swift-crypto"),
    "cryptoExtras": .product(name: "CryptoExtras", package: "swift-crypto"),
    "asn1": .product(name: "SwiftASN1", package: "swift-asn1"),
    "grdb": .product(name: "GRDB", package: "GRDB.swift"),
    "logging": .product(name: "Logging", package: "swift-log"),
    "arguments": .product(name: "ArgumentParser", package: "swift-argument-parser"),
    // The engine, without which programs ask the system's service alone.
    "engine": .target(name: "WhorlSystem", condition: .when(traits: ["Engine"])),
]

/// Returns the dependencies that a list of names means.
func parts(_ names: String) -> [Target.Dependency] {
    names.split(separator: " ").map { foreign[String($0)] ?? .target(name: String($0)) }
}

/// The test targets and what they use; each has the name of its folder in `Tests`.
let tests: KeyValuePairs<String, String> = [
    "ArchitectureTests": "",
    "AuthenticationTests": """
    WhorlEngine WhorlEnrollment WhorlFingerprint WhorlSecretMemory WhorlSecretHash SoftwareTPM WhorlStateStore \
    WhorlTPM WhorlVault WhorlService WhorlSupport crypto WhorlSQLite
    """,
    "BiometricLoginTests": """
    FacesOverSocket WhorlEngine WhorlContext BiometricLogin BiometricLoginHTTP WhorlLogin WhorlEnrollment \
    WhorlFingerprint LocalAuthenticationTesting LoginAssertion LoginServer LoginTransport \
    RelyingParty WhorlSecretMemory SoftwareMachine SoftwareTPM WhorlStateStore WhorlVault \
    WhorlService WhorlSystem crypto WhorlSQLite
    """,
    "CommandLineTests": """
    WhorlEngine ChildPipe WhorlFingerprint GrayscalePNG LoginServer LoginTransport MainLoopProbe \
    WhorlSecretMemory SeededGenerator SoftwareMachine SoftwareTPM SyntheticFingers WhorlVault \
    whorl whorl-login-http whorl-simulate whorld WhorlRemote WhorlService WhorlSystem WhorlUSB
    """,
    "EnrollmentTests":
        "WhorlEnrollment WhorlFingerprint WhorlSecretMemory WhorlStateStore WhorlService crypto WhorlSQLite",
    "FingerprintTests": "WhorlFingerprint",
    "GLibRuntimeTests": "CWhorlGLib CWhorlSocket ChildPipe WhorlGLib WhorlSupport",
    "KeychainTests": """
    FacesOverSocket WhorlEngine WhorlContext ChildPipe PretendedChip IdiomProbe KeychainIdioms \
    WhorlEnrollment WhorlFingerprint KeychainServices WhorlStateStore LocalAuthentication \
    LocalAuthenticationPrompts WhorlSecretMemory SecureEnclaveKeys SoftwareMachine SoftwareTPM \
    WhorlVault WhorlService WhorlSystem crypto cryptoExtras WhorlSQLite
    """,
    "LibfprintReaderTests": """
    BlockedPool CWhorlGLib CWhorlSocket ChildPipe WhorlFingerprint WhorlGLib WhorlLibfprint WhorlUSB \
    ReaderConformance ReaderProbe SyntheticFingers WhorlSupport
    """,
    "LocalAuthenticationTests": """
    FacesOverSocket WhorlEngine WhorlContext WhorlFingerprint KeychainServices LocalAuthentication \
    LocalAuthenticationPrompts WhorlSecretMemory WhorlVault WhorlService
    """,
    "LocalAuthenticationTestingTests": """
    FacesOverSocket WhorlContext ChildPipe WhorlFingerprint KeychainServices LocalAuthentication \
    LocalAuthenticationTesting ReplyProbe WhorlService
    """,
    "LoginAssertionTests": "LoginAssertion crypto",
    "MockReaderTests": "BlockedPool WhorlFingerprint MockReader ReaderConformance",
    "ItemDurabilityTests": """
    ChildPipe WhorlFingerprint KeepingProbe KeptThings KeychainServices SeededGenerator \
    SoftwareTPM
    """,
    "RelyingPartyTests": "ChildPipe LoginAssertion RelyingParty SoftwareTPM crypto cryptoExtras grdb",
    "SecretMemoryTests": "WhorlSecretMemory",
    "SecureEnclaveTests": """
    FacesOverSocket WhorlEngine WhorlContext PretendedChip LocalAuthentication SecureEnclaveKeys \
    WhorlVault WhorlService crypto
    """,
    "StateStoreTests": """
    CWhorlSQLite WhorlSecretMemory WhorlSQLite WhorlStateStore WhorlService WhorlSupport crypto
    """,
    "SyntheticFingersTests": "SyntheticFingers",
    "TPMTests": "BlockedPool WhorlSecretMemory SoftwareTPM WhorlTPM crypto",
    "TerminalPromptTests": "WhorlEngine WhorlFingerprint WhorlSecretMemory WhorlTerminalPrompt WhorlService",
    "VaultTests": """
    BlockedPool WhorlSecretMemory SoftwareTPM WhorlStateStore WhorlTPM WhorlVault WhorlService \
    WhorlSupport crypto cryptoExtras WhorlSQLite
    """,
    "WhorlSQLiteTests": "CWhorlSQLite WhorlSQLite",
    "WhorlAgeTests": "WhorlAge WhorlSecretMemory crypto",
    "WhorlSSHTests": "WhorlSSH crypto",
    "WhorlSupportTests": "BlockedPool WhorlSupport",
    "WhorlTests": """
    LocalAuthenticationTesting SoftwareMachine SoftwareTPM Whorl WhorlContext WhorlService WhorlSystem crypto
    """,
    "WhorlCallersTests": "WhorlSecretMemory WhorlCallers WhorlIPC WhorlRemote WhorlService WhorlSystem",
    "WhorlConfigurationTests": "whorld WhorlCallers WhorlRemote WhorlService WhorlSupport WhorlSystem",
    "WhorlFprintTests": "WhorlCallers WhorlFingerprint WhorlFprint WhorlService",
    "WhorlIPCTests": "CWhorlSocket WhorlSecretMemory WhorlIPC WhorlSupport",
    "WhorlRemoteTests": """
    FacesOverSocket WhorlContext CWhorlSocket MockReader WhorlFingerprint KeychainServices \
    LocalAuthentication WhorlLibfprint WhorlGLib WhorlSecretMemory SoftwareMachine SoftwareTPM \
    WhorlIPC WhorlRemote WhorlService WhorlSSH WhorlSupport WhorlSystem crypto
    """,
    "WhorlSystemTests": """
    WhorlEngine BlockedPool WhorlGLib WhorlFingerprint MockReader WhorlSecretMemory \
    SoftwareMachine SoftwareTPM WhorlStateStore WhorlVault WhorlService WhorlSupport WhorlSystem
    """,
]

/// What reads bytes from outside (Tests/Fuzzing).
let fuzzed = """
    WhorlEngine WhorlLogin CWhorlGLib WhorlEnrollment WhorlFingerprint KeychainServices \
    WhorlStateStore WhorlLibfprint LoginAssertion LoginTransport MockReader RelyingParty \
    WhorlSecretMemory SyntheticFingers WhorlTerminalPrompt WhorlTPM WhorlVault whorl WhorlCallers \
    WhorlAge WhorlIPC WhorlRemote WhorlService WhorlSSH WhorlSupport WhorlSystem WhorlUSB crypto WhorlSQLite
    """

/// What the command line uses.
let commandLine = """
    WhorlLogin WhorlFingerprint LoginAssertion LoginTransport WhorlSecretMemory WhorlTerminalPrompt \
    WhorlAge WhorlRemote WhorlService WhorlSSH WhorlSupport WhorlUSB arguments crypto
    """

/// The house, from the ground up: a target uses only targets of its own floor and of those below, and lies in
/// `Sources/FLOOR/NAME`.
///
/// This is the one list of them: `Tests/ArchitectureTests` holds imports against it and draws the picture in
/// Docs/Architecture.md from it.
let house: KeyValuePairs<String, KeyValuePairs<String, String>> = [
    "Ground": [
        "WhorlSecretMemory": "",
        // Apart, so that what only holds secrets links no library of ciphers.
        "WhorlSecretHash": "crypto",
        // The little of SQLite that the state directory needs.
        "WhorlSQLite": "CWhorlSQLite",
        "WhorlSupport": "",
        // The formats of the requests to an SSH agent, without sockets and files.
        "WhorlSSH": "WhorlSupport crypto",
        // The protocol of age's plugins, and the encryption to a P-256 key: formats alone, without sockets and files.
        "WhorlAge": "WhorlSecretMemory crypto",
    ],
    "Fixtures": [
        // Fingers that no person has, for tests and demonstrations.
        "SyntheticFingers": ""
    ],
    "Hardware": [
        "WhorlFingerprint": "",
        "MockReader": "WhorlFingerprint",
        "WhorlGLib": "CWhorlGLib CWhorlSocket WhorlSupport",
        // The connected readers, found without libfprint, and who can open them.
        "WhorlUSB": "CWhorlSocket WhorlFingerprint WhorlSupport",
        "WhorlLibfprint": "CWhorlFprint CWhorlGLib WhorlFingerprint WhorlGLib WhorlSupport WhorlUSB logging",
        "WhorlTPM": "CWhorlTSS2 WhorlSecretMemory WhorlSupport crypto",
    ],
    "Contract": [
        "WhorlService": "WhorlFingerprint WhorlSecretMemory WhorlSupport crypto"
    ],
    "State": [
        "WhorlStateStore":
            "WhorlSecretMemory WhorlSecretHash WhorlService WhorlSQLite WhorlSupport crypto",
        "WhorlEnrollment": """
        WhorlFingerprint WhorlSecretMemory WhorlSecretHash WhorlStateStore WhorlService WhorlSQLite \
        WhorlSupport crypto
        """,
        "WhorlVault": """
        WhorlSecretMemory WhorlSecretHash WhorlStateStore WhorlTPM WhorlService WhorlSQLite WhorlSupport \
        crypto cryptoExtras
        """,
    ],
    "Service": [
        "WhorlEngine": """
        WhorlEnrollment WhorlFingerprint WhorlSecretMemory WhorlSSH WhorlStateStore WhorlVault \
        WhorlService WhorlSQLite WhorlSupport crypto logging
        """,
        "WhorlIPC": "CWhorlSocket WhorlSecretMemory WhorlSupport",
        // The wall over a socket: the client's half and the service's, without the engine.
        "WhorlRemote": "WhorlFingerprint WhorlSecretMemory WhorlIPC WhorlService WhorlSupport",
        // The programs that ask the service: their sessions and confinement, and the administrator's rules for them.
        "WhorlCallers": "WhorlGLib WhorlIPC WhorlRemote WhorlService WhorlSupport",
        // fprintd's interface on the system's D-Bus, which only the service links.
        "WhorlFprint": """
        WhorlGLib WhorlLibfprint WhorlCallers WhorlFingerprint WhorlIPC WhorlRemote WhorlService \
        WhorlSupport WhorlSystem
        """,
        "WhorlSystem": """
        WhorlGLib WhorlEngine WhorlEnrollment WhorlFingerprint WhorlStateStore WhorlLibfprint \
        MockReader WhorlSecretMemory WhorlTPM WhorlUSB WhorlVault WhorlIPC WhorlRemote WhorlService \
        WhorlSupport
        """,
    ],
    "Faces": [
        "WhorlTerminalPrompt": "WhorlFingerprint WhorlSecretMemory WhorlService WhorlSupport",
        "WhorlContext": """
        WhorlSecretMemory WhorlTerminalPrompt WhorlRemote WhorlService WhorlSupport engine
        """,
        "KeychainServices":
            "WhorlContext WhorlSecretMemory WhorlSecretHash WhorlService WhorlSupport asn1 crypto cryptoExtras",
        "LocalAuthentication":
            "WhorlContext KeychainServices WhorlSecretMemory WhorlService WhorlSupport",
        // The same services for programs that do not come from Apple's systems.
        "Whorl": "WhorlContext WhorlFingerprint WhorlSecretMemory WhorlService crypto",
        // The names that a program needs to show the prompt itself; they are not Apple's.
        "LocalAuthenticationPrompts": "WhorlContext LocalAuthentication WhorlFingerprint WhorlService",
        "SecureEnclaveKeys":
            "WhorlContext KeychainServices LocalAuthentication WhorlSecretMemory WhorlService WhorlSupport crypto",
        // Apple's names, for programs that import them. No target depends on them: a module of this name in a build
        // makes `#if canImport(Security)` true in all packages of that build (Docs/Keys.md).
        "Security": "KeychainServices",
        "CryptoKit": "SecureEnclaveKeys crypto",
        "CoreFoundation": "KeychainServices",
        "LocalAuthenticationTesting": """
        WhorlContext WhorlEngine WhorlEnrollment WhorlFingerprint MockReader \
        WhorlSecretMemory WhorlStateStore WhorlVault WhorlService WhorlSupport crypto
        """,
    ],
    "Login": [
        // Apart, so that the program with the network links neither Foundation nor a library of ciphers.
        "WhorlLoginOrigin": "",
        "LoginAssertion": "WhorlLoginOrigin WhorlSupport crypto",
        // The network is a module of its own: a program that brings another one does not link it.
        "LoginTransport": "WhorlLoginOrigin WhorlSecretMemory WhorlSupport",
        // The device's half; whom it asks is said by the program.
        "WhorlLogin": """
        WhorlFingerprint LoginAssertion LoginTransport WhorlSecretMemory WhorlService WhorlSupport crypto
        """,
        "BiometricLogin": "LoginTransport WhorlContext WhorlLogin WhorlService",
        "BiometricLoginHTTP": "LoginAssertion LoginTransport WhorlSecretMemory",
        // The server's half needs neither a reader nor a TPM.
        "RelyingParty": "LoginAssertion WhorlSupport crypto cryptoExtras grdb",
    ],
    "Programs": [
        "whorl": commandLine,
        "whorld": """
        WhorlGLib WhorlCallers WhorlFingerprint WhorlFprint WhorlIPC WhorlRemote WhorlService \
        WhorlSupport WhorlSystem
        """,
        // The finger in front of libfprint's virtual reader, for tests and demonstrations.
        "whorl-simulate": "SyntheticFingers WhorlSupport arguments",
        // The only one that is built with libcurl, whose headers no program that depends on this package needs.
        "whorl-login-http": "CWhorlCurl LoginTransport WhorlSecretMemory WhorlSupport",
    ],
]

/// The C libraries of the ground floor.
let foundations: [Target] =
    [
        ("CWhorlGLib", "gio-2.0", "libglib2.0-dev"), ("CWhorlFprint", "libfprint-2", "libfprint-2-dev"),
        ("CWhorlTSS2", "tss2-esys", "libtss2-dev"), ("CWhorlSQLite", "sqlite3", "libsqlite3-dev"),
        ("CWhorlCurl", "libcurl", "libcurl4-openssl-dev"),
    ].map { name, pkgConfig, package in
        .systemLibrary(
            name: name,
            path: "Sources/Ground/C/\(name)",
            pkgConfig: pkgConfig,
            providers: [.apt([package])]
        )
    } + [.systemLibrary(name: "CWhorlSocket", path: "Sources/Ground/C/CWhorlSocket")]

/// The interfaces between processes, whose texts `WhorlRemote` serves.
let interfaces = [
    "", ".Agent", ".Fingers", ".Items", ".Keychain", ".Keyring", ".Login", ".Maintenance", ".Owner",
    ".Passcode", ".Private", ".Prompt", ".Readers",
]

/// The modules that touch no C.
let withoutC: Set = ["WhorlFingerprint", "MockReader", "WhorlLoginOrigin", "LoginAssertion", "WhorlSSH"]

/// Makes a target of the house.
func target(_ name: String, on floor: String, uses: String) -> Target {
    let path = "Sources/\(floor)/\(name)"
    // The command line without its entry can be linked to the fuzzer's.
    let isFuzzed = fuzzes && name == "whorl"
    if floor == "Programs", !isFuzzed {
        return .executableTarget(name: name, dependencies: parts(uses), path: path, swiftSettings: common)
    }
    return .target(
        name: name,
        dependencies: parts(uses),
        path: path,
        exclude: isFuzzed ? ["Program.swift"] : [],
        resources: name == "WhorlRemote"
            ? interfaces.map { .embedInCode("Interface/Varlink/io.whorl\($0).varlink") } : nil,
        swiftSettings: withoutC.contains(name) ? pure : common
    )
}

/// Libraries and programs of the tests, in `Tests/Support`.
let supports: KeyValuePairs<String, String> = [
    "BlockedPool": "",
    "ChildPipe": "",
    "GrayscalePNG": "CPNG",
    "PretendedChip": "LocalAuthenticationTesting WhorlContext WhorlService",
    "FacesOverSocket": "WhorlContext WhorlFingerprint WhorlIPC WhorlRemote WhorlService",
    // fprintd's interface with fprintd's own calls of libfprint, for fprintd's tests (scripts/test-fprintd).
    "FprintdProgram": """
    CWhorlFprint CWhorlGLib WhorlGLib WhorlLibfprint WhorlCallers WhorlFingerprint WhorlFprint WhorlRemote WhorlSupport \
    WhorlSystem
    """,
    "IdiomProbe": "KeychainIdioms LocalAuthentication",
    "KeepingProbe": "KeptThings",
    "KeptThings": """
    WhorlEngine WhorlContext BiometricLogin FacesOverSocket WhorlEnrollment WhorlFingerprint KeychainServices \
    LocalAuthentication LoginAssertion WhorlSecretMemory SecureEnclaveKeys SoftwareMachine WhorlVault WhorlService \
    WhorlSystem
    """,
    "KeychainIdioms": "LocalAuthentication",
    "LoginServer": "ChildPipe",
    "MainLoopProbe": "CWhorlGLib LocalAuthentication",
    "ReaderConformance": "WhorlFingerprint",
    "ReaderProbe": "WhorlFingerprint WhorlLibfprint",
    "ReplyProbe": "LocalAuthentication LocalAuthenticationTesting",
    "SeededGenerator": "",
    "SoftwareMachine": """
    WhorlEngine WhorlEnrollment WhorlFingerprint SoftwareTPM WhorlService WhorlSystem WhorlVault
    """,
    "SoftwareTPM": "ChildPipe",
]

/// The targets of these; a probe is a program that tests start.
let helpers: [Target] =
    supports.map { name, uses in
        let path = "Tests/Support/\(name)"
        let python = ["LoginServer": ["server.py"], "ReaderProbe": ["testbed.py"]][name] ?? []
        return name.hasSuffix("Probe") || name.hasSuffix("Program")
            ? .executableTarget(
                name: name,
                dependencies: parts(uses),
                path: path,
                exclude: python,
                swiftSettings: common
            )
            : .target(
                name: name,
                dependencies: parts(uses),
                path: path,
                exclude: python,
                swiftSettings: common
            )
        // Recorded pictures of libfprint are PNG files.
    } + [.systemLibrary(name: "CPNG", path: "Tests/Support/CPNG")]

/// A program that `scripts/bench` runs; it is here because it uses what no product exports.
func bench(_ name: String, in folder: String, uses: String, exclude: [String] = []) -> Target {
    .executableTarget(
        name: name,
        dependencies: parts(uses),
        path: "Bench/\(folder)",
        exclude: exclude,
        swiftSettings: common
    )
}

let benches: [Target] = [
    bench("LoginBench", in: "login", uses: "LoginAssertion crypto", exclude: ["client", "server"]),
    bench(
        "LoginClientBench",
        in: "login/client",
        uses: """
            WhorlEngine WhorlContext BiometricLogin WhorlEnrollment WhorlFingerprint WhorlSecretMemory \
            SoftwareMachine SoftwareTPM WhorlStateStore WhorlVault WhorlSystem
            """
    ),
    .target(name: "CObjectCount", dependencies: ["CWhorlGLib"], path: "Bench/latency/CObjectCount"),
    bench(
        "LatencySubject",
        in: "latency/subject",
        uses: """
            WhorlEngine CObjectCount WhorlGLib WhorlEnrollment WhorlFingerprint WhorlService SoftwareMachine \
            WhorlSystem
            """
    ),
    bench(
        "ServiceBench",
        in: "service",
        uses: "WhorlGLib SyntheticFingers WhorlFingerprint WhorlRemote WhorlService WhorlSystem",
        exclude: ["activate.c"]
    ),
    bench(
        "EnrollmentBench",
        in: "enrollment",
        uses: "WhorlLibfprint SyntheticFingers WhorlFingerprint"
    ),
    bench(
        "ReleaseBench",
        in: "tpm",
        uses: "WhorlSecretMemory SoftwareTPM WhorlStateStore WhorlTPM WhorlVault",
        exclude: ["release.c", "release.sh"]
    ),
]

let products = [
    "Whorl", "LocalAuthentication", "LocalAuthenticationPrompts", "KeychainServices", "SecureEnclaveKeys",
    "Security",
    "CryptoKit",
    "CoreFoundation", "LocalAuthenticationTesting", "WhorlSystem", "WhorlFingerprint", "MockReader",
    "LoginAssertion",
    "LoginTransport", "RelyingParty", "BiometricLogin", "BiometricLoginHTTP",
]
let promptAgent = ["WhorlSecretMemory", "WhorlFingerprint", "WhorlRemote", "WhorlService", "WhorlSupport"]
let programs = ["whorl", "whorl-login-http", "whorl-simulate", "whorld"]

let package = Package(
    name: "whorl",
    products: products.map { .library(name: $0, targets: [$0]) }
        // The modules for desktop programs: the service's client and the types of a prompt.
        + [.library(name: "PromptAgent", targets: promptAgent)]
        + (fuzzes ? [] : programs.map { .executable(name: $0, targets: [$0]) }),
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
    targets: foundations
        + house.flatMap { floor, parts in parts.map { target($0, on: floor, uses: $1) } }
        + helpers + (measures ? benches : [])
        + tests.map { name, dependencies in
            .testTarget(name: name, dependencies: parts(dependencies), swiftSettings: common)
        }
        + [
            fuzzes
                ? .executableTarget(
                    name: "fuzz",
                    dependencies: parts(fuzzed),
                    path: "Tests/Fuzzing",
                    exclude: ["Corpus", "ReplayTests.swift"],
                    swiftSettings: common,
                    linkerSettings: [.unsafeFlags([fuzzer, "-use-ld=lld"])]
                )
                : .testTarget(
                    name: "FuzzingTests",
                    dependencies: parts(fuzzed),
                    path: "Tests/Fuzzing",
                    exclude: ["Corpus", "Driver.swift"],
                    swiftSettings: common
                )
        ]
)
