// SPDX-License-Identifier: Apache-2.0

package import Foundation

extension ByteWriter {
    /// The bytes that were written, as `Data` for the database.
    package var data: Data { Data(bytes) }
}
