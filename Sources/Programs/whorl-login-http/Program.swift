// SPDX-License-Identifier: Apache-2.0

import BiometricLoginHTTP
import Glibc
import LoginTransport
import WhorlSecretMemory
import WhorlSupport

/// The network of `whorl login`: reads one request from standard input, writes the result to standard output.
///
/// It is a separate program for two reasons. FoundationNetworking brings libcurl and two dozen more libraries, which
/// every start of `whorl` would load; and the process that reads bytes from a network must not be the one that has the
/// vault open.
@main
enum Program {
    static func main() async {
        // This comes first: there is no password in memory yet.
        guard ThisProcess.hideMemory() else { exit(71) }  // EX_OSERR
        signal(SIGPIPE, SIG_IGN)
        // Descriptors that a library of `whorl` has left open, such as a reader's, do not belong to this program.
        for number in 3..<CInt(1024) { close(number) }
        // Unencrypted requests stay on this machine; over a proxy they would leave it.
        for name in URLSessionTransport.proxies { unsetenv(name) }
        guard let request = LoginFrames.request(read()) else { exit(64) }
        exit(write(LoginFrames.encode(await outcome(of: request))) ? 0 : 74)
    }

    private static func outcome(of request: LoginRequest) async -> Result<LoginResponse, LoginTransportError>
    {
        do {
            return .success(try await URLSessionTransport().send(request))
        } catch {
            return .failure(error as? LoginTransportError ?? .failed)
        }
    }

    /// Reads standard input up to the size of the largest frame; a longer input is cut, and is then not a valid frame.
    private static func read() -> SecretBox {
        var room = SecretBuffer(capacity: LoginFrames.largest)
        var isOpen = true
        while isOpen, room.count < room.capacity {
            isOpen = room.append { Glibc.read(STDIN_FILENO, $0.baseAddress, $0.count) } > 0
        }
        return SecretBox(room.take())
    }

    private static func write(_ frame: SecretBox) -> Bool {
        frame.bytes.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let count = Glibc.write(
                    STDOUT_FILENO,
                    bytes.baseAddress?.advanced(by: done),
                    bytes.count - done
                )
                guard count > 0 else { return false }
                done += count
            }
            return true
        }
    }
}
