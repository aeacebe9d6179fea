// SPDX-License-Identifier: Apache-2.0

extension Channel {
    /// Waits until the peer has read all that was sent, or the connection has ended; a peer that reads nothing for too long
    /// is hung up on.
    ///
    /// The kernel does not tell when a peer reads, so it is asked again and again, ever less often.
    func untilRead() async {
        var pause = Duration.microseconds(50)
        var last = Int.max
        var since = ContinuousClock.now
        while let unread, unread > 0 {
            if unread < last {
                (last, since) = (unread, .now)
            } else if ContinuousClock.now - since > limits.waiting {
                return close()
            }
            // A call that is cancelled has no caller to wait for.
            do { try await Task.sleep(for: pause) } catch { return }
            pause = min(pause * 2, .milliseconds(5))
        }
    }
}
