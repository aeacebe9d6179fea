import BiometricLogin
import BiometricLoginHTTP
import Foundation

guard let server = LoginOrigin("http://localhost:1") else { exit(64) }
do {
    switch try await LoginClient(server: server, transport: URLSessionTransport()).status() {
    case .notEnabled: print("not enabled")
    default: print("enabled")
    }
} catch {
    print("\(error)")
    exit(1)
}
