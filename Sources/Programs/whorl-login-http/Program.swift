// SPDX-License-Identifier: Apache-2.0

import Glibc
import LoginTransport
import WhorlSecretMemory
import WhorlSupport

/// The network part of `whorl login`, which reads one request from standard input and writes the result to standard
/// output.
///
/// It is a separate program, because a process that has opened the vault must not read network data. Also, libcurl
/// loads about two dozen libraries, which would slow down every start of `whorl`.
@main
enum Program {
    static func main() {
        // This comes first: there is no password in memory yet.
        guard ThisProcess.hideMemory() else { exit(71) }  // EX_OSERR
        signal(SIGPIPE, SIG_IGN)
        // Descriptors left open by a library of `whorl`, such as a reader's, do not belong to this program.
        for number in 3..<CInt(1024) { close(number) }
        // Unencrypted requests stay on this machine; a proxy would forward them elsewhere.
        for name in proxiesOfPlainRequests { unsetenv(name) }
        // libcurl would write the connection's keys to this file, which reveal the password.
        unsetenv("SSLKEYLOGFILE")
        let arguments = CommandLine.arguments.dropFirst()
        let authorities = arguments.first == "--cacert" && arguments.count == 2 ? arguments.last : nil
        guard arguments.isEmpty || authorities != nil, let request = LoginFrames.request(read()) else {
            exit(64)  // EX_USAGE
        }
        let outcome = CurlRequest(request, authorities: authorities).send()
        exit(write(LoginFrames.encode(outcome)) ? 0 : 74)  // EX_IOERR
    }

    /// Reads standard input up to the maximum frame size.
    ///
    /// Longer input is truncated, and is then not a valid frame.
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
