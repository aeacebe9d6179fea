// SPDX-License-Identifier: Apache-2.0

import WhorlStateStore
import WhorlTPM
import WhorlService

/// Functions that determine the state of items bound to a set of fingers, as decided by the TPM.
extension Vault {
    /// The answer to whether the TPM still has the set of fingers that an item is bound to.
    enum SetLookup: Sendable {
        /// The counter has the value that the item was bound to.
        case present
        /// The set has changed, because the profile's finger counter has a different value.
        case changed
        /// The counter could not be read, for the reason in the error.
        case unknown(ServiceError)
    }

    /// Returns the state of each item, in the order of the items.
    ///
    /// The TPM is accessed only for items that are lost when their set changes. If the TPM cannot be reached, their
    /// state is `unknown`.
    ///
    /// - Throws: A storage error.
    func standings(
        of items: [some UsableItem],
        profile: String
    ) async throws(ServiceError) -> [VaultItem.Standing] {
        let sets = Set(items.compactMap(\.setItNeeds))
        guard !sets.isEmpty else { return items.map { _ in .valid } }
        let pinned = try await pinnedCounter(of: profile)?.1
        let found = await look(for: sets, beside: pinned, profile)
        return items.map { item in
            guard let set = item.setItNeeds else { return .valid }
            return switch found[set] {
            case .present: .valid
            case .changed: .enrollmentChanged
            case .unknown, nil: .unknown
            }
        }
    }

    /// Returns whether the TPM still has one of a profile's sets of fingers.
    func standing(of set: ItemBinding.Generation, _ profile: String) async -> SetLookup {
        let pinned: NVCounter?
        do throws(ServiceError) { pinned = try await pinnedCounter(of: profile)?.1 } catch {
            return .unknown(error)
        }
        return await look(for: [set], beside: pinned, profile)[set]
            ?? .unknown(ServiceError(.counterLost, profile))
    }

    /// Reads the counters for several sets together.
    ///
    /// - Parameters:
    ///   - sets: The sets that items are bound to.
    ///   - pinned: The current counter of the profile's fingers. It differs from the counter of an older item if an
    ///     earlier counter was lost and the owner continued with a new one. In that case, the older item's set has
    ///     changed.
    ///   - profile: The profile that the fingers belong to, for errors.
    /// - Returns: One result for each set.
    private func look(
        for sets: Set<ItemBinding.Generation>,
        beside pinned: NVCounter?,
        _ profile: String
    ) async -> [ItemBinding.Generation: SetLookup] {
        let counters = Set(sets.map(\.counter) + [pinned].compactMap(\.self))
        let values: [NVCounter: NVCounterCheck]
        do throws(ServiceError) {
            values = try await chip(about: profile) { commands throws(TPMError) in
                var values: [NVCounter: NVCounterCheck] = [:]
                for counter in counters { values[counter] = try commands.check(counter) }
                return values
            }
        } catch {
            return sets.reduce(into: [:]) { $0[$1] = .unknown(error) }
        }
        let isPinnedThere = pinned.map { values[$0].isSame } ?? false
        return sets.reduce(into: [:]) { found, set in
            if case .same(let value) = values[set.counter] {
                found[set] = value == set.value ? .present : .changed
            } else {
                let isReplaced = isPinnedThere && pinned != set.counter
                found[set] = isReplaced ? .changed : .unknown(ServiceError(.counterLost, profile))
            }
        }
    }
}

extension NVCounterCheck? {
    /// Whether the counter exists and has its pinned name.
    fileprivate var isSame: Bool {
        if case .same = self { true } else { false }
    }
}

extension UsableItem {
    /// The set of fingers without which the item cannot be unlocked, or `nil` if there is another way to unlock it.
    fileprivate var setItNeeds: ItemBinding.Generation? {
        access.isDeadWithItsSet ? binding.generation : nil
    }
}
