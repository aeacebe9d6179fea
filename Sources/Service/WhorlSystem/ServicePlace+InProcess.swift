// SPDX-License-Identifier: Apache-2.0

package import WhorlRemote
package import WhorlService

extension ServicePlace {
    /// The services that this process's environment selects, for programs that do not select any themselves.
    ///
    /// If the selection is invalid, each call fails instead of falling back to another place.
    package static let ofProcess: Services = {
        let choices = ServiceChoices(SystemConfiguration.processEnvironment)
        do throws(Fault) {
            let place = try choices.place()
            if place == .inProcess { return InProcessRoot.shared.services }
            return choices.services(over: try place.transport(choices))
        } catch {
            return choices.services(over: RefusedTransport(error))
        }
    }()
}
