// SPDX-License-Identifier: Apache-2.0

internal import CAgent
internal import CFuzz

/// Passes libFuzzer's input to the parsers of the agent (SSH/fuzz).
///
/// An even first byte: the rest is a stream of a client. An odd one: it is the user's known_hosts and config.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe Bytes(UnsafeBufferPointer(start: data, count: count))
    guard let kind = input.first else { return 0 }
    if kind & 1 == 0 { stream(input.dropFirst()) } else { files(Bytes(input.dropFirst())) }
    return 0
}

/// Checks that splitting a stream does not change its messages.
private func stream(_ input: ArraySlice<UInt8>) {
    var whole = SSHFraming()
    whole.add(input)
    let expected = messages(&whole)
    let cut = input.startIndex + min(Int(input.first ?? 0), input.count)
    var parts = SSHFraming()
    parts.add(input[..<cut])
    var found = messages(&parts)
    if !found.isBroken {
        parts.add(input[cut...])
        let rest = messages(&parts)
        found = (found.messages + rest.messages, rest.isBroken)
    }
    precondition(found.messages == expected.messages && found.isBroken == expected.isBroken)
    for message in expected.messages { parse(message) }
    parse(Bytes(input))
}

private func messages(_ framing: inout SSHFraming) -> (messages: [Bytes], isBroken: Bool) {
    var found: [Bytes] = []
    while true {
        switch framing.next() {
        case .message(let message):
            precondition((1...SSHFraming.longest).contains(message.count))
            found.append(message)
        case .incomplete: return (found, false)
        case .broken: return (found, true)
        }
    }
}

/// Checks that a parsed request contains all bytes of its message, and no others.
private func parse(_ message: Bytes) {
    var again: Bytes = [message.first ?? 0]
    switch AgentRequest(message) {
    case .list: break
    case .sign(let key, let data):
        again.append(string: key)
        again.append(string: data)
        again.append(contentsOf: message.suffix(4))
    case .remove(let key): again.append(string: key)
    case .lock(let passphrase), .unlock(let passphrase): again.append(string: passphrase)
    case .bind(let contents):
        again.append(string: Bytes("session-bind@openssh.com"))
        again.append(contentsOf: contents)
        if let bind = Bind(contents) {
            precondition(!bind.hostKey.isEmpty && bind.hostKey.count < contents.count)
        }
    case .query: again.append(string: Bytes("query"))
    case .reload: again.append(string: Bytes("reload@whorl"))
    case .other, .malformed: return
    }
    precondition(again == message)
}

/// Checks that the claims do not exceed the service's limits.
private func files(_ input: Bytes) {
    // In base64, this key is "AAAA".
    let claims = unsafe input.withUnsafeBytes { bytes in
        unsafe fuzz_set_files(bytes.baseAddress, bytes.count)
        return HostClaims(hostKey: [0, 0, 0], pid: 0)
    }
    precondition(claims.lines.count <= 8192 && claims.candidates.count <= 64)
    for candidate in claims.candidates {
        precondition((1...300).contains(candidate.count) && candidate.isUTF8)
    }
}
