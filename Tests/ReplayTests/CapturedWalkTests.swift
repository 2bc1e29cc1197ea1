import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import XCTest

/// Replays of captures that btmon recorded from the Bluetooth stack of a real kernel.
final class CapturedWalkTests: XCTestCase {
    private static let names = ["extended", "legacy"]

    func testTheCaptureContainsEachTransmittedSightingAtItsTime() throws {
        for name in Self.names {
            let walk = try CapturedWalk(name)
            XCTAssertEqual(walk.heard.map(\.beacon), walk.sent.map(\.beacon), name)
            // A controller reports whole decibels.
            XCTAssertEqual(walk.heard.map(\.rssi), walk.sent.map { $0.rssi.rounded() }, name)
            let delays = zip(walk.sent, walk.heard).map { $0.instant.duration(to: $1.instant).seconds }
            // The machine with the controller was emulated, and sometimes late.
            XCTAssertGreaterThan(try XCTUnwrap(delays.min()), -0.25, name)
            XCTAssertLessThan(try XCTUnwrap(delays.max()), 0.25, name)
            XCTAssertEqual(walk.tally.lostPackets, 0, name)
            XCTAssertEqual(walk.tally.unfinishedAdvertisements, 0, name)
            XCTAssertEqual(walk.tally.skippedRecords, 0, name)
        }
    }

    func testTheLongAdvertisementsOfTheExtendedCaptureAreComplete() throws {
        XCTAssertEqual(try CapturedWalk("legacy").others, [])
        let others = try CapturedWalk("extended").others
        XCTAssertGreaterThan(others.count, 20)
        for advertisement in others {
            XCTAssertEqual(advertisement.address.description, "C0:FF:EE:00:00:01")
            XCTAssertEqual(advertisement.data.count, 519)
        }
    }

    func testPositionsAreWithinTheLimitsOfEachCapture() throws {
        for name in Self.names {
            let walk = try CapturedWalk(name).replayed()
            let start = walk.positions.first?.instant.seconds
            print("captured \(name), seed 0: \(walk.score), start \(start ?? .nan) s")
            let limits = try RecordingLimits(path: FixtureFolder("captures/walks/" + name).file("limits.json"))
            XCTAssertGreaterThan(walk.score.count, 15, name)
            XCTAssertEqual(limits.problems(walk.score, start: start), [], name)
        }
    }

    func testACaptureAsASourceEmitsTheTransmittedSightings() async throws {
        for name in Self.names {
            let walk = try CapturedWalk(name)
            var sightings: [Sighting] = []
            for try await reading in BTSnoopSource(path: walk.path).readings() {
                if case .sighting(let sighting) = reading { sightings.append(sighting) }
            }
            XCTAssertEqual(sightings.map(\.beacon), walk.sent.map(\.beacon), name)
        }
    }

    func testEveryCaptureIsTested() throws {
        let files = try FixtureFolder("captures/walks").files()
        let expected = try Self.names.flatMap { name in
            let folder = try FixtureFolder("captures/walks/" + name)
            return [try folder.file("air.btsnoop"), try folder.file("limits.json")]
        }
        XCTAssertEqual(files, expected)
    }
}
