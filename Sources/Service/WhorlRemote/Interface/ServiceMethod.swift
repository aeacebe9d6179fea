// SPDX-License-Identifier: Apache-2.0

/// A method of the service, with the forms of what it takes and gives.
struct ServiceMethod<Parameters: Codable & Sendable, Reply: Codable & Sendable>: Sendable {
    /// The qualified name, such as `io.whorl.Owner.Evaluate`.
    let name: String

    init(_ name: String) { self.name = name }
}

/// A reply or a parameter that is one value.
struct Valued<Value: Codable & Sendable>: Codable, Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}

/// A reply or a parameter that is one value, or none.
struct Optionally<Value: Codable & Sendable>: Codable, Sendable {
    let value: Value?

    init(_ value: Value?) { self.value = value }
}
