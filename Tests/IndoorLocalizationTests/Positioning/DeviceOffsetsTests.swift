import XCTest

@testable import IndoorPositioning
import IndoorLocalization

final class DeviceOffsetsTests: XCTestCase {
    private typealias Stage = PositioningStage

    func testASurveyDeterminesTheOffsetOfEachDevice() throws {
        var (weak, strong) = (Stage.survey(noise: 2, seed: 21), Stage.survey(noise: 2, seed: 22))
        (weak.device, strong.device) = ("weak phone", "strong phone")
        for index in strong.sightings.indices { strong.sightings[index].rssi += 9 }
        let devices = try XCTUnwrap(Self.learn([weak, strong])).fit.devices
        XCTAssertEqual(devices.keys.sorted(), ["strong phone", "weak phone"])
        let (first, second) = (try XCTUnwrap(devices["weak phone"]), try XCTUnwrap(devices["strong phone"]))
        XCTAssertEqual(second.offset - first.offset, 9, accuracy: 1)
        XCTAssertEqual(second.offset + first.offset, 0, accuracy: 1)
    }

    func testTheOnlyDeviceOfASurveyHasOffsetZero() throws {
        var recording = Stage.survey(noise: 2, seed: 21)
        recording.device = "phone"
        let device = try XCTUnwrap(Self.learn([recording])?.fit.devices["phone"])
        XCTAssertEqual(device.offset, 0)
        XCTAssertGreaterThanOrEqual(device.deviation, 3, "the next pocket is another one")
    }

    func testRecordingsWithoutADeviceGiveNoOffsets() throws {
        XCTAssertEqual(try XCTUnwrap(Self.learn([Stage.survey(noise: 2, seed: 21)])).fit.devices, [:])
    }

    func testUndeterminedOffsetsGiveNoneOfSeveralDevicesAnOffset() {
        XCTAssertEqual(DeviceOffsets(["a", "b"], offsets: [0, 0], areDetermined: false).receivers, [:])
        XCTAssertEqual(DeviceOffsets(["a", nil], offsets: [0, 0], areDetermined: false).receivers, [:])
    }

    func testTheOffsetOfADeviceIsTheMeanOfItsRecordings() throws {
        let receivers = DeviceOffsets(["a", "b", "a", nil], offsets: [4, -3, 6, 50], areDetermined: true).receivers
        XCTAssertEqual(receivers.keys.sorted(), ["a", "b"])
        XCTAssertEqual(try XCTUnwrap(receivers["a"]).offset, 5, accuracy: 1e-12)
        XCTAssertEqual(try XCTUnwrap(receivers["b"]).offset, -3, accuracy: 1e-12)
    }

    func testTheDeviationGrowsWithTheSpreadOfTheRecordings() throws {
        func deviation(_ offsets: [Double]) throws -> Double {
            let devices = [String?](repeating: "a", count: offsets.count)
            return try XCTUnwrap(DeviceOffsets(devices, offsets: offsets, areDetermined: true).receivers["a"]).deviation
        }
        XCTAssertGreaterThan(try deviation([-6, 6, -5, 5]), 4)
        XCTAssertLessThan(try deviation([-4, 4, -4, 4]), try deviation([-6, 6, -5, 5]))
        XCTAssertEqual(try deviation([Double](repeating: 0, count: 100)), 3, "nobody knows a receiver better")
    }

    private static func learn(_ recordings: [SurveyRecording]) -> RadioMap? {
        var learner = RadioMapLearner(venue: Stage.venue)
        for recording in recordings { learner.add(recording) }
        return learner.finish()
    }
}
