import IndoorLocalization
import VenuePackets
import XCTest

@testable import indoorloc

/// The precedence of a service's settings from options, files and a server.
final class ServiceInputsTests: XCTestCase {
    private func stack(_ file: [(String, JSONValue)]) -> SettingsStack {
        var settings = SettingsStack()
        XCTAssertEqual(settings.load(file.map { SettingsEntry(key: $0.0, value: $0.1) }, from: .file), [])
        settings.apply()
        return settings
    }

    private func inputs(_ file: [(String, JSONValue)], then later: [(String, JSONValue)]) -> ServiceInputs {
        let next = stack(later)
        return ServiceInputs(stack(file), remote: nil) { ServiceInputs.Content(settings: next, geofences: []) }
    }

    private func update(_ entries: [(String, JSONValue)]) -> RemoteSettings.Update {
        .settings(entries.map { SettingsEntry(key: $0.0, value: $0.1, place: "server:1") })
    }

    /// Files override the server, in any order.
    func testReloadedFilesOverrideTheServersSettings() throws {
        var inputs = inputs([("areaDwell", 1)], then: [("memoryTimeout", 7)])
        XCTAssertEqual(inputs.apply(update([("areaDwell", 5), ("memoryTimeout", 6), ("positionInterval", 2)])), [])
        XCTAssertEqual(inputs.settings.resolved.localization.areaDwell, .seconds(1))
        XCTAssertEqual(inputs.settings.resolved.localization.memoryTimeout, .seconds(6))
        XCTAssertEqual(try inputs.reload(), [])
        XCTAssertEqual(inputs.settings.resolved.localization.areaDwell, .seconds(5))
        XCTAssertEqual(inputs.settings.resolved.localization.memoryTimeout, .seconds(7))
        XCTAssertEqual(inputs.settings.resolved.localization.positionInterval, .seconds(2))
        XCTAssertEqual(inputs.apply(update([])), [])
        XCTAssertEqual(inputs.settings.resolved.localization.positionInterval, .milliseconds(500))
    }

    func testAnExpertSettingOfTheServerIsAppliedAndNoted() {
        var inputs = inputs([], then: [])
        XCTAssertEqual(
            inputs.apply(update([("retryPause", 6), ("areaDwell", 3)])),
            ["server:1: retryPause is an expert key, which may change or go in any release"])
        XCTAssertEqual(inputs.settings.resolved.localization.retryPause, .seconds(6))
    }

    func testInvalidServerSettingsAreReportedAndContradictoryOnesRejected() throws {
        var inputs = inputs([], then: [])
        XCTAssertEqual(
            inputs.apply(update([("areaDwel", 5), ("areaDwell", 3)])),
            ["server:1: there is no setting areaDwel; did you mean areaDwell?"])
        XCTAssertEqual(inputs.settings.resolved.localization.areaDwell, .seconds(3))
        let told = inputs.apply(
            update([("scanner.timing.interval", 0.1), ("scanner.timing.window", 0.2), ("areaDwell", 4)]))
        XCTAssertEqual(
            told,
            [
                "server:1: scanner.timing.window must be in [0.0025, 0.1] s, not 0.2",
                "the server's earlier settings stay in effect",
            ])
        XCTAssertEqual(inputs.settings.resolved.localization.areaDwell, .seconds(3))
        _ = try inputs.reload()
        XCTAssertEqual(inputs.settings.resolved.localization.areaDwell, .seconds(3))
    }

    func testAServerFailureIsReportedOnceAndKeepsTheSettings() {
        var inputs = inputs([], then: [])
        _ = inputs.apply(update([("areaDwell", 3)]))
        let failure = RemoteSettings.Update.failure(LocalizationError(code: .network, message: "it is away"))
        XCTAssertEqual(inputs.apply(failure), ["it is away; the server's earlier settings stay in effect"])
        XCTAssertEqual(inputs.apply(failure), [])
        XCTAssertEqual(inputs.settings.resolved.localization.areaDwell, .seconds(3))
        _ = inputs.apply(update([("areaDwell", 3)]))
        XCTAssertEqual(inputs.apply(failure).count, 1, "it was there in between")
    }
}
