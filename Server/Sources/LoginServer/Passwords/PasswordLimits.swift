// SPDX-License-Identifier: Apache-2.0

internal import LoginAssertion
internal import RelyingParty

/// The limits for wrong passwords in 15 minutes.
///
/// Correct passwords do not count in the end. A client that attacks one user from one address reaches the smallest
/// limit first, and leaves the user's own limit to the user.
public struct PasswordLimits: Sendable, Hashable {
    /// The limit for one user from one address.
    public var perUserAndAddress = 10
    /// The limit for one user, from all addresses.
    public var perUser = 40
    /// The limit for one address, or 64 bits of IPv6; a 56-bit network has twice as many, and a 48-bit network four
    /// times.
    public var perAddress = 100
    /// The limit for one device that has proven its key.
    ///
    /// Such attempts count only here, so that attackers who reach the other limits cannot lock out a user with an
    /// enabled device.
    public var perDevice = 10

    /// Creates the default limits.
    public init() {}

    /// The length of a window in seconds.
    private static let window = 900

    /// Returns the buckets for an attempt that any client can make, widest first.
    func buckets(of user: LoginName, from address: ClientAddress) -> [RateBucket] {
        let from = address.network ?? address.text
        var buckets = zip(address.widerNetworks, [2, 4]).map { network, times in
            Self.bucket("network\n\(network)", perAddress.multipliedReportingOverflow(by: times).partialValue)
        }
        buckets.append(Self.bucket("address\n\(from)", perAddress))
        buckets.append(Self.bucket("user and address\n\(user.text)\n\(from)", perUserAndAddress))
        buckets.append(Self.bucket("user\n\(user.text)", perUser))
        return buckets
    }

    /// Returns the bucket for an attempt on a device that has proven its key.
    func buckets(of user: LoginName, on device: LoginName) -> [RateBucket] {
        [Self.bucket("device\n\(user.text)\n\(device.text)", perDevice)]
    }

    private static func bucket(_ key: String, _ count: Int) -> RateBucket {
        RateBucket(key: "password\n" + key, count: count, seconds: window)
    }
}
