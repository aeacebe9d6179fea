// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlFingerprint
import WhorlSecretMemory
import WhorlService

@testable import WhorlIPC
@testable import WhorlRemote

/// A message of a method, in the form that crosses between processes.
struct MessageSample {
    /// The method, and whether it is its call or its reply.
    let place: String
    let value: JSONTree

    init(callOf method: String, _ value: some Encodable) throws {
        place = "\(method) call"
        self.value = try JSONTree(encoding: value)
    }

    init(replyOf method: String, _ value: some Encodable) throws {
        place = "\(method) reply"
        self.value = try JSONTree(encoding: value)
    }
}

extension JSONTree {
    /// The value as a message has it.
    init(encoding value: some Encodable) throws {
        var files: [Descriptor] = []
        self = try Wire.decode(JSONTree.self, try Wire.encode(value, beside: &files))
    }
}

/// Messages of every method: together they have each member that a value can have, and lack it where it can be missing.
enum MessageSamples {
    static func all() throws -> [MessageSample] {
        try owner() + items() + storedItems() + keychain() + fingers() + readers() + passcode() + upkeep()
            + prompts() + logins()
    }

    /// The calls of a method, and its updates and replies.
    private static func of<Asked: ServiceOperation>(
        _ calls: [Asked],
        _ replies: [Asked.Reply]
    ) throws -> [MessageSample] {
        try calls.map { try MessageSample(callOf: Asked.name, $0) }
            + replies.map { try MessageSample(replyOf: Asked.name, $0) }
    }

    /// The calls of a method that asks the owner, and its updates and replies.
    private static func asking<Asked: OwnerOperation>(
        _ calls: [Asked],
        _ replies: [Asked.Reply],
        _ progress: [EnrollmentProgress] = []
    ) throws -> [MessageSample] {
        var answers: [Prompted<Asked.Reply>] = [Prompted(elsewhere: true), Prompted(end: "00")]
        answers += shownPrompts.map { Prompted(prompt: $0) } + updates.map { Prompted(update: $0) }
        answers += progress.map { Prompted(progress: $0) } + replies.map { Prompted(value: $0) }
        let prompting = calls.flatMap { call in abilities.map { Prompting(call: call, presenter: $0) } }
        return try prompting.map { try MessageSample(callOf: Asked.name, $0) }
            + answers.map { try MessageSample(replyOf: Asked.name, $0) }
    }
}

// The methods.
extension MessageSamples {
    private static func owner() throws -> [MessageSample] {
        var inSession = EvaluatePolicy(fullRequest)
        inSession.sessionID = "00"
        let none = Preflight(obstacle: error, hasReader: false, readerKind: nil, domainState: nil)
        let ready = kinds.map {
            Preflight(obstacle: nil, hasReader: true, readerKind: $0, domainState: bytes)
        }
        return try of([PreflightPolicy(.deviceOwner, for: application)], [none] + ready)
            + asking([EvaluatePolicy(request), inSession], evaluations)
            + of([IsOptedOut(application)], [Valued(true)])
            + asking(consents.map { SetOptedOut(true, for: application, $0) }, [Valued(true)])
            + of([BeginSession()], [Valued("00")])
    }

    private static func items() throws -> [MessageSample] {
        let identity = ChipIdentity(
            endorsementKey: bytes,
            certificate: bytes,
            attestationKey: bytes,
            sealed: bytes
        )
        let credential = ChipCredential(for: identity, credential: bytes, seed: bytes, preface: bytes)
        let attested = AttestedKey(
            item: sealedKey,
            key: bytes,
            authority: bytes,
            counter: bytes,
            counterValue: 7,
            passcode: bytes,
            statement: bytes,
            signature: bytes
        )
        let large = sealedSecret.with(Data(count: AttachedItem.mostInside + 1))
        let attached = [AttachedItem(sealedKey), AttachedItem(large)]
        let password = secret("password")
        let plain = ReleaseRequest(request)
        let full = ReleaseRequest(fullRequest, applicationPassword: password)
        var signing = UseItem(.sealed(sealedKey), for: .signature(over: bytes), full)
        signing.sessionID = "00"
        let reading = UseItem(.named(try itemID), for: .secret, plain)
        let sharing = UseItem(.sealed(large), for: .sharedSecret(with: bytes), plain)
        let signature = try #require(Signature(raw: Data(1...64)))
        return try of([HasChip()], [Valued(true)]) + of([ReadChipIdentity()], [identity])
            + of([MakeAttestedKey(access: .biometryAny, attestedFor: credential)], [attested])
            + of([makeKey, makeSecret], attached)
            + of([DecodeItem(bytes)], attached)
            + of([CheckItems([sealedKey, large])], [Valued(standings)])
            + asking(
                [reading, sharing, signing],
                [
                    Released(.secret(password), after: []),
                    Released(.signature(signature), after: evaluations),
                ]
            )
    }

    private static func storedItems() throws -> [MessageSample] {
        let (itemID, keyID, sshKeyID) = (try itemID, try keyID, try sshKeyID)
        let stored = standings.map {
            VaultItem(id: itemID, access: .biometryAny, createdAt: date, standing: $0)
        }
        let key = try publicKey
        return try of([PrepareVault()], [NoValue()])
            + of([AddItem(itemID, makeSecret), AddItem(keyID, makeKey)], [Optionally(nil), Optionally(key)])
            + of([ListItems()], [Valued(stored)])
            + of([ReadItemAccess(of: itemID)], [Valued(.biometryAny)])
            + of([ReadPublicKey(of: keyID)], [Valued(key)])
            + asking(consents.map { DeleteItem(itemID, $0) }, [NoValue()])
            + of(
                [AddSSHKey(sshKeyID, access: .biometryAny, allowsUnknownData: true, reuseSeconds: 9)],
                [Valued(key)]
            )
            + of([ReadSSHKeyRules(of: sshKeyID)], [Valued(rules)])
            + asking(consents.map { PinSSHKey(sshKeyID, to: rules.pins, $0) }, [NoValue()])
            + asking(
                consents.map {
                    SignForSSH(sshKeyID, data: bytes, binds: [bytes], client: 0, hosts: claims, $0)
                },
                [Valued(bytes)]
            )
            + asking([ListProgramItems(consent)], [programItems])
            + of([DeleteProgramItem(KeychainRowVersion(id: 1, revision: bytes))], [NoValue()])
    }

    private static let rules = SSHKeyRules(
        allowsUnknownData: true,
        reuseSeconds: 9,
        pins: [SSHPin(name: "x", key: bytes)]
    )
    private static let claims = SSHHostClaims(knownHosts: bytes, candidates: ["x"])

    private static var programItems: ProgramItems {
        let items = KeychainItemKind.allCases.map {
            ProgramItems.Item(
                version: KeychainRowVersion(id: 1, revision: bytes),
                kind: $0,
                name: "x",
                needsOwner: true
            )
        }
        return ProgramItems(programs: [.init(accessGroup: "a", items: items)], omitted: 0)
    }

    private static func keychain() throws -> [MessageSample] {
        let classes = KeychainClass.allCases.map { itemClass in
            KeychainRecord(
                itemClass,
                accessGroup: "a",
                accessible: "ak",
                flags: 1,
                isSynchronizable: false,
                attributes: ["acct": .text("x")]
            )
        }
        let version = KeychainRowVersion(id: 1, revision: bytes)
        var packer = RowPacker()
        for record in classes {
            for contents in [.encrypted, .damaged, .value(bytes), KeychainContents.sealed(sealedKey)] {
                packer.add(KeychainRow(version, record, contents))
            }
            packer.add(NewKeychainRow(record, .sealed(sealedSecret)))
        }
        let (rows, groups) = (packer.rows, ["a"])
        var narrow = KeychainMatch(.key, groups: groups)
        narrow.id = 1
        narrow.accessible = "ak"
        narrow.attributes = ["acct": .number(1)]
        narrow.leftOut = [2]
        narrow.isSynchronizable = nil
        let matches = [narrow] + KeychainClass.allCases.map { KeychainMatch($0, groups: groups) }
        let outcomes = ["stored", "taken", "stale", "noPasscode", "groupRefused"].map {
            KeychainInterface.Outcome(outcome: $0, rows: rows)
        }
        let finding = matches.map {
            KeychainInterface.Find(groups: groups, match: $0, withValues: true, limit: 1)
        }
        return try of(finding, [Valued(rows), Valued([])])
            + of([KeychainInterface.Add(groups: groups, new: rows, replacing: [version])], outcomes)
            + of([KeychainInterface.Update(groups: groups, changes: rows, replacing: [version])], outcomes)
            + of([KeychainInterface.Delete(groups: groups, matches: matches)], [Valued(1)])
    }

    private static func fingers() throws -> [MessageSample] {
        let state = EnrollmentState(digest: bytes, generation: 1)
        let difference = EnrollmentDifference(
            changed: true,
            added: [.leftThumb],
            removed: [.rightRing],
            isKnown: true
        )
        let selections: [FingerSelection] = [
            .print(PrintID()), .finger(.leftThumb, on: nil), .finger(.leftThumb, on: reader), .all,
        ]
        let reconciled = ReaderReconciliation(finished: 1, strays: prints, missing: enrolled, isListed: true)
        let exercise = ReaderExercise(clearsStorage: true, skipped: [.verify])
        let steps = ["failed", nil].map {
            ReaderExercise.StepResult(step: .clearStorage, seconds: 0.5, failure: $0, code: $0)
        }
        let new = [NewFinger(.leftThumb), NewFinger(.leftThumb, label: "mine", isGuided: true)]
        return try of([ListFingers()], [Valued(enrolled)])
            + of([ReadEnrollmentState(for: application)], [Optionally(nil), Optionally(state)])
            + of([CompareFingers(since: bytes, for: application)], [difference])
            + asking(new.map { EnrollFinger($0, consent) }, enrolled, progress)
            + asking(new.map { EnrollFingerFor(1000, $0, consent) }, enrolled, progress)
            + of(
                selections.map { LabelFingers($0, as: nil) } + [LabelFingers(.all, as: "mine")],
                [Valued(enrolled)]
            )
            + asking(selections.map { RemoveFingers($0, force: true, consent) }, [enrolled])
            + of([ListAcceptableFingers()], [Optionally(nil), Optionally(enrolled)])
            + asking(
                consents.map { AcceptFingers($0) },
                [Optionally(nil), Optionally(AcceptedFingers(kept: enrolled, removed: enrolled))]
            )
            + of([ReconcileReader()], [Optionally(nil), Optionally(reconciled)])
            + asking([ExerciseReader(exercise, consent)], [steps], progress)
    }

    private static func readers() throws -> [MessageSample] {
        let failures = ReaderError.Code.allCases.map { ReaderError($0, operation: "open", cause: "c") }
        return try of([ReaderInterface.List()], [Valued(infos)]) + of([ReaderInterface.Chosen()], infos)
            + of([ReaderInterface.TryOut(value: reader)], [NoValue()])
            + of([ReaderInterface.Prints(value: reader)], [Valued(prints)])
            + of([ReaderInterface.LockTrouble()], [Optionally(nil)] + failures.map { Optionally($0) })
            + of([ReaderInterface.Watch()], [NoValue()])
    }

    private static func passcode() throws -> [MessageSample] {
        let session = OwnerSession()
        var finger = AskForFinger(consent, in: session)
        finger.sessionID = "00"
        var setting = SetPasscode(secret("1234"), consent, shown: session)
        setting.sessionID = "00"
        let settings = [setting] + consents.map { SetPasscode(secret("1234"), $0, shown: session) }
        let lost = try [itemID, keyID, sshKeyID]
        return try asking([finger] + consents.map { AskForFinger($0, in: session) }, [NoValue()])
            + of(settings, [NoValue()])
            + of([IsPasscodeSet()], [Valued(true)])
            + asking([ChangePasscode(to: secret("1234"), consent)], [NoValue()])
            + of([ListItemsLostWithoutPasscode()], [Valued(lost)])
            + asking([RemovePasscode(force: true, consent)], [lost])
            + of([ReadKeyringStatus()], KeyringStatus.allCases.map { Valued($0) })
            + asking(consents.map { TurnKeyringOn($0) }, [NoValue()])
            + asking([TurnKeyringOff(consent)], [NoValue()])
            + asking(
                [nil, secret("p")].map {
                    MakeKeyringPassword(loginPassword: $0, hasSheet: true, consent)
                },
                [KeyringPassword(secret("k"))]
            )
            + asking([OpenKeyring(consent)], [KeyringPassword(secret("k"))])
            + of([ForgetKeyringPassword(secret("k"))], [NoValue()])
    }

    private static func upkeep() throws -> [MessageSample] {
        let keys: [VaultStatus.StateKey] = [.none, .file, .sealed, .both]
        let status = [chip(counters: nil), chip(counters: 1), nil].flatMap { chip in
            keys.map { key in
                VaultStatus(
                    chip: chip,
                    obstacle: chip == nil ? error : nil,
                    isSimulated: true,
                    isProvisioned: true,
                    isSameChip: chip.map { _ in true },
                    stateKey: key,
                    storageRoot: chip.map { _ in 0x8100_0001 }
                )
            }
        }
        var resealed = Resealing()
        resealed.resealed = [try itemID]
        resealed.unchanged = [try keyID, try sshKeyID]
        resealed.dead = [try itemID]
        let locks: [AttemptStatus.Lock] = [.open, .until(date), .untilPasscode]
        let attempts = ReaderClass.allCases.flatMap { readers in
            locks.map {
                AttemptStatus(
                    readers: readers,
                    failures: 1,
                    remaining: 4,
                    totalFailures: 1,
                    lockouts: 0,
                    isPending: false,
                    lock: $0
                )
            }
        }
        let lines = [
            AuditEntry(at: date, profile: "ada", application: "a", event: .lockout, outcome: "locked"),
            AuditEntry(
                at: date,
                profile: "ada",
                application: "a",
                event: .evaluation,
                outcome: "matched",
                finger: .leftThumb,
                reader: reader,
                detail: "d",
                asker: asker
            ),
        ]
        return try of([ReadFacts()], [MaintenanceFacts()]) + of([HasState()], [Valued(true)])
            + of([ReadChangeMark()], [Optionally(nil), Optionally([1, 2])])
            + of([ReadVaultStatus()], status) + of([ProvisionVault()], [NoValue()])
            + of([ResetVault(withoutChip: true)], [.fingersKept, .fingersLost(database: "d")])
            + asking(consents.map { ResealItems($0) }, [resealed])
            + asking(consents.map { DeleteEverything($0) }, [NoValue()])
            + of([ListAttempts()], [Valued(attempts)])
            + of([ReadLog(limit: 2), ReadLog(limit: 2, before: 9)], [Valued(lines)])
            + of([ReadLockFileFault()], [Optionally(nil), Optionally(error)])
    }

    private static func prompts() throws -> [MessageSample] {
        let ended = [nil, PromptAction.cancel, .fallback].flatMap { action in
            abilities.map { PromptInterface.Ended(prompt: "00", action: action, presenter: $0) }
        }
        let shown = shownPrompts.map { AgentInterface.Update(prompt: $0) }
        let changes = updates.map { AgentInterface.Update(change: .init(prompt: "00", update: $0)) }
        let others = [AgentInterface.Update(isRegistered: true), AgentInterface.Update(end: "00")]
        return try of([PromptInterface.Submit(prompt: "00", passcode: secret("1234"))], [Valued(true)])
            + of([PromptInterface.Typing(prompt: "00")], [Valued(true)])
            + of([PromptInterface.Close(prompt: "00")], [Valued(true)]) + of(ended, [Valued(true)])
            + of(abilities.map { AgentInterface.Register(presenter: $0) }, others + shown + changes)
    }

    private static func logins() throws -> [MessageSample] {
        let verify = LoginInterface.Verify(
            user: 1000,
            service: "sudo",
            terminal: nil,
            remoteHost: nil,
            timeoutMilliseconds: 1,
            mostTries: nil
        )
        let full = LoginInterface.Verify(
            user: 1000,
            service: "sudo",
            terminal: "tty1",
            remoteHost: "localhost",
            timeoutMilliseconds: 1,
            mostTries: 3,
            keyring: true,
            passwordChangedOn: 20_000,
            agent: 0
        )
        let unlocks = [nil, 3].map {
            LoginInterface.UnlockScreen(service: "swaylock", timeoutMilliseconds: 1, mostTries: $0)
        }
        let keep = [nil, 20_000].map {
            LoginInterface.Keep(user: 1000, password: secret("p"), changedOn: $0)
        }
        let kept = [nil, secret("k")].map { LoginInterface.Kept(value: $0 == nil, keyringPassword: $0) }
        let changes = [nil, secret("p")].map { LoginInterface.PasswordChanged(user: 1000, old: $0, new: $0) }
        let print = LoginInterface.TakeOver.Print(finger: .leftThumb, driver: "d", number: "n", size: 1)
        let takeOver = LoginInterface.TakeOver(
            user: 1000,
            prints: [print],
            bytes: secret("b"),
            isTrial: true,
            readersWereClosed: false
        )
        let leftOut = IdentifiedPerson.LeftOut(user: 1001, reason: .biometryNotEnrolled)
        let people = [nil, 0.01].map {
            IdentifiedPerson(user: 1000, finger: .leftThumb, chance: $0, leftOut: [leftOut])
        }
        let identify = [request, fullRequest].map { LoginInterface.Identify(users: [1000], request: $0) }
        let accounts = StoredAccount.State.allCases.flatMap { state in
            [nil, "ada"].map { StoredAccount(number: 1000, name: $0, current: $0, state: state) }
        }
        return try of(
            [verify, full],
            [
                .init(message: "m"), .init(matched: true), .init(matched: true, password: secret("p")),
                .init(matched: true, keyringPassword: secret("k")),
            ]
        )
            + of(unlocks, [.init(message: "m"), .init(matched: true)])
            + of(keep, kept) + of(changes, [NoValue()])
            + of([takeOver], [Valued(ImportOutcome.allCases)]) + asking(identify, people)
            + of([LoginInterface.Unlock(value: 1000)], [Valued(true)])
            + of([LoginInterface.ListAccounts()], [Valued(accounts)])
            + of(
                [
                    LoginInterface.RemoveAccount(value: 1000),
                    LoginInterface.RemoveAccount(value: 1000, existing: true),
                ],
                [NoValue()]
            )
            + of([LoginInterface.ConfirmAccount(value: 1000)], [NoValue()])
    }
}

// The values that several methods have.
extension MessageSamples {
    static let error = ServiceError(.noSuchItem, "wifi", cause: "c")
    private static let application = ApplicationID(rawValue: "org.example.app")
    private static let consent = ConsentRequest(application: application)
    private static let consents = [consent, ConsentRequest(application: application, passcodeAlone: true)]
    private static let bytes = Data([1, 2])
    private static let date = Date(timeIntervalSince1970: 1_795_372_684.5)
    private static let reader = ReaderID(rawValue: "mock-0")
    private static let asker = Asker(
        user: 1000,
        confinedAs: "snap.vault.app",
        process: "vault",
        processID: 77,
        unit: "session-2.scope",
        session: "2"
    )
    private static let abilities = [nil, true].map {
        PresenterAbilities(isInteractive: true, takesPasscode: false, hasPasscode: $0)
    }
    private static let standings: [VaultItem.Standing] = [.valid, .enrollmentChanged, .unknown, .tampered]

    private static var itemID: ItemID {
        get throws { ItemID(.secret, try ItemName("wifi"), of: "ada") }
    }
    private static var keyID: ItemID {
        get throws { ItemID(.key, try ItemName("signer"), of: "ada") }
    }
    private static var sshKeyID: ItemID {
        get throws { ItemID(.sshKey, try ItemName("laptop"), of: "ada") }
    }
    private static var publicKey: SigningKeyPublic {
        get throws { try #require(SigningKeyPublic(x963: FormTests.point)) }
    }
    private static let sealedSecret = SealedItem(
        kind: .secret,
        profile: "ada",
        access: .none,
        publicKey: nil,
        encoded: bytes
    )
    private static let sealedKey = SealedItem(
        kind: .key,
        profile: "ada",
        access: .none,
        publicKey: bytes,
        encoded: bytes
    )
    private static let makeKey = MakeItem(.key, access: .none, applicationPassword: nil)
    private static let makeSecret = MakeItem(
        .secret(secret("s")),
        access: .none,
        applicationPassword: secret("p")
    )

    private static let request = EvaluationRequest("unlock")
    private static var fullRequest: EvaluationRequest {
        var request = EvaluationRequest(
            policy: .biometrics,
            purpose: .signIn("example.org"),
            reason: "unlock",
            application: application,
            cancelTitle: "No",
            fallbackTitle: ""
        )
        request.takesPasscodeAlone = true
        return request
    }
    private static let kinds: [ReaderInfo.Kind] = [.hardware, .virtual, .mock]
    private static let evaluations =
        [Evaluation(method: .passcode, finger: nil, domainState: nil, isReused: false, readerKind: nil)]
        + kinds.map {
            Evaluation(
                method: .biometry,
                finger: .leftThumb,
                domainState: bytes,
                isReused: true,
                readerKind: $0,
                print: PrintID()
            )
            .after(failedTries: 2)
        }

    private static let prints = [
        EnrollmentMetadata(),
        EnrollmentMetadata(
            finger: .leftThumb,
            userName: "ada",
            date: CalendarDate(year: 2026, month: 1, day: 2)
        ),
    ]
    private static let enrolled = ReaderAccess.State.allCases.flatMap { access in
        [ReaderInfo.Storage.host, .reader].map { storage in
            EnrolledFinger(
                id: PrintID(),
                finger: .leftThumb,
                label: access == .open ? "mine" : nil,
                reader: reader,
                readerName: "Mock reader",
                storage: storage,
                enrolledAt: date,
                lastMatchedAt: access == .open ? date : nil,
                access: access
            )
        }
    }
    private static let infos =
        kinds.map { info(kind: $0) } + [info(usb: USBModel(vendor: 0x1c7a, product: .max))]
        + ReaderAccess.State.allCases.map { info(access: $0) }
        + [ReaderStrength.minutiaeScore(threshold: 40), .onReader].map { info(.swipe, .reader, strength: $0) }

    private static func info(
        _ scanType: ReaderInfo.ScanType = .press,
        _ storage: ReaderInfo.Storage = .host,
        kind: ReaderInfo.Kind = .mock,
        strength: ReaderStrength = .none,
        access: ReaderAccess.State = .closed,
        usb: USBModel? = nil
    ) -> ReaderInfo {
        ReaderInfo(
            id: reader,
            driver: "mock",
            name: "Mock reader",
            kind: kind,
            scanType: scanType,
            features: [.identify],
            enrollStages: 5,
            storage: storage,
            strength: strength,
            access: ReaderAccess(access, ["others"]),
            usb: usb
        )
    }

    private static let scans =
        [ScanEvent.touch, .finger(present: true), .alike, .stage(completed: 1, total: 5)]
        + ScanRetry.allCases.map { .retry($0) }
    private static let updates: [PromptUpdate] =
        scans.map { .scan($0) } + [
            .noMatch(remaining: 2), .anotherFinger, .fingerEnded("m"), .checking,
            .wrongPasscode(triesLeft: nil), .wrongPasscode(triesLeft: 2), .throttled(for: .seconds(1)),
            .passcodeEnded("m"), .matched(.leftThumb), .verified, .ended("m"),
        ]
    private static let progress: [EnrollmentProgress] =
        infos.map { .began($0) } + scans.map { .scan($0) } + FingerArea.allCases.map { .area($0) }
        + ReaderExercise.Step.allCases.map { .exercising($0) }
        + [.confirming(triesLeft: 2), .again, .tested(recognized: 2, tested: 3, total: 4)]

    private static let purposes: [TouchPurpose] = [
        .yes, .storedByProgram, .item("x"), .signIn("x"), .setPasscode, .changePasscode, .removePasscode,
        .reseal, .changeFingers, .deleteItem("x"), .listItems, .deleteEverything, .sshLogin("x"),
        .sshLoginBound("x"),
        .sshLoginUnproven("x"),
        .gitSignature, .sshSignature("x"), .sshAuthentication("x"), .sshUnknownData("x"), .sshPins("x"),
        .keyring, .keyringOff, .keyringPassword,
        .openKeyring, .optOut("x"), .logIn("x"), .unlockScreen("x"),
    ]
    private static let shownPrompts =
        purposes.map { shown($0) }
        + [
            shown(.yes, .hardware, .swipe, asker: Asker(user: 1000)),
            shown(.storedByProgram, .virtual, limits: .standard, fallbackTitle: "Passcode", asker: asker),
        ]

    private static func shown(
        _ purpose: TouchPurpose,
        _ kind: ReaderInfo.Kind = .mock,
        _ scanType: ReaderInfo.ScanType = .press,
        limits: ProofLimits? = nil,
        fallbackTitle: String? = nil,
        asker: Asker? = nil
    ) -> ShownPrompt {
        let prompt = Prompt(
            title: "Vault",
            reason: "unlock",
            purpose: purpose,
            limits: limits,
            cancelTitle: "Cancel",
            fallbackTitle: fallbackTitle,
            readerKind: kind,
            scanType: scanType,
            parts: [.finger, .passcode],
            asker: asker
        )
        return ShownPrompt(id: "00", prompt: prompt)
    }

    private static func chip(counters: Int?) -> ChipStatus {
        ChipStatus(
            manufacturer: "IBM",
            vendor: "SW TPM",
            firmware: "1",
            specRevision: "1.64",
            counters: counters,
            countersFree: counters,
            ownerAuthSet: false,
            lockoutAuthSet: false,
            failures: 0,
            failureLimit: 3,
            recoverySeconds: 1000,
            inLockout: false
        )
    }
}
