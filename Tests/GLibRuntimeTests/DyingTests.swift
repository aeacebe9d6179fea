// SPDX-License-Identifier: Apache-2.0

import CWhorlGLib
import Foundation
import WhorlGLib
import Synchronization
import Testing

/// Objects of the GLib thread whose last Swift reference is dropped on another one.
@Suite struct `What belongs to the GLib thread dies there` {
    /// Tells on which thread it died.
    private final class Witness: Sendable {
        let dying: @Sendable (_ isOnGLibThread: Bool) -> Void
        init(dying: @escaping @Sendable (Bool) -> Void) { self.dying = dying }
        deinit { dying(GLibExecutor.shared.isIsolatingCurrentContext() == true) }
    }

    /// A `GObject` that gives its witness back when it dies.
    private func makeObject(_ witness: Witness) -> UnsafeMutableRawPointer {
        let object = UnsafeMutableRawPointer(g_cancellable_new())
        let raw = object?.assumingMemoryBound(to: GObject.self)
        g_object_set_data_full(raw, "witness", Unmanaged.passRetained(witness).toOpaque()) { data in
            data.map { Unmanaged<Witness>.fromOpaque($0).release() }
        }
        guard let object else { preconditionFailure("g_cancellable_new() returned NULL") }
        return object
    }

    private func handler(with witness: Witness) -> (UnsafeMutableRawPointer?) -> Void {
        { _ in withExtendedLifetime(witness) {} }
    }

    @Test func `an object that is held`() async {
        let died = await withCheckedContinuation { (done: CheckedContinuation<Bool, Never>) in
            let object = makeObject(Witness { done.resume(returning: $0) })
            let held = ThreadBoundObject(retaining: object)
            g_object_unref(object)
            withExtendedLifetime(held) {}
        }
        #expect(died)
    }

    @Test func `a connection to a signal, and its handler`() async {
        let died = await withCheckedContinuation { (done: CheckedContinuation<Bool, Never>) in
            guard let object = UnsafeMutableRawPointer(g_cancellable_new()) else { return }
            _ = SignalConnection(
                to: object,
                signal: "cancelled",
                onSignal: handler(with: Witness { done.resume(returning: $0) })
            )
            g_object_unref(object)
        }
        #expect(died)
    }
}
