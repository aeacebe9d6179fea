// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A terminal whose other side is the test.
final class PseudoTerminal: Sendable {
    let master: CInt
    let slave: CInt
    /// Its name is `/dev/pts/` and this number.
    let number: CInt

    private static let setLock: UInt = 0x4004_5431  // TIOCSPTLCK
    private static let getNumber: UInt = 0x8004_5430  // TIOCGPTN

    init(columns: UInt16 = 80) throws {
        // What posix_openpt(3), unlockpt(3) and ptsname(3) do on Linux (ioctl_tty(2)); Glibc has not all of them.
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var locked: CInt = 0
        var number: CInt = 0
        guard master >= 0, ioctl(master, Self.setLock, &locked) == 0,
            ioctl(master, Self.getNumber, &number) == 0
        else { throw SystemFailure(number: errno) }
        self.number = number
        slave = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard slave >= 0 else { throw SystemFailure(number: errno) }
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        guard ioctl(slave, UInt(TIOCSWINSZ), &size) == 0 else { throw SystemFailure(number: errno) }
    }

    deinit {
        close(slave)
        close(master)
    }

    struct SystemFailure: Error { let number: CInt }

    /// Presses keys.
    func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(master, bytes, bytes.count)
    }

    /// Whether what is typed would be shown, and would wait for the end of the line.
    var isOrdinary: Bool {
        var settings = termios()
        tcgetattr(slave, &settings)
        let ordinary = tcflag_t(ECHO | ICANON | ISIG)
        return settings.c_lflag & ordinary == ordinary
    }

    /// Whether nothing of what was typed waits to be read.
    var isEmpty: Bool {
        var waiting: CInt = 0
        return ioctl(slave, UInt(FIONREAD), &waiting) == 0 && waiting == 0
    }

    /// What came to the terminal, read until `text` is in it or nothing came for four minutes.
    func output(until text: String) -> String {
        var bytes: [UInt8] = []
        while !String(decoding: bytes, as: UTF8.self).contains(text) {
            guard let more = next(milliseconds: 240_000) else { break }
            bytes += more
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// What came to the terminal and was not read yet; it does not wait.
    func rest() -> String {
        var bytes: [UInt8] = []
        while let more = next(milliseconds: 0) { bytes += more }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func next(milliseconds: CInt) -> [UInt8]? {
        var wait = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
        guard poll(&wait, 1, milliseconds) > 0 else { return nil }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let got = read(master, &buffer, buffer.count)
        return got > 0 ? Array(buffer.prefix(got)) : nil
    }
}
