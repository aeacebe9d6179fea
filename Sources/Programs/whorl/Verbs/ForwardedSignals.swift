// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The signals that end a program, handed on to one thread while a module of PAM is asked there.
///
/// A module holds them back in its own thread alone, until the terminal shows keys again; another thread of this program
/// would take them from it. Each one ends the module's question, and the program goes on.
struct ForwardedSignals {
    private static let ending = [SIGINT, SIGQUIT, SIGTERM, SIGHUP]
    /// Plain memory, since a handler may take no lock: written before the handlers are installed, and only read by them.
    nonisolated(unsafe) private static let thread = {
        let memory = UnsafeMutablePointer<pthread_t>.allocate(capacity: 1)
        memory.initialize(to: pthread_self())
        return memory
    }()

    private let before: [(number: CInt, action: sigaction)]
    private let mask: sigset_t

    /// Begins to hand them on to this thread.
    init() {
        Self.thread.pointee = pthread_self()
        var all = sigset_t()
        var mask = sigset_t()
        sigemptyset(&all)
        for number in Self.ending { sigaddset(&all, number) }
        pthread_sigmask(SIG_UNBLOCK, &all, &mask)
        self.mask = mask
        var action = sigaction()
        // No SA_RESTART: a line that is read ends.
        action.__sigaction_handler.sa_handler = { number in
            let thread = ForwardedSignals.thread.pointee
            if pthread_equal(pthread_self(), thread) == 0 { pthread_kill(thread, number) }
        }
        var stop = sigaction()
        stop.__sigaction_handler.sa_handler = SIG_IGN
        // A stop would leave the terminal without echo: the other threads are stopped with this one.
        before = (Self.ending + [SIGTSTP]).map { number in
            var old = sigaction()
            sigaction(number, nil, &old)
            var new = number == SIGTSTP ? stop : action
            sigaction(number, &new, nil)
            return (number, old)
        }
    }

    /// Has them dealt with as before.
    func end() {
        var mask = mask
        pthread_sigmask(SIG_SETMASK, &mask, nil)
        for (number, action) in before {
            var action = action
            sigaction(number, &action, nil)
        }
    }
}
