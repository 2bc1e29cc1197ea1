import Foundation
import IndoorLocalizationTesting
import IndoorVocabulary
import LocalizationSession
import LoopbackServers
import SQLiteFiles
import TagTracking
import XCTest
@testable import TagTrackingService

/// The service of alerts with files that can't be written, and without a file.
final class AlertServiceTests: XCTestCase {
    private static let start = Instant(nanoseconds: 1_795_338_000_000_000_000)

    /// A destination that keeps what it gets.
    private struct Destination: FleetOutputSink {
        let events = WatchedState<[AlertEvent]>([])
        let statuses = WatchedState<[AlertStatus]>([])

        func write(_ outputs: [FleetOutput]) async {}

        func write(_ alerts: [AlertEvent]) async { events.update { $0 += alerts } }

        func use(_ alerts: AlertStatus) async { statuses.update { $0.append(alerts) } }
    }

    /// A destination that accepts events when a test lets it.
    private struct SlowDestination: FleetOutputSink {
        let hasBegun = WatchedState(false)
        let isOpen = WatchedState(false)

        func write(_ outputs: [FleetOutput]) async {}

        func write(_ alerts: [AlertEvent]) async {
            hasBegun.update { $0 = true }
            try? await isOpen.wait { $0 }
        }
    }

    private struct NoHearings: HearingSource {
        func hearings(of tag: TagKey) async -> [HearingTable.Hearing] { [] }

        func hearings(by receiver: String) async -> [HearingTable.Hearing]? { nil }

        func lastReadings(of tags: [TagKey]) async -> [TagKey: Instant] { [:] }
    }

    /// A file of alerts whose writes a test can let fail.
    private struct File {
        let path: String
        let other: SQLiteFile<AlertStoreError>

        init(_ path: String) throws {
            self.path = path
            other = try SQLiteFile<AlertStoreError>(path: path, waiting: Bounded.longest)
        }

        func spoil() throws { try other.run("ALTER TABLE machine RENAME TO spoiled") }

        func mend() throws { try other.run("ALTER TABLE spoiled RENAME TO machine") }
    }

    private let destination = Destination()
    private let reports = WatchedState<[String]>([])

    private func path() throws -> String {
        let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        addTeardownBlock { try? FileManager.default.removeItem(atPath: path) }
        return path + "/alerts.db"
    }

    private var rules: AlertRules {
        var rule = AlertRule(name: "Battery", condition: .batteryLow, tags: [.beginning("")])
        rule.battery.percent = 20
        return AlertRules([rule])
    }

    private func service(
        _ setup: AlertService.Setup, after others: [any FleetOutputSink] = []
    ) async throws -> AlertService {
        let reports = reports
        return try await AlertService(
            setup, to: others + [destination], hearings: NoHearings(), isListening: true, now: { Self.start }
        ) { text in reports.update { $0.append(text) } }
    }

    private func waitForEvents(_ count: Int) async throws {
        let events = destination.events
        try await Bounded.wait(for: "\(count) events") { try await events.wait { $0.count >= count } }
    }

    private func levels(_ percent: UInt8, _ names: String...) -> [TagKey: TagBattery] {
        Dictionary(uniqueKeysWithValues: names.map { (.name($0), TagBattery(percent: percent)) })
    }

    func testEventsThatCouldNotBeStoredReachTheWebhookAfterThat() async throws {
        let ids = WatchedState<[String]>([])
        let server = try RudeServer { _, request in
            let line = request.split(separator: "\r\n").first { $0.lowercased().hasPrefix("webhook-id: ") }
            ids.update { $0.append(String(line?.dropFirst(12) ?? "")) }
            return .with("HTTP/1.1 204 No Content\nContent-Length: 0")
        }
        defer { server.stop() }
        let path = try path()
        let store = try AlertStore(path: path)
        let file = try File(path)
        let service = try await service(
            .init(
                rules: rules, register: TagRegister(), epoch: 1, store: store,
                // A busy machine must not make it send an event twice.
                webhook: AlertWebhook(server.url, patience: Bounded.longest)))
        let running = Task { await service.run() }
        try file.spoil()
        await service.write(levels(10, "a"))
        await service.write(levels(10, "b"))
        try await waitForEvents(2)
        XCTAssertEqual(destination.events.value.map(\.id), ["1-1", "1-2"], "other destinations get them at once")
        XCTAssertEqual(reports.value.count, 1, "\(reports.value)")
        XCTAssertTrue(reports.value.first?.hasPrefix("alerts aren't stored: ") == true, "\(reports.value)")
        try file.mend()
        await service.write(levels(90, "a"))
        try await Bounded.wait(for: "the webhook") { try await ids.wait { $0.count >= 3 } }
        running.cancel()
        await running.value
        await service.stop()
        XCTAssertEqual(ids.value, ["1-1", "1-2", "1-3"])
        XCTAssertEqual(reports.value.last, "alerts are stored again")
        let latest = try await store.begin().latest
        XCTAssertEqual(try latest.map { try AlertEvent(json: $0).id }, ["1-1", "1-2", "1-3"])
    }

    func testEventsThatAreTooManyUntilTheyCanBeStoredAreDroppedAndCounted() async throws {
        let path = try path()
        var limits = AlertStore.Limits()
        limits.count = 2
        let store = try AlertStore(path: path, limits: limits)
        let file = try File(path)
        let service = try await service(.init(rules: rules, register: TagRegister(), epoch: 1, store: store))
        try file.spoil()
        await service.write(levels(10, "a", "b", "c"))
        try await waitForEvents(3)
        try file.mend()
        await service.stop()
        XCTAssertEqual(reports.value.last, "alerts are stored again; too many events waited, lost: 1")
        let latest = try await store.begin().latest
        XCTAssertEqual(try latest.map { try AlertEvent(json: $0).id }, ["1-2", "1-3"])
    }

    func testTheFleetDoesNotWaitForAFileThatAnotherProgramHasLocked() async throws {
        let path = try path()
        let store = try AlertStore(path: path, waiting: Bounded.longest)
        let file = try File(path)
        let service = try await service(.init(rules: rules, register: TagRegister(), epoch: 1, store: store))
        try file.other.run("BEGIN IMMEDIATE")
        await service.write(levels(10, "a"))
        await service.write(levels(10, "b"))
        await service.use(register: TagRegister(), removing: [.name("a")])
        XCTAssertEqual(destination.events.value, [], "no destination gets an event that isn't stored")
        XCTAssertEqual(destination.statuses.value.count, 1)
        try file.other.run("ROLLBACK")
        await service.stop()
        XCTAssertEqual(destination.events.value.map(\.id), ["1-1", "1-2", "1-3"])
        XCTAssertEqual(destination.statuses.value.map(\.active.count), [0, 1])
        XCTAssertEqual(reports.value, [])
        let latest = try await store.begin().latest
        XCTAssertEqual(try latest.map { try AlertEvent(json: $0).id }, ["1-1", "1-2", "1-3"])
    }

    func testEventsThatAreTooManyWhileOthersArePassedOnAreLostAndCounted() async throws {
        var setup = AlertService.Setup(rules: rules, register: TagRegister(), epoch: 1)
        setup.mostWaiting = 1
        let slow = SlowDestination()
        let service = try await service(setup, after: [slow])
        await service.write(levels(10, "a"))
        try await Bounded.wait(for: "the first event") { try await slow.hasBegun.wait { $0 } }
        await service.write(levels(10, "b"))
        await service.write(levels(10, "c"))
        slow.isOpen.update { $0 = true }
        await service.stop()
        XCTAssertEqual(destination.events.value.map(\.tag), [.name("a"), .name("b")])
        XCTAssertEqual(reports.value, ["too many events of alerts waited, lost: 1"])
        // The destinations know the alert whose begin was lost. At the end, they forget all, as no later start knows them.
        XCTAssertEqual(destination.statuses.value.map(\.active.count), [0, 3, 0])
    }

    func testTheChecksContinueWhileEventsWait() async throws {
        let (slow, looks) = (SlowDestination(), WatchedState(0))
        let service = try await AlertService(
            .init(rules: rules, register: TagRegister(), epoch: 1), to: [slow], hearings: NoHearings(),
            isListening: true,
            now: {
                looks.update { $0 += 1 }
                return Self.start
            }, report: { _ in })
        await service.write(levels(10, "a"))
        try await Bounded.wait(for: "the first event") { try await slow.hasBegun.wait { $0 } }
        let seen = looks.value
        let work = Task { await service.run() }
        // One check looks at the clock twice.
        try await Bounded.wait(for: "a second check") { try await looks.wait { $0 > seen + 2 } }
        work.cancel()
        slow.isOpen.update { $0 = true }
        await service.stop()
    }

    func testDestinationsForgetAlertsThatNoLaterStartKnows() async throws {
        let bare = try await service(.init(rules: rules, register: TagRegister(), epoch: 1))
        await bare.write(levels(10, "a"))
        await bare.stop()
        XCTAssertEqual(destination.statuses.value.last?.active.count, 0)
        XCTAssertEqual(destination.statuses.value.last?.tags, [.name("a")], "the entity of Home Assistant stays")
        XCTAssertEqual(destination.statuses.value.count, 2)

        let store = try AlertStore(path: path())
        let stored = try await service(.init(rules: rules, register: TagRegister(), epoch: 1, store: store))
        await stored.write(levels(10, "a"))
        await stored.stop()
        XCTAssertEqual(destination.statuses.value.count, 3, "with a file, alerts last")
    }

    func testATagThatTheRegisterDoesNotHaveIsAWarningAtTheStart() async throws {
        let rule = AlertRule(name: "A", condition: .silent, tags: [.named("Crat")])
        let register = TagRegister([.init(key: .name("x"), name: "Cart")])
        let service = try await service(.init(rules: AlertRules([rule]), register: register, epoch: 1))
        let warning = "--alerts: rule 'A', tags: the register has no tag 'Crat'; did you mean 'Cart'?"
        XCTAssertEqual(reports.value, [warning])
        await service.use(rules: AlertRules([rule]))
        XCTAssertEqual(reports.value, [warning, warning])
    }

    func testTooManyPairsAreReportedOnce() async throws {
        var setup = AlertService.Setup(rules: rules, register: TagRegister(), epoch: 1)
        setup.mostPairs = 1
        let service = try await service(setup)
        await service.write(levels(10, "a"))
        XCTAssertEqual(reports.value, [])
        await service.write(levels(10, "b"))
        await service.write(levels(10, "c"))
        await service.stop()
        XCTAssertEqual(reports.value.count, 1)
        XCTAssertTrue(reports.value[0].hasPrefix("--alerts: the rules select too many tags"), "\(reports.value)")
        XCTAssertEqual(destination.events.value.map(\.tag), [.name("a")])
    }
}
