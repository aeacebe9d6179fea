// SPDX-License-Identifier: Apache-2.0

internal import LoginAssertion
internal import RelyingParty

/// How many wrong passwords there may be in a quarter of an hour.
///
/// A password that was right is not counted in the end. Who tries one user from one place spends the smallest count, and
/// leaves the user's own to the user.
public struct PasswordLimits: Sendable, Hashable {
    /// For one user from one address.
    public var perUserAndAddress = 10
    /// For one user, from everywhere.
    public var perUser = 40
    /// From one address, which is 64 bits of IPv6; a network of 56 bits has twice as many, one of 48 bits four times.
    public var perAddress = 100
    /// On one device that has shown its key: such tries count for nothing else, so that strangers who spend the other counts
    /// cannot keep out a user who has an enabled device.
    public var perDevice = 10

    /// The defaults.
    public init() {}

    /// The length of a window in seconds.
    private static let window = 900

    /// The counts of a try that anybody can make, the widest first.
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

    /// The count of a try on a device that has shown its key.
    func buckets(of user: LoginName, on device: LoginName) -> [RateBucket] {
        [Self.bucket("device\n\(user.text)\n\(device.text)", perDevice)]
    }

    private static func bucket(_ key: String, _ count: Int) -> RateBucket {
        RateBucket(key: "password\n" + key, count: count, seconds: window)
    }
}
