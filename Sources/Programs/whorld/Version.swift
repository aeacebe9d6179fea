// SPDX-License-Identifier: Apache-2.0

/// The version of the service, which is the package's.
enum Version {
    static let text = "0.1.0"
}
