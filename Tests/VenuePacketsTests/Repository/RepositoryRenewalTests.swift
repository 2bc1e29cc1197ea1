import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import TemporaryFiles
import XCTest

@testable import VenuePackets

/// A repository that is in use for months, while venues on its nginx are published, broken and corrected.
final class RepositoryRenewalTests: XCTestCase {
    private func repository(
        over server: NginxServer, clock: ManualClock, cache: String? = nil, seed: UInt64 = 3
    ) throws -> VenueRepository {
        VenueRepository(
            cache: try cache ?? temporaryFolder(), server: try awaitedServer(server.url()), clock: clock, seed: seed)
    }

    /// Returns the next catalogue and the next packet among the updates.
    private func renewal(_ updates: AsyncStream<VenueUpdate>) async throws -> (venues: [VenueSummary], packet: Venue?) {
        var (venues, packet): ([VenueSummary], Venue?) = ([], nil)
        for update in try await Bounded.first(2, of: updates) {
            switch update {
            case .catalogue(let told): venues = told
            case .packet(let told): packet = told
            case .failure(let error): XCTFail("\(error)")
            }
        }
        return (venues, packet)
    }

    func testAVenueThatIsEnteredAgainHasTheNewerVersionTheNextTime() async throws {
        let root = try publishedFolder()
        let (server, clock) = (try nginx(serving: root), ManualClock())
        let repository = try repository(over: server, clock: clock)
        let updates = repository.updates
        _ = try await repository.catalogue()
        try assertWhole(try await repository.packet(for: 1) { _ in }, version: 3)
        try publish(version: 4, in: root)
        clock.advance(by: .seconds(299))
        try assertWhole(try await repository.packet(for: 1) { _ in }, version: 3)
        clock.advance(by: .seconds(1))
        try assertWhole(try await repository.packet(for: 1) { _ in }, version: 3)
        let renewed = try await renewal(updates)
        XCTAssertEqual(renewed.venues.map(\.version), [4])
        XCTAssertEqual(renewed.packet?.version, 4)
        try assertWhole(try await repository.packet(for: 1) { _ in }, version: 4)
        let requests = try server.stopAndTellRequests().filter { $0.path == "/catalogue.json" }
        XCTAssertEqual(requests.map(\.status), [200, 200])
    }

    func testNewVenuesAndVersionsArriveEveryHourWhileTheUpdatesAreFollowed() async throws {
        let root = try publishedFolder()
        let (server, clock) = (try nginx(serving: root), ManualClock())
        let repository = try repository(over: server, clock: clock)
        let updates = repository.updates
        _ = try await repository.catalogue()
        try assertWhole(try await repository.packet(for: 1) { _ in }, version: 3)
        var last = Instant.zero
        for version in 4...5 {
            try publish(version: version, in: root)
            try publish(id: version, version: 1, in: root)
            let due = try await Bounded.wait(for: "the alarm") { try await clock.waitForSleeper() }
            XCTAssertGreaterThanOrEqual(last.seconds(to: due), 3_240)
            XCTAssertLessThanOrEqual(last.seconds(to: due), 3_600)
            last = due
            clock.advance(to: due)
            let renewed = try await renewal(updates)
            XCTAssertEqual(renewed.venues.map(\.id), [1] + (4...version).map { VenueID(rawValue: $0) })
            XCTAssertEqual(renewed.packet?.version, version)
        }
        let requests = try server.stopAndTellRequests().filter { $0.path == "/catalogue.json" }
        XCTAssertEqual(requests.map(\.status), [200, 200, 200])
    }

    func testMachinesThatStartTogetherSpreadTheirRequests() async throws {
        let server = try nginx(serving: try publishedFolder())
        var intervals: Set<Instant> = []
        for seed in UInt64(1)...3 {
            let clock = ManualClock()
            let repository = try repository(over: server, clock: clock, seed: seed)
            let updates = repository.updates
            _ = try await repository.catalogue()
            intervals.insert(try await Bounded.wait(for: "the alarm") { try await clock.waitForSleeper() })
            withExtendedLifetime(updates) {}
        }
        XCTAssertEqual(intervals.count, 3, "\(intervals)")
    }

    func testNothingIsRequestedWhileNobodyFollowsTheUpdates() async throws {
        let (server, clock) = (try nginx(serving: try publishedFolder()), ManualClock())
        let repository = try repository(over: server, clock: clock)
        _ = try await repository.catalogue()
        _ = try await repository.packet(for: 1) { _ in }
        XCTAssertEqual(clock.deadlines, [])
        let session = Task { [updates = repository.updates] in for await _ in updates {} }
        _ = try await repository.catalogue()
        let due = try await Bounded.wait(for: "the alarm") { try await clock.waitForSleeper() }
        session.cancel()
        await session.value
        clock.advance(to: due)
        try await Bounded.wait(for: "the end of the alarms") { try await clock.waitUntilNobodySleeps() }
        let requests = try server.stopAndTellRequests().filter { $0.path == "/catalogue.json" }
        XCTAssertEqual(requests.map(\.status), [200, 304])
    }

    /// Returns the path of the only zip of venue 1, whose last byte is changed.
    private func breakPacket(of root: String) throws -> (path: String, whole: Data) {
        let folder = root + "/venues/1/"
        let name = try XCTUnwrap(try FileManager.default.contentsOfDirectory(atPath: folder).sorted().last)
        let whole = try Data(contentsOf: URL(filePath: folder + name))
        var broken = whole
        broken[broken.endIndex - 1] ^= 1
        try broken.write(to: URL(filePath: folder + name))
        return (folder + name, whole)
    }

    private func assertBroken(_ repository: VenueRepository, line: UInt = #line) async {
        let error = await repositoryError(line: line) { try await repository.venue(1) }
        guard case .brokenPacket = error else { return XCTFail("\(String(describing: error))", line: line) }
    }

    func testABrokenPacketIsFetchedOnceUntilTheCatalogueListsAnother() async throws {
        let root = try publishedFolder()
        _ = try breakPacket(of: root)
        let (server, clock) = (try nginx(serving: root), ManualClock())
        let repository = try repository(over: server, clock: clock)
        for _ in 1...3 { await assertBroken(repository) }
        try publish(version: 4, in: root)
        try assertWhole(try await repository.venue(1), version: 4)
        let requests = try server.stopAndTellRequests()
        let zips = requests.filter { $0.path.hasPrefix("/venues/") }
        XCTAssertEqual(zips.map(\.status), [200, 200], "\(requests)")
        let catalogues = requests.filter { $0.path == "/catalogue.json" }
        XCTAssertEqual(catalogues.map(\.status), [200, 304, 304, 304, 200])
    }

    func testAPacketThatIsCorrectedInPlaceIsFetchedAfterTenMinutes() async throws {
        let root = try publishedFolder()
        let packet = try breakPacket(of: root)
        let (server, clock) = (try nginx(serving: root), ManualClock())
        let repository = try repository(over: server, clock: clock)
        await assertBroken(repository)
        try packet.whole.write(to: URL(filePath: packet.path))
        clock.advance(by: .seconds(599))
        await assertBroken(repository)
        clock.advance(by: .seconds(1))
        try assertWhole(try await repository.venue(1), version: 3)
        XCTAssertEqual(try server.stopAndTellRequests().filter { $0.path.hasPrefix("/venues/") }.count, 2)
    }

    func testThePauseDoublesWhileTheSameFilesAreBroken() async throws {
        let root = try publishedFolder()
        _ = try breakPacket(of: root)
        for (pause, downloads) in [(1_199, 2), (1_200, 3)] {
            let (server, clock) = (try nginx(serving: root), ManualClock())
            let repository = try repository(over: server, clock: clock)
            for pause in [0, 600, pause] {
                clock.advance(by: .seconds(pause))
                await assertBroken(repository)
            }
            let requests = try server.stopAndTellRequests()
            XCTAssertEqual(requests.count { $0.path.hasPrefix("/venues/") }, downloads)
        }
    }

    /// The thread of a transfer holds its file for a moment longer than the download, while the next one may begin.
    func testADownloadThatWasRemovedLeavesTheNextOneOfTheSameFile() throws {
        let work = WorkFolder(path: try temporaryFolder())
        for isEmptied in [false, true] {
            var held: PartialFile? = try PartialFile(of: "d1", in: work)
            held?.remove()
            let next = try PartialFile(of: "d1", in: work)
            if !isEmptied { try next.begin(EntityTag("\"v2\"")) }
            held?.remove()
            held = nil
            let names = try FileManager.default.contentsOfDirectory(atPath: work.path).sorted()
            XCTAssertEqual(names, isEmptied ? ["d1.part"] : ["d1.part", "d1.part.tag"])
            next.remove()
        }
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: work.path), [])
    }

    /// The thread of a transfer may still hold the file of the download that has ended.
    func testADownloadResumesAnEarlierOneThatIsStillHeld() throws {
        let work = WorkFolder(path: try temporaryFolder())
        let tag = try XCTUnwrap(EntityTag("\"v1\""))
        var held: PartialFile? = try PartialFile(of: "d1", in: work)
        try held?.begin(tag)
        _ = try Array("abc".utf8).withUnsafeBytes { try held?.append($0) }
        held?.end()
        let next = try PartialFile(of: "d1", in: work)
        XCTAssertEqual(try next.start(), TransferRequest.Rest(offset: 3, tag: tag))
        // Without a tag, the file would be removed at the end of its own download.
        try next.begin(nil)
        held = nil
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: work.path), ["d1.part"])
        next.end()
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: work.path), [])
    }

    /// Another process that starts may find a download that ends before it can lock it.
    func testASweepLeavesADownloadThatHasReplacedTheOneItFound() throws {
        let work = WorkFolder(path: try temporaryFolder())
        let ended = try PartialFile(of: "d1", in: work)
        let found = try OpenFile(ended.path, O_RDONLY)
        ended.remove()
        ended.end()
        let next = try PartialFile(of: "d1", in: work)
        try next.begin(EntityTag("\"v2\""))
        work.remove(leftover: found)
        let names = try FileManager.default.contentsOfDirectory(atPath: work.path).sorted()
        XCTAssertEqual(names, ["d1.part", "d1.part.tag"])
        next.remove()
    }

    func testAStoredVersionIsUsedUntilTheBrokenNewerOneIsCorrected() async throws {
        let root = try publishedFolder()
        let (server, clock) = (try nginx(serving: root), ManualClock())
        let repository = try repository(over: server, clock: clock)
        try assertWhole(try await repository.venue(1), version: 3)
        try publish(version: 4, in: root)
        _ = try breakPacket(of: root)
        _ = try await repository.catalogue()
        for _ in 1...3 { try assertWhole(try await repository.venue(1), version: 3) }
        try publish(version: 5, in: root)
        _ = try await repository.catalogue()
        try assertWhole(try await repository.venue(1), version: 5)
        let zips = try server.stopAndTellRequests().filter { $0.path.hasPrefix("/venues/") }
        XCTAssertEqual(zips.count, 3, "\(zips)")
    }
}
