import CMath
import IndoorLocalization
import XCTest

/// What holds for all classifiers, and the two that are compared with.
final class ClassifierTests: XCTestCase {
    private func classifiers(_ training: RoomTrainingSet) -> [(name: String, classifier: any Classifier)] {
        [
            ("naive Bayes", NaiveBayesClassifier(training)), ("nearest neighbour", NearestNeighborClassifier(training)),
            ("adaptive", AdaptiveClassifier(training)),
        ]
    }

    private func scan(_ values: [Double]) -> RoomScan {
        RoomScan(
            instant: .zero,
            rssi: Dictionary(uniqueKeysWithValues: values.indices.map { (TrainedHouse.beacon($0), values[$0]) }))
    }

    private func fingerprint(_ samples: [[Double]]) -> RoomFingerprint {
        RoomFingerprint(samples: samples.map { .init(timestamp: 0, rssi: scan($0).rssi) })
    }

    func testAClassifierNeedsThreeBeacons() {
        var house = TrainedHouse()
        for (name, var classifier) in classifiers(house.training()) {
            XCTAssertNil(classifier.classify(scan([-60, -60])), name)
            XCTAssertNotNil(classifier.classify(scan([-60, -60, -60])), name)
        }
    }

    func testUntrainedBeaconsAreIgnored() {
        var house = TrainedHouse()
        for (name, var classifier) in classifiers(house.training()) {
            var rssi = scan([-60, -60]).rssi
            for minor in 100..<110 { rssi[TrainedHouse.beacon(minor)] = -50 }
            XCTAssertNil(classifier.classify(RoomScan(instant: .zero, rssi: rssi)), name)
        }
    }

    func testAClassifierWithoutTrainingHasNoEstimate() {
        for training in [RoomTrainingSet(), RoomTrainingSet(rooms: ["attic": RoomFingerprint()])] {
            for (name, var classifier) in classifiers(training) {
                XCTAssertNil(classifier.classify(scan([-60, -60, -60])), name)
            }
        }
    }

    func testProbabilitiesAddUpToOneAndTheMostProbableIsFirst() throws {
        var house = TrainedHouse()
        for (name, var classifier) in classifiers(house.training()) {
            for room in TrainedHouse.rooms {
                let estimate = try XCTUnwrap(classifier.classify(house.scan(in: room, at: 0)), name)
                let values = estimate.candidates.map(\.probability)
                XCTAssertEqual(values.reduce(0, +), 1, accuracy: 1e-9, name)
                XCTAssertEqual(values, values.sorted(by: >), name)
                XCTAssertEqual(estimate.probability(of: estimate.room), values[0], name)
                XCTAssertEqual(estimate.probability(of: "moon"), 0, name)
            }
        }
    }

    // MARK: - Naive Bayes

    func testNaiveBayesIsTheGeometricMeanOfNormalDensities() throws {
        // Means -60, -70, -80 with deviation 2; and the same 6 dB weaker with the least deviation, 1.
        let training = RoomTrainingSet(rooms: [
            "near": fingerprint([[-58, -68, -78], [-62, -72, -82]]), "far": fingerprint([[-66, -76, -86]]),
        ])
        let estimate = try XCTUnwrap(NaiveBayesClassifier(training).classify(scan([-63, -73, -83])))
        // Each beacon is 1.5 deviations from the one and 3 from the other.
        let near = cmath_exp(-1.5 * 1.5 / 2) / 2
        let far = cmath_exp(-3.0 * 3 / 2)
        XCTAssertEqual(estimate.room, "near")
        XCTAssertEqual(estimate.probability, near / (near + far), accuracy: 1e-12)
    }

    func testNaiveBayesExcludesARoomThatSharesFewerThanThreeBeacons() throws {
        let training = RoomTrainingSet(rooms: [
            "two": fingerprint([[-60, -60]]), "three": fingerprint([[-80, -80, -80]]),
        ])
        let estimate = try XCTUnwrap(NaiveBayesClassifier(training).classify(scan([-60, -60, -60])))
        XCTAssertEqual(estimate.room, "three")
        XCTAssertEqual(estimate.probability(of: "two"), 0)
    }

    // MARK: - Nearest neighbour

    func testTheNearestNeighbourHasTheSmallestDistanceOfAllSamples() throws {
        func sigmoid(_ rssi: Double) -> Double { 1 / (1 + cmath_exp(0.1 * (rssi + 50))) }
        func distance(_ left: [Double], _ right: [Double]) -> Double {
            zip(left, right).reduce(0) { $0 + $1.0 * $1.0 + $1.1 * $1.1 - 1.95 * $1.0 * $1.1 }
        }
        let training = RoomTrainingSet(rooms: [
            "a": fingerprint([[-60, -70, -80], [-40, -90, -90]]), "b": fingerprint([[-50, -75, -80, -66]]),
        ])
        let heard = [-52, -74, -81].map(sigmoid) + [1]
        let distances = [
            [-60, -70, -80].map(sigmoid) + [1], [-40, -90, -90].map(sigmoid) + [1], [-50, -75, -80, -66].map(sigmoid),
        ].map { distance(heard, $0) }
        let (a, b) = (min(distances[0], distances[1]), distances[2])
        let estimate = try XCTUnwrap(NearestNeighborClassifier(training).classify(scan([-52, -74, -81])))
        XCTAssertEqual(estimate.room, a <= b ? "a" : "b")
        XCTAssertEqual(
            estimate.probability(of: "a"), cmath_exp(-a) / (cmath_exp(-a) + cmath_exp(-b)), accuracy: 1e-12)
    }

    func testTheFirstRoomWinsAmongEqualNeighbours() {
        let same = fingerprint([[-60, -70, -80]])
        let training = RoomTrainingSet(rooms: ["b": same, "a": same])
        XCTAssertEqual(NearestNeighborClassifier(training).classify(scan([-60, -70, -80]))?.room, "a")
    }
}
