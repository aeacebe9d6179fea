// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint

/// Mock readers as the system would list them: those that are plugged in.
public final class MockReaderSource: ReaderSource {
    private let all: [MockReader]

    /// The readers that there are, plugged in or not.
    ///
    /// Give each one another identity.
    public init(_ readers: [MockReader]) { all = readers }

    /// One reader, with a script as text.
    public convenience init(script: String) throws(MockScriptError) {
        self.init([try MockReader(script: script)])
    }

    /// Every reader, whether it is plugged in or not; for the test that plays on them.
    public var mocks: [MockReader] { all }

    /// The readers that are plugged in now.
    public func readers() -> [any FingerprintReader] {
        all.filter(\.player.isConnected)
    }

    /// Plugs and unplugs from now on.
    public func changes() -> AsyncStream<ReaderChange> {
        let (stream, continuation) = AsyncStream.makeStream(of: ReaderChange.self)
        let listeners = all.map { reader in
            let info = reader.info
            let listener = reader.player.listen { isConnected in
                continuation.yield(isConnected ? .added(info) : .removed(info.id))
            }
            return (player: reader.player, listener: listener)
        }
        continuation.onTermination = { _ in
            for (player, listener) in listeners { player.stopListening(listener) }
        }
        return stream
    }
}
