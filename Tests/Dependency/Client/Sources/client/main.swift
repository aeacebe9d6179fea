import Foundation
import Whorl

do {
    print(try await evaluate("open the vault"))
} catch {
    print("\(error.code.rawValue): \(error.message)")
    exit(1)
}
