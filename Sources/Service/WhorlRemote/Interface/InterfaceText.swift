// SPDX-License-Identifier: Apache-2.0

/// The texts of the interfaces, as `.varlink` files have them.
enum InterfaceText {
    static let all: [(name: String, text: String)] = []
}
