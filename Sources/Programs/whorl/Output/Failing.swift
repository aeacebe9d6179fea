// SPDX-License-Identifier: Apache-2.0

import Authentication
import Enrollment
import Fingerprint
import GreyscalePNG
import StateStore

// There is one function for each layer's error, so that the code of a verb stays short.

func failing<Value>(_ body: () async throws(AuthenticationError) -> Value) async throws(Failure) -> Value {
    do { return try await body() } catch { throw Failure(error) }
}

func failing<Value>(_ body: () async throws(EnrollmentError) -> Value) async throws(Failure) -> Value {
    do { return try await body() } catch { throw Failure(error) }
}

func failing<Value>(_ body: () async throws(ReaderError) -> Value) async throws(Failure) -> Value {
    do { return try await body() } catch { throw Failure(error) }
}

func failing<Value>(_ body: () async throws(StateError) -> Value) async throws(Failure) -> Value {
    do { return try await body() } catch { throw Failure(error) }
}

func failing<Value>(_ body: () throws(GreyscalePNGError) -> Value) throws(Failure) -> Value {
    do { return try body() } catch { throw Failure(error) }
}
