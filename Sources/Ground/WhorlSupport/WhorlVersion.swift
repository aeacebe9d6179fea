// SPDX-License-Identifier: Apache-2.0

/// The version of the package, which all of its programs report.
package enum WhorlVersion {
    package static let text = "0.1.0"
}
