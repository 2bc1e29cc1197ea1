import Foundation
import IIOReceiving
import IndoorLocalization
import IndoorLocalizationTesting
import VenuePackets
import XCTest

@testable import indoorloc

/// Inertial sensors on the command line.
final class IMUOptionTests: XCTestCase {
    func testTheOptionGivesTheSensorsAndTheirRate() throws {
        let named = ["iio": IIOSource(), "iio:100": IIOSource(rate: 100), "iio:1": IIOSource(rate: 1)]
        for (text, source) in named {
            XCTAssertEqual(IIOSource(argument: text), source, text)
            let arguments = try ParsedArguments(["--imu", text], syntax: LocateCommand.syntax)
            XCTAssertEqual(try arguments.imu(), source)
        }
        XCTAssertNil(try ParsedArguments([], syntax: LocateCommand.syntax).imu())
    }

    func testInvalidSensorsAreRefused() throws {
        for text in ["", "imu", "iio:", "iio:0", "iio:201", "iio:fast", "iio:5.5"] {
            let arguments = try ParsedArguments(["--imu", text], syntax: ScanCommand.syntax)
            XCTAssertThrowsError(try arguments.imu(), text) { error in
                XCTAssertEqual(
                    (error as? UsageError)?.message, "--imu must be iio or iio:HERTZ, from 1 to 200 Hz, not '\(text)'")
            }
        }
    }

    func testSensorsCannotBeCombinedWithARecording() throws {
        let result = try Tool.run(["serve", "--venue", "x", "--replay", "y", "--imu", "iio"])
        XCTAssertEqual(result.status, 2)
        XCTAssertTrue(
            result.errors.contains("--imu can't be combined with --replay"),
            result.errors)
    }

    /// The session uses and records sensor readings. An error of the sensors is reported, and the session continues.
    func testASessionWithoutItsSensorsContinuesAndReportsThem() async throws {
        let packet = try VenuePacketReader().read(try FixtureFolder("office").path)
        let radio = ScriptedSource()
        let nowhere = IIOSource(devices: try temporaryFolder() + "/nowhere")
        let session = LiveSession(
            venue: packet.venue, settings: SettingsStack(localization: LocalizationSettings()), seed: 0)
        let causes = WatchedState<[String?]>([])
        // The radio ends the session after the error.
        try await Bounded.wait(for: "the end of the session") { [causes] in
            try await session.run(radio.combined(with: nowhere), givesReadings: true) { news in
                guard case .output(let output) = news, case .error(let error) = output.content else { return }
                causes.update { $0.append(error.cause) }
                radio.finish()
            }
        }
        XCTAssertEqual(causes.value.first ?? nil, "\(IIOError.noDevice(folder: nowhere.devices))")
    }

    // MARK: - Sharing from settings

    private func sharing(_ words: [String]) throws -> SharingOptions? {
        try SharingOptions(ParsedArguments(words, syntax: LocateCommand.syntax))
    }

    func testSettingsCanGiveTheBrokerAndTheRoom() throws {
        let words = ["--set", "sharing.host=mqtts://me@broker:99", "--set", "sharing.room=fork lifts/2"]
        // A room must not contain a slash; settings are checked like an address.
        XCTAssertThrowsError(try sharing(words))
        let options = try XCTUnwrap(
            try sharing(["--set", "sharing.host=mqtts://broker:99", "--set", "sharing.room=fork lifts"]))
        XCTAssertEqual(options.address.broker.host, "broker")
        XCTAssertEqual(options.address.room, "fork lifts")
        XCTAssertEqual(options.settings.interval, .seconds(1))
        let interval = ["--share", "mqtt://other/yard", "--set", "sharing.interval=2.5"]
        XCTAssertEqual(try sharing(interval)?.settings.interval, .seconds(2.5))
        XCTAssertEqual(try sharing(interval + ["--share-interval", "4"])?.settings.interval, .seconds(4))
        let told = try XCTUnwrap(try sharing(words + ["--share", "mqtt://other/yard"]))
        XCTAssertEqual(told.address.room, "yard", "the option counts more")
        XCTAssertNil(try sharing(["--set", "sharing.room=yard"]))
        XCTAssertThrowsError(try sharing(["--set", "sharing.host=mqtt://broker"])) { error in
            XCTAssertEqual(
                (error as? UsageError)?.message, "the setting sharing.host requires sharing.room, the room of devices")
        }
    }
}
