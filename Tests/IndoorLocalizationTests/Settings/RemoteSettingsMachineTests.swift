import IndoorLocalization
import XCTest

/// When a server is asked for settings, and what becomes of its answers.
final class RemoteSettingsMachineTests: XCTestCase {
    private let entries = [SettingsEntry(key: "areaDwell", value: 1)]
    private let network = LocalizationError(code: .network, message: "the server is away")

    private func machine(interval: Int = 300) -> RemoteSettingsMachine {
        var settings = RemotePullSettings()
        settings.interval = .seconds(interval)
        return RemoteSettingsMachine(settings, seed: 1)
    }

    func testTheMachineRequestsImmediatelyAndThenAtTheIntervalWithTheTag() {
        var machine = machine()
        XCTAssertEqual(machine.handle(.start, at: .zero), [.ask(unless: nil)])
        XCTAssertEqual(machine.state, .asking)
        XCTAssertEqual(machine.handle(.document(entries, tag: "\"1\""), at: Instant(seconds: 2)), [.use(entries)])
        XCTAssertEqual(machine.nextWake, Instant(seconds: 302))
        XCTAssertEqual(machine.handle(.tick, at: Instant(seconds: 301)), [], "too early")
        XCTAssertEqual(machine.handle(.tick, at: Instant(seconds: 302)), [.ask(unless: "\"1\"")])
        XCTAssertEqual(machine.handle(.unchanged, at: Instant(seconds: 303)), [])
        XCTAssertEqual(machine.state, .waiting(until: Instant(seconds: 603)))
    }

    func testTheMachineUsesOnlyNewSettingsOfAServerWithoutTags() {
        var machine = machine()
        _ = machine.handle(.start, at: .zero)
        XCTAssertEqual(machine.handle(.document(entries, tag: nil), at: .zero), [.use(entries)])
        XCTAssertEqual(machine.handle(.tick, at: Instant(seconds: 300)), [.ask(unless: nil)])
        XCTAssertEqual(machine.handle(.document(entries, tag: nil), at: Instant(seconds: 300)), [])
        _ = machine.handle(.tick, at: Instant(seconds: 600))
        XCTAssertEqual(machine.handle(.document([], tag: nil), at: Instant(seconds: 600)), [.use([])])
    }

    func testTheMachineKeepsSettingsAfterAFailureAndRetriesAfterGrowingPauses() throws {
        var machine = machine(interval: 40)
        _ = machine.handle(.start, at: .zero)
        _ = machine.handle(.document(entries, tag: "\"1\""), at: .zero)
        var now = Instant(seconds: 40)
        var pauses: [Double] = []
        for _ in 0..<8 {
            XCTAssertEqual(machine.handle(.tick, at: now), [.ask(unless: "\"1\"")])
            XCTAssertEqual(machine.handle(.failed(network), at: now), [.report(network)])
            let wake = try XCTUnwrap(machine.nextWake)
            pauses.append(now.duration(to: wake).seconds)
            now = wake
        }
        XCTAssertTrue((2.5...5).contains(pauses[0]), "\(pauses)")
        XCTAssertTrue((5...10).contains(pauses[1]), "\(pauses)")
        XCTAssertLessThanOrEqual(pauses.max() ?? .infinity, 40, "no pause is longer than the interval")
        XCTAssertEqual(machine.handle(.tick, at: now), [.ask(unless: "\"1\"")])
        XCTAssertEqual(machine.handle(.unchanged, at: now), [], "what was given still counts")
        XCTAssertEqual(machine.nextWake, now.advanced(by: .seconds(40)))
    }

    func testTheMachineRetriesARefusedRequestOnlyAtTheInterval() {
        for code in [LocalizationError.Code.credential, .generic] {
            var machine = machine()
            _ = machine.handle(.start, at: .zero)
            let error = LocalizationError(code: code, message: "no")
            XCTAssertEqual(machine.handle(.failed(error), at: .zero), [.report(error)])
            XCTAssertEqual(machine.nextWake, Instant(seconds: 300))
        }
    }

    func testAStoppedMachineReturnsNoDirectives() {
        var machine = machine()
        _ = machine.handle(.start, at: .zero)
        XCTAssertEqual(machine.handle(.stop, at: .zero), [.cancel])
        XCTAssertEqual(machine.handle(.document(entries, tag: nil), at: .zero), [])
        XCTAssertEqual(machine.handle(.failed(network), at: .zero), [])
        XCTAssertEqual(machine.handle(.tick, at: Instant(seconds: 999)), [])
        XCTAssertEqual(machine.state, .stopped)
        XCTAssertEqual(machine.handle(.start, at: Instant(seconds: 999)), [.ask(unless: nil)])
        XCTAssertEqual(machine.handle(.start, at: Instant(seconds: 999)), [], "it runs already")
    }
}
