import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import VenuePackets
import XCTest

/// Settings pulled from a real nginx.
final class RemoteSettingsTests: XCTestCase {
    private func write(_ text: String, to root: String) throws {
        // Renamed into place with a time of its own, so that nginx gives it a tag of its own.
        try Data(text.utf8).write(to: URL(filePath: root + "/settings.json"), options: .atomic)
    }

    /// Lets the next alarm of the clock ring.
    private func ring(_ clock: ManualClock) async throws {
        clock.advance(to: try await Bounded.wait(for: "the alarm") { try await clock.waitForSleeper() })
    }

    /// The next update of the server's settings.
    private func next(_ updates: AsyncStream<RemoteSettings.Update>) async throws -> RemoteSettings.Update {
        try await Bounded.first(1, of: updates)[0]
    }

    func testSettingsAreFetchedWhenTheyChangeAndABrokenDocumentRemovesNone() async throws {
        let root = try temporaryFolder()
        try write("{\"areaDwell\": 4}", to: root)
        let server = try nginx(serving: root)
        let clock = ManualClock()
        let remote = RemoteSettings(try VenueServer(server.url()), clock: clock, seed: 1)
        let updates = remote.updates()
        let place = server.url() + "/settings.json:1"
        let first = try await next(updates)
        XCTAssertEqual(first, .settings([SettingsEntry(key: "areaDwell", value: 4, place: place)]))
        try await ring(clock)
        // Unchanged: nothing is emitted, but the next alarm is set.
        _ = try await Bounded.wait(for: "the alarm") { try await clock.waitForSleeper() }
        try write("{\"areaDwell\": ", to: root)
        try await ring(clock)
        guard case .failure(let error) = try await next(updates) else { return XCTFail("a broken document counts") }
        XCTAssertEqual(error.code, .generic)
        XCTAssertTrue(error.message.hasPrefix("\(server.url())/settings.json: is not JSON at line 1"), "\(error)")
        try write("{\"areaDwell\": 55}", to: root)
        try await ring(clock)
        let second = try await next(updates)
        XCTAssertEqual(second, .settings([SettingsEntry(key: "areaDwell", value: 55, place: place)]))
        var settings = SettingsStack()
        guard case .settings(let entries) = second else { return }
        XCTAssertEqual(settings.load(entries, from: .remote), [])
        settings.apply()
        XCTAssertEqual(try settings.setting("areaDwell").source, .remote)
        XCTAssertEqual(settings.resolved.localization.areaDwell, .seconds(55))
        let requests = try server.stopAndTellRequests()
        XCTAssertEqual(requests.map(\.status), [200, 304, 200, 200])
        XCTAssertEqual(requests.first?.unless, "")
        XCTAssertTrue(requests.dropFirst().allSatisfy { !$0.unless.isEmpty })
    }

    func testAnUnreachableServerIsANetworkErrorAndARefusalACredentialError() async throws {
        let refusing = try nginx(
            serving: try temporaryFolder(), NginxServer.Configuration(server: "", location: "return 401;"))
        let updates = RemoteSettings(try VenueServer(refusing.url()), clock: ManualClock()).updates()
        guard case .failure(let refusal) = try await next(updates) else { return XCTFail("no refusal") }
        XCTAssertEqual(refusal.code, .credential)
        refusing.stop()
        let later = RemoteSettings(try VenueServer(refusing.url()), clock: ManualClock()).updates()
        guard case .failure(let away) = try await next(later) else { return XCTFail("no failure") }
        XCTAssertEqual(away.code, .network)
    }
}
