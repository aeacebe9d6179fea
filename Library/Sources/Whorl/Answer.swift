// SPDX-License-Identifier: Apache-2.0

internal import CWhorl

/// The kinds of requests, which determine how the reply is parsed.
enum RequestKind {
    case canEvaluate
    case evaluate
    case domainState
    case fingers
    case enroll
    case removeFinger
    case items
    /// Storing and deleting, whose reply has no value.
    case change
    case readSecret
    case publicKey
    case sign
    case agent
}

/// The reply to a request.
///
/// It is a success only if it is complete.
struct Answer {
    private(set) var values = Values()
    private(set) var rows: [Values] = []
    /// The memory file with the secret; -1 without one.
    private(set) var secret: Int32 = -1

    /// Parses the parameters of a reply.
    mutating func read(_ parameters: JSONValue, _ kind: RequestKind, _ link: Link) -> whorl_status {
        guard parameters.isObject else { return WHORL_NOT_UNDERSTOOD }
        let value = parameters["value"]
        switch kind {
        case .canEvaluate: return readPreflight(parameters)
        case .evaluate: return readEvaluation(value) ? WHORL_OK : WHORL_NOT_UNDERSTOOD
        case .domainState: return readState(value)
        case .fingers, .items, .removeFinger: return readRows(value)
        case .enroll: return value?["id"]?.text == nil ? WHORL_NOT_UNDERSTOOD : WHORL_OK
        case .change: return WHORL_OK
        case .readSecret: return readSecret(value, link)
        case .publicKey:
            guard let key = value?.bytes, key.count == 65, key[0] == 4 else { return WHORL_NOT_UNDERSTOOD }
            values.set(WHORL_BYTES_PUBLIC_KEY, key)
            return WHORL_OK
        case .sign:
            guard let signature = value?["signature"]?.bytes, signature.count == 64 else {
                return WHORL_NOT_UNDERSTOOD
            }
            values.set(WHORL_BYTES_SIGNATURE, signature)
            return WHORL_OK
        // A registration has no reply.
        case .agent: return WHORL_NOT_UNDERSTOOD
        }
    }

    private mutating func readPreflight(_ parameters: JSONValue) -> whorl_status {
        guard let hasReader = parameters["hasReader"]?.flag, let isSet = parameters["isPasscodeSet"]?.flag
        else {
            return WHORL_NOT_UNDERSTOOD
        }
        var status = WHORL_OK
        if let obstacle = parameters["obstacle"] {
            let failure = Failure(values: obstacle)
            values = failure.values
            status = failure.status
        }
        values.set(WHORL_NUMBER_HAS_READER, hasReader)
        values.set(WHORL_NUMBER_IS_PASSCODE_SET, isSet)
        values.take(WHORL_TEXT_READER_KIND, "readerKind", of: parameters)
        values.set(WHORL_BYTES_DOMAIN_STATE, Self.digest(parameters["domainState"]))
        return status
    }

    private mutating func readEvaluation(_ value: JSONValue?) -> Bool {
        guard let value, let method = value["method"]?.text,
            method.isText("biometry") || method.isText("passcode"), let isReused = value["isReused"]?.flag
        else { return false }
        values.set(WHORL_TEXT_METHOD, method)
        values.set(WHORL_NUMBER_IS_REUSED, isReused)
        values.take(WHORL_TEXT_FINGER, "finger", of: value)
        values.take(WHORL_TEXT_READER_KIND, "readerKind", of: value)
        values.take(WHORL_TEXT_STRENGTH, "strength", of: value)
        values.set(WHORL_BYTES_DOMAIN_STATE, Self.digest(value["domainState"]))
        return true
    }

    private mutating func readState(_ value: JSONValue?) -> whorl_status {
        guard let value else { return WHORL_BIOMETRY_NOT_ENROLLED }
        guard let digest = Self.digest(value["digest"]), let generation = value["generation"]?.number else {
            return WHORL_NOT_UNDERSTOOD
        }
        values.set(WHORL_BYTES_DOMAIN_STATE, digest)
        values.set(WHORL_NUMBER_GENERATION, generation)
        return WHORL_OK
    }

    private static func digest(_ value: JSONValue?) -> Bytes? {
        guard let bytes = value?.bytes, bytes.count == 32 else { return nil }
        return bytes
    }

    private mutating func readRows(_ value: JSONValue?) -> whorl_status {
        guard let list = value?.list else { return WHORL_NOT_UNDERSTOOD }
        for element in list {
            guard element.isObject else { return WHORL_NOT_UNDERSTOOD }
            var row = Values()
            let id = element["id"]
            row.take(WHORL_ROW_NAME, "finger", of: element)
            row.take(WHORL_ROW_NAME, "name", of: id)
            row.take(WHORL_ROW_KIND, "kind", of: id)
            row.take(WHORL_ROW_ACCESS, "access", of: element)
            row.take(WHORL_ROW_STANDING, "standing", of: element)
            row.take(WHORL_ROW_CREATED, number: "createdAt", of: element)
            row.take(WHORL_ROW_CREATED, number: "enrolledAt", of: element)
            row.take(WHORL_ROW_ID, "id", of: element)
            row.take(WHORL_ROW_LABEL, shown: "label", of: element)
            row.take(WHORL_ROW_READER, shown: "readerName", of: element)
            row.take(WHORL_ROW_LAST_MATCHED, number: "lastMatchedAt", of: element)
            rows.append(row)
        }
        return WHORL_OK
    }

    private mutating func readSecret(_ value: JSONValue?, _ link: Link) -> whorl_status {
        guard let place = value?["secret"]?.number else { return WHORL_NOT_UNDERSTOOD }
        let file = link.take(place)
        guard file >= 0 else { return WHORL_NOT_UNDERSTOOD }
        guard library_secret_size(file) > 0 else {
            close(file)
            return WHORL_NOT_UNDERSTOOD
        }
        secret = file
        return WHORL_OK
    }
}

/// An error from the service.
struct Failure {
    let status: whorl_status
    private(set) var values = Values()

    /// Parses an error message.
    init(_ message: JSONValue) {
        let name = message["error"]?.text ?? []
        let last = name.lastIndex(of: UInt8(ascii: ".")).map { Bytes(name[($0 + 1)...]) } ?? name
        self.init(values: message["parameters"] ?? .object([]), named: last)
    }

    /// Parses the values of an error.
    ///
    /// If the connection was refused, there is no code, and the name is used instead.
    init(values error: JSONValue, named name: Bytes = []) {
        let code = error["code"]?.text ?? name
        status = Self.status(code)
        values.set(WHORL_TEXT_CODE, code)
        values.take(WHORL_TEXT_MESSAGE, shown: "message", of: error)
        values.take(WHORL_TEXT_RECOVERY, shown: "recovery", of: error)
        values.take(WHORL_TEXT_CAUSE, shown: "cause", of: error)
        // The details are strings.
        let wait = error["details"]?["milliseconds"]?.text
        values.set(WHORL_NUMBER_MILLISECONDS, wait.flatMap { JSONValue.whole($0[...]) })
        // Normally, the service sends a message. If not, the status has one.
        values.set(WHORL_TEXT_MESSAGE, unsafe Bytes(copying: whorl_status_text(status.rawValue)))
    }

    /// The status for a code; never a success.
    private static func status(_ code: Bytes) -> whorl_status {
        let number = unsafe library_status(code, code.count)
        return number < 0 ? whorl_status(number) : WHORL_REFUSED
    }
}
