import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import XCTest

final class RoomRecordingTests: XCTestCase {
    private func recording(_ lines: [String]) throws -> RoomRecording {
        let header =
            "{\"type\":\"header\",\"format\":\"indoor-localization-recording\",\"version\":1,\"device\":\"phone\"}"
        let folder = try TemporaryFolder()
        return try RoomRecording(path: folder.write("rooms.jsonl", ([header] + lines).map { $0 + "\n" }.joined()))
    }

    private func beacon(_ minor: Int, at seconds: Double) -> String {
        """
        {"t":\(seconds),"type":"beacon","uuid":"7C2F0A10-0000-4000-8000-000000000010","major":1,"minor":\(minor),"rssi":-70}
        """
    }

    private func truth(_ room: String, at seconds: Double) -> String {
        "{\"t\":\(seconds),\"type\":\"truth\",\"room\":\"\(room)\",\"hold\":true}"
    }

    func testAScanBelongsToTheStayDuringWhichItWasReceived() throws {
        let recording = try recording([
            beacon(1, at: 0), truth("den", at: 1), beacon(1, at: 1), beacon(2, at: 1.5), beacon(1, at: 2.5),
            truth("bath", at: 3), beacon(3, at: 3), truth("attic", at: 4),
        ])
        XCTAssertEqual(recording.device, "phone")
        XCTAssertEqual(recording.stays.map(\.room), [nil, "den", "bath"])
        XCTAssertEqual(recording.stays.map { $0.scans.map(\.rssi.count) }, [[1], [2, 1], [1]])
    }

    func testOnlyStaysInKnownRoomsBecomeTrainingData() throws {
        var recording = try recording([beacon(1, at: 0), truth("den", at: 1), beacon(1, at: 1.25)])
        XCTAssertEqual(recording.training.rooms.mapValues { $0.samples.map(\.timestamp) }, ["den": [1.25]])
        recording.name("hall")
        XCTAssertEqual(recording.training.rooms.mapValues { $0.samples.count }, ["den": 1, "hall": 1])
    }
}

/// Room classification of measured scans, from the phone that recorded the training data and from another one.
final class MeasuredRoomsTests: XCTestCase {
    /// The best accuracy of the reference's own classifiers: nearest neighbour, the best of five, trained on the same
    /// phone.
    private static let baseline = 0.68

    /// Returns the folder of the public data set, which is next to the repository and not in it.
    private func dataSet() throws -> String? {
        let fixtures = URL(filePath: try FixtureFolder("packets").path)
        let path = fixtures.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "shared/data/crownstone_rooms").path
        return FileManager.default.fileExists(atPath: path) ? path : nil
    }

    /// Returns the share of the scans whose room a classifier identifies.
    private func accuracy(of classifier: any Classifier, on tracks: [RoomRecording]) -> Double {
        var (right, all) = (0, 0)
        for track in tracks {
            var classifier = classifier
            for stay in track.stays {
                for scan in stay.scans.prefix(400) {
                    if classifier.classify(scan)?.room == stay.room { right += 1 }
                    all += 1
                }
            }
        }
        return Double(right) / Double(max(all, 1))
    }

    func testTheAdaptiveClassifierBeatsTheReferenceOnMeasuredScans() throws {
        guard let folder = try dataSet() else {
            return print(
                "testTheAdaptiveClassifierBeatsTheReferenceOnMeasuredScans: skipped, because the data set is missing")
        }
        var training = RoomTrainingSet()
        for room in 1...13 {
            training.add(try RoomRecording(path: folder + "/survey/phone2-room\(room).jsonl").training)
        }
        for (phone, numbers) in [("phone2", ["02", "10", "11"]), ("phone3", ["03", "05", "06"])] {
            let tracks = try numbers.map { try RoomRecording(path: folder + "/tracks/\(phone)-\($0).jsonl") }
            let adaptive = accuracy(of: AdaptiveClassifier(training), on: tracks)
            let bayes = accuracy(of: NaiveBayesClassifier(training), on: tracks)
            let nearest = accuracy(of: NearestNeighborClassifier(training), on: tracks)
            XCTAssertGreaterThan(adaptive, max(bayes, nearest), "\(phone): \(adaptive), \(bayes), \(nearest)")
            XCTAssertGreaterThan(adaptive, Self.baseline, phone)
        }
    }
}
