// SPDX-License-Identifier: Apache-2.0

/// A method of the service, with the forms of what it takes and gives.
struct ServiceMethod<Parameters: Codable & Sendable, Reply: Codable & Sendable>: Sendable {
    /// The qualified name, such as `io.whorl.Owner.Evaluate`.
    let name: String
    /// Whether the method may be called again where no answer came, since the second call does what the first one did.
    let isRepeatable: Bool
    /// Whether the service looks at the process that calls, and not at its user alone.
    let isAboutProcess: Bool

    init(_ name: String, isAboutProcess: Bool = true) {
        self.name = name
        self.isAboutProcess = isAboutProcess
        isRepeatable = false
    }

    /// Describes a method that may be called twice: it changes nothing, or makes the same change again.
    init(repeatable name: String, isAboutProcess: Bool = true) {
        self.name = name
        self.isAboutProcess = isAboutProcess
        isRepeatable = true
    }
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
