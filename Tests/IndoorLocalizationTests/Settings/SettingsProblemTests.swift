import IndoorLocalization
import XCTest

/// What is told of a setting that cannot be taken.
final class SettingsProblemTests: XCTestCase {
    private func message(_ key: String, _ value: JSONValue, from source: SettingsSource = .file) -> String {
        var settings = SettingsStack()
        return settings.load([SettingsEntry(key: key, value: value)], from: source).map(\.message).joined()
    }

    func testAProblemSuggestsTheKeyNearestToAnUnknownOne() {
        for (wrong, right) in [
            ("positioning.particelCount", "positioning.particleCount"), ("PositionInterval", "positionInterval"),
            ("positionIntervall", "positionInterval"), ("particleCount", "positioning.particleCount"),
            ("ble.scan.duration-ms", "ble.scan.duration-msec"), ("rssiTreshold", "rssiThreshold"),
            ("dutyCycle.interval", "scanner.dutyCycle.interval"),
        ] {
            XCTAssertEqual(message(wrong, 1), "there is no setting \(wrong); did you mean \(right)?")
        }
        XCTAssertEqual(
            message("favouriteColour", "blue"),
            "there is no setting favouriteColour; 'indoorloc config keys' lists them all")
        XCTAssertEqual(message("", 1), "there is no setting ; 'indoorloc config keys' lists them all")
    }

    func testAProblemNamesTheExpectedType() {
        for (key, value, text) in [
            ("positionInterval", "fast", "must be a number in [0.05, 86400] s, not \"fast\""),
            ("positionInterval", .null, "must be a number in [0.05, 86400] s, not null"),
            ("positioning.particleCount", 1500.5, "must be a whole number in [100, 1000000], not 1500.5"),
            ("positioning.method", 3, "must be one of particle, fingerprint, trilateration, not 3"),
            ("scanner.dutyCycle.isContinuous", 1, "must be true or false, not 1"),
            ("ble.scan.interval-msec", .array([]), "must be a number in [0, 86400000] ms, not an array"),
        ] as [(String, JSONValue, String)] {
            XCTAssertEqual(message(key, value), "\(key) \(text)")
        }
    }

    func testAProblemNamesTheValidRange() {
        for (key, value, text) in [
            ("positionInterval", 0.04, "must be in [0.05, 86400] s, not 0.04"),
            ("venueLostTimeout", 0, "must be above 0 and at most 86400 s, not 0"),
            ("rssiThreshold", 1, "must be in [-127, 0] dBm, not 1"),
            ("positioning.method", "magic", "must be one of particle, fingerprint, trilateration, not \"magic\""),
            ("ble.scan.duration-msec", 5, "must be in [10, 86400000] ms, not 5"),
            ("cron.ios-bg-mode", 4, "must be in [0, 3], not 4"),
            ("areaDwell", 1e300, "must be in [0, 86400] s, not 1e+300"),
            ("areaDwell", 1e9, "must be in [0, 86400] s, not 1000000000"),
        ] as [(String, JSONValue, String)] {
            XCTAssertEqual(message(key, value), "\(key) \(text)")
        }
    }

    func testLoadingReportsAllProblemsAndKeepsValidEntries() throws {
        var settings = SettingsStack()
        let problems = settings.load(
            [
                SettingsEntry(key: "areaDwel", value: 1, place: "settings.json:2"),
                SettingsEntry(key: "areaDwell", value: 4, place: "settings.json:3"),
                SettingsEntry(key: "retryPause", value: "long", place: "settings.json:4"),
                SettingsEntry(key: "rssiThreshold", value: 5),
            ], from: .file)
        XCTAssertEqual(
            problems.map(\.description),
            [
                "settings.json:2: there is no setting areaDwel; did you mean areaDwell?",
                "settings.json:4: retryPause must be a number above 0 and at most 86400 s, not \"long\"",
                "file: rssiThreshold must be in [-127, 0] dBm, not 5",
            ])
        settings.apply()
        XCTAssertEqual(try settings.setting("areaDwell").place, "settings.json:3")
        XCTAssertEqual(settings.resolved.localization.areaDwell, .seconds(4))
    }

    func testAVenueCannotSetSettingsThatApplyBeforeItIsKnown() {
        for key in ["forcedVenue", "venueSearch.lead", "retryPause", "scanner.rssiThreshold", "remote.interval"] {
            XCTAssertTrue(message(key, 1, from: .venue).hasPrefix("\(key) cannot be set by a venue"), key)
        }
        XCTAssertEqual(message("areaDwell", 1, from: .venue), "")
        XCTAssertTrue(message("areaDwell", 1, from: .default).contains("cannot be set as default"))
    }

    func testAWrongOverrideOrRequestThrowsAndChangesNothing() throws {
        var settings = SettingsStack()
        let before = settings
        XCTAssertThrowsError(try settings.override("areaDwell", -1)) { error in
            XCTAssertEqual("\(error)", "override: areaDwell must be in [0, 86400] s, not -1")
        }
        XCTAssertThrowsError(try settings.override("areaDwel", nil))
        XCTAssertThrowsError(try settings.request("areaDwell", "x"))
        XCTAssertThrowsError(try settings.setting("nothing"))
        XCTAssertEqual(settings, before)
    }

    func testSettingsRejectNumbersThatJSONCannotRepresent() {
        for number in [Double.nan, .infinity, -.infinity] {
            XCTAssertNotEqual(message("rssiThreshold", .number(number)), "", "\(number)")
            XCTAssertNotEqual(message("areaDwell", .number(number)), "", "\(number)")
            XCTAssertNotEqual(message("positioning.particleCount", .number(number)), "", "\(number)")
        }
    }
}
