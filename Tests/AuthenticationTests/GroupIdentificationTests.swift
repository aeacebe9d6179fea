// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlFingerprint
import Testing
import WhorlService

/// The question which of a few people touches the reader.
@Suite struct `Identifying one of a few people` {
    /// Two people with a finger each, a third state in which the tries are counted, and one reader.
    private struct Counter {
        let anna: Fixture
        let ben: Fixture
        let asker: Fixture
        let reader: ScriptedReader

        init(_ steps: [ScriptedReader.Step], info: ReaderInfo = .scripted()) async throws {
            anna = try Fixture(info: info, profile: "anna")
            ben = try Fixture(info: info, profile: "ben")
            asker = try Fixture(info: info, profile: "root")
            try await anna.enroll(.rightIndex)
            try await ben.enroll(.leftThumb)
            reader = ScriptedReader(steps, info: info)
        }

        func ask(people: Int = 10, oneIn: Int = 100) async -> Result<IdentifiedPerson, ServiceError> {
            var rules = GroupRules()
            rules.mostPeople = people
            rules.strangerOneIn = oneIn
            return await ask(rules)
        }

        func ask(
            _ rules: GroupRules,
            _ strength: TouchStrength = .any
        ) async -> Result<IdentifiedPerson, ServiceError> {
            let question = GroupIdentification(
                asker: asker.engine(reader: reader, strength: strength),
                people: [(1001, anna.engine(reader: reader)), (1002, ben.engine(reader: reader))],
                rules: rules
            )
            do throws(ServiceError) {
                return .success(
                    try await question.identify(Fixture.request(), presenter: ScriptedPresenter())
                )
            } catch {
                return .failure(error)
            }
        }
    }

    @Test func `names the person, the finger and the chance of a mistake, and logs it for both`() async throws
    {
        let counter = try await Counter([.noMatch, .match(1)])
        let person = try #require(try? await counter.ask().get())
        #expect(person.user == 1002 && person.finger == .leftThumb && person.leftOut.isEmpty)
        #expect(person.strangerOneIn == 869)
        #expect(try await counter.ben.log() == ["evaluation identified"])
        #expect(try await counter.anna.log().isEmpty)
        #expect(try await counter.asker.log() == ["failedTry noMatch", "evaluation identified"])
        #expect(counter.reader.counts.opens == 1 && counter.reader.counts.closes == 1)
    }

    @Test func `charges a stranger's touches to the question and to no person`() async throws {
        let counter = try await Counter(Array(repeating: .noMatch, count: 9))
        #expect(await counter.ask().code == .authenticationFailed)
        #expect(await counter.ask().code == .biometryLockout)
        #expect(await counter.ask().code == .biometryLockout)
        #expect(counter.reader.counts.scans == 5)
        for person in [counter.anna, counter.ben] { #expect(try await person.record().failures == 0) }
        // The asker's own fingers are not locked either.
        #expect(try await counter.asker.record().failures == 0)
        counter.asker.clock.advance(.seconds(301))
        #expect(await counter.ask().code == .biometryLockout)
        #expect(counter.reader.counts.scans == 6)
    }

    @Test func `is refused before a touch where the administrator allows no group, or a smaller one`()
        async throws
    {
        let counter = try await Counter([.match(0)])
        #expect(await counter.ask(GroupRules()).code == .invalidContext)
        #expect(await counter.ask(people: 1).code == .invalidContext)
        #expect(counter.reader.counts.opens == 0)
    }

    @Test func `is refused before a touch where strangers would match too often`() async throws {
        let counter = try await Counter([.match(0)])
        #expect(await counter.ask(oneIn: 870).code == .invalidContext)
        #expect(counter.reader.counts.opens == 0)
        #expect(await counter.ask(oneIn: 869).error == nil)
    }

    @Test(arguments: [ReaderStrength.onReader, .minutiaeScore(threshold: 39)])
    func `is refused where nothing is known about the reader, unless any chance is taken`(
        strength: ReaderStrength
    ) async throws {
        let counter = try await Counter([.match(0)], info: .scripted(strength: strength))
        #expect(await counter.ask(oneIn: 2).code == .invalidContext)
        let person = try #require(try? await counter.ask(oneIn: 1).get())
        #expect(person.chance == nil && person.strangerOneIn == nil)
    }

    @Test func `leaves out who is locked, and says so`() async throws {
        let counter = try await Counter([.match(0)])
        counter.anna.reader.add(Array(repeating: .noMatch, count: 5))
        for _ in 0..<2 { _ = await counter.anna.evaluate() }
        let person = try #require(try? await counter.ask().get())
        #expect(person.user == 1002)
        #expect(person.leftOut == [IdentifiedPerson.LeftOut(user: 1001, reason: .biometryLockout)])
        #expect(counter.reader.counts.galleries.map(\.count) == [1])
    }

    @Test func `takes a reader that compares by itself where the machine demands one`() async throws {
        let (chip, twoFingers) = (TouchStrength(isMatchedOnChip: true), TouchStrength(hasTwoFingers: true))
        var rules = GroupRules()
        rules.mostPeople = 2
        let weak = try await Counter([.match(0)])
        #expect(await weak.ask(rules, chip).code == .biometryNotEnrolled)
        #expect(weak.reader.counts.opens == 0)
        let strong = try await Counter([.match(0)], info: .scripted(storage: .reader))
        #expect(await strong.ask(rules, chip).error == nil)
        #expect(await weak.ask(rules, twoFingers).error == nil)
    }

    @Test func `takes no match with a print that was not given`() async throws {
        let counter = try await Counter([.matchStranger])
        #expect(await counter.ask().code == .readerUntrustworthy)
        #expect(try await counter.anna.log().isEmpty)
        #expect(try await counter.ben.log().isEmpty)
    }

    @Test func `computes the chance as the page says`() {
        for (prints, oneIn) in [(1, 1737), (5, 347), (10, 174), (17, 102), (20, 87), (50, 35)] {
            let chance = FalseMatchRate.among(prints: prints, at: .minutiaeScore(threshold: 40))
            #expect(chance.map { Int(1 / $0) } == oneIn)
        }
    }
}
