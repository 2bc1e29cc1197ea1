import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import VenuePackets
import XCTest

/// A walk past beacons of four kinds, of which a session receives the advertising data.
final class BeaconNamingReplayTests: XCTestCase {
    private func hall(of naming: BeaconNaming? = nil) throws -> Venue {
        var venue = try VenuePacketReader().read(FixtureFolder("identities").path).venue
        if let naming { venue.beacons.removeAll { $0.naming != naming } }
        return venue
    }

    private func walk() throws -> (readings: [SensorReading], truths: [Truth], end: Instant) {
        var reader = try RecordingReader(path: FixtureFolder("identities").file("walk.jsonl.gz"))
        let entries = try reader.readAll()
        let readings = entries.compactMap { if case .measurement(let reading) = $0 { reading } else { nil } }
        let truths = entries.compactMap { if case .truth(let truth) = $0 { truth } else { nil } }
        return (readings, truths, try XCTUnwrap(entries.compactMap(\.instant).max()))
    }

    private func score(in venue: Venue) throws -> TrackScore {
        let walk = try walk()
        XCTAssertTrue(walk.readings.allSatisfy { if case .advertisement = $0 { true } else { false } })
        var replay = SessionReplay(venues: [venue], seed: 1)
        var outputs = replay.start()
        for reading in walk.readings { outputs += replay.handle(reading) }
        outputs += replay.finish()
        let positions = outputs.compactMap { if case .position(let position) = $0.content { position } else { nil } }
        var scorer = TrackScorer(venue: venue)
        scorer.add(truths: walk.truths, end: walk.end, positions: positions)
        return scorer.score
    }

    func testEachKindOfBeaconLocatesTheWalkAsWellAsIBeacons() throws {
        let reference = try XCTUnwrap(try score(in: hall(of: .uuid)).mean)
        // The walk is past six posts, 10 m apart, with a deviation of 3 dB, and without motion sensors.
        XCTAssertLessThan(reference, 2.5, "metres")
        for naming in BeaconNaming.allCases {
            let venue = try hall(of: naming)
            XCTAssertEqual(venue.beacons.count, 6, "\(naming)")
            let score = try score(in: venue)
            print("\(naming): mean error \(score.mean ?? .nan) m, answered \(score.answered ?? .nan)")
            XCTAssertGreaterThan(try XCTUnwrap(score.answered), 0.9, "\(naming)")
            // The readings of a kind differ from those of another by some milliseconds only.
            XCTAssertLessThan(try XCTUnwrap(score.mean), 1.15 * reference, "\(naming)")
        }
    }

    func testAVenueOfBeaconsWithOtherNamesIsNotFound() throws {
        var venue = try hall()
        for index in venue.beacons.indices {
            venue.beacons[index].identity.uuid.high ^= 1
            venue.beacons[index].address = nil
        }
        XCTAssertNil(try score(in: venue).mean)
    }

    func testASurveyLearnsBeaconsOfEachKind() throws {
        let venue = try hall()
        let path = try FixtureFolder("identities").file("walk.jsonl.gz")
        var learner = RadioMapLearner(venue: venue, model: SignalModel())
        learner.add(try SurveyRecording(path: path, in: venue))
        let map = try XCTUnwrap(learner.finish())
        XCTAssertEqual(Set(map.beacons.map(\.identity)), Set(venue.beacons.map(\.identity)))
        // Without the venue, no advertisement of an unknown format is a sighting.
        let alone = Set(venue.beacons.filter { $0.naming == .address }.map(\.identity))
        XCTAssertEqual(alone.count, 6)
        XCTAssertTrue(alone.isDisjoint(with: try SurveyRecording(path: path).sightings.map(\.beacon)))
    }

    func testASessionWithTheRadioMapOfASurveyLocatesByAddressesAlone() throws {
        var venue = try hall(of: .address)
        let without = try XCTUnwrap(try score(in: venue).mean)
        var learner = RadioMapLearner(venue: venue, model: SignalModel())
        learner.add(try SurveyRecording(path: FixtureFolder("identities").file("walk.jsonl.gz"), in: venue))
        venue.radioMap = try XCTUnwrap(learner.finish())
        let with = try XCTUnwrap(try score(in: venue).mean)
        print("address alone: mean error \(without) m without a survey, \(with) m with it")
        // The survey is the same walk.
        XCTAssertLessThan(with, without)
    }
}
