// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// As in the package above: warnings are errors when asked for.
let strict = Context.environment["WHORL_STRICT"] != nil

/// `MemberImportVisibility` is not on: several of SwiftNIO's C modules bring `struct stat` along, and to which of them its
/// members are counted changes from build to build.
let common: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ] + (strict ? [.treatAllWarnings(as: .error)] : [])

let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let jwtKit = Target.Dependency.product(name: "JWTKit", package: "jwt-kit")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let assertion = Target.Dependency.product(name: "LoginAssertion", package: "whorl")
let relyingParty = Target.Dependency.product(name: "RelyingParty", package: "whorl")
let nio = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")

/// The server's package, of its own so that a program that only wants a touch never builds a web server.
///
/// Of the package above it uses the relying party alone: swift-certificates, which jwt-kit brings, takes a module named
/// Security for Apple's.
let package = Package(
    name: "whorl-login-server",
    products: [
        .executable(name: "whorl-login-server", targets: ["whorl-login-server"]),
        // The store of several instances, for a server of one's own.
        .library(name: "RelyingPartyPostgreSQL", targets: ["RelyingPartyPostgreSQL"]),
    ],
    dependencies: [
        .package(name: "whorl", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    ],
    targets: [
        .systemLibrary(name: "CPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .target(
            name: "RelyingPartyPostgreSQL",
            dependencies: ["CPQ", assertion, relyingParty],
            swiftSettings: common
        ),
        .target(
            name: "LoginServer",
            dependencies: [
                assertion, crypto, cryptoExtras, httpTypes, hummingbird, hummingbirdCore, jwtKit, lifecycle,
                logging, nio, nioPosix, relyingParty,
                .product(name: "HummingbirdTLS", package: "hummingbird"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ],
            resources: [
                "account.css", "account.html", "account.js", "admin.yaml", "icon.svg", "openapi.yaml",
            ]
            .map { .embedInCode("Resources/\($0)") },
            swiftSettings: common
        ),
        .executableTarget(
            name: "whorl-login-server",
            dependencies: [
                "LoginServer", assertion, "RelyingPartyPostgreSQL", lifecycle, logging, relyingParty,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: common
        ),
        .target(name: "ChildPipe", path: "Tests/Support/ChildPipe", swiftSettings: common),
        // Most of its files are links to RelyingParty's own tests, which run on this store here.
        .testTarget(
            name: "RelyingPartyPostgreSQLTests",
            dependencies: [
                "ChildPipe", "RelyingPartyPostgreSQL", assertion, crypto, cryptoExtras, relyingParty,
            ],
            swiftSettings: common
        ),
        .testTarget(
            name: "LoginServerTests",
            dependencies: [
                "LoginServer", "whorl-login-server", assertion, crypto, cryptoExtras, httpTypes,
                hummingbirdCore, lifecycle,
                logging, nio, nioPosix, relyingParty,
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "X509", package: "swift-certificates"),
                .product(name: "Yams", package: "Yams"),
            ],
            swiftSettings: common
        ),
    ]
)
