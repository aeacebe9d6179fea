// SPDX-License-Identifier: Apache-2.0

internal import LoginAssertion
internal import RelyingParty

/// The limits of wrong passwords in a quarter of an hour.
///
/// A right password is not counted in the end. A client that tries one user from one address uses up the smallest
/// count, and leaves the user's own count to the user.
public struct PasswordLimits: Sendable, Hashable {
    /// The limit for one user from one address.
    public var perUserAndAddress = 10
    /// The limit for one user, from all addresses.
    public var perUser = 40
    /// The limit for one address, which is 64 bits of IPv6; a network of 56 bits has twice as many, one of 48 bits four
    /// times.
    public var perAddress = 100
    /// The limit for one device that has proven its key: such tries are counted only here, so that strangers who use up
    /// the other counts cannot keep out a user who has an enabled device.
    public var perDevice = 10

    /// Makes the default limits.
    public init() {}

    /// The length of a window in seconds.
    private static let window = 900

    /// Returns the buckets of a try that any client can make, the widest first.
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

    /// Returns the bucket of a try on a device that has proven its key.
    func buckets(of user: LoginName, on device: LoginName) -> [RateBucket] {
        [Self.bucket("device\n\(user.text)\n\(device.text)", perDevice)]
    }

    private static func bucket(_ key: String, _ count: Int) -> RateBucket {
        RateBucket(key: "password\n" + key, count: count, seconds: window)
    }
}
