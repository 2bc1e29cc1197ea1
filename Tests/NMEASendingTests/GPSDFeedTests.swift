import Foundation
import GPSDReceiving
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import NMEASending
import XCTest

/// A real gpsd that reads the positions of a session.
final class GPSDFeedTests: XCTestCase {
    private static let coordinate = Coordinate(latitude: 50.1109, longitude: -8.6821)

    private static func venue() -> Venue {
        Venue(
            id: 1, name: "V", version: 1,
            maps: [
                VenueMap(
                    id: 1, name: "G", level: 0, width: 20, height: 10,
                    georeference: .center(coordinate, bearing: 0))
            ], beacons: [])
    }

    /// Sends the same position, with the present time, until the body returns.
    private func feeding<Value: Sendable>(
        _ destination: NMEADestination, _ body: @escaping @Sendable (NMEASender) throws -> Value
    ) async throws -> Value {
        let sender = try NMEASender(destination)
        let feed = Task.detached { await GPSDFeedTests.feed(sender) }
        defer { feed.cancel() }
        let value = try await Task.detached { try body(sender) }.value
        feed.cancel()
        await sender.finish()
        return value
    }

    /// Sends the same position, with the present time, until the task is cancelled.
    private static func feed(_ sender: NMEASender) async {
        var encoder = NMEAEncoder()
        _ = encoder.sentences(for: .state(.findFloor(venue())), at: UnixTime(milliseconds: 0))
        let position = Position(
            instant: .zero, venueID: 1, mapID: 1, point: MapPoint(x: 10, y: 5), radius: 3.8,
            covariance: PositionCovariance(xx: 9, xy: 0, yy: 1), coordinate: coordinate, course: 45, speed: 1)
        while !Task.isCancelled {
            let now = UnixTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
            sender.send(encoder.sentences(for: .position(position), at: now))
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    private func assertPosition(_ report: [String: Any], device: String) throws {
        XCTAssertEqual(report["device"] as? String, device)
        XCTAssertEqual(try XCTUnwrap(report["lat"] as? Double), 50.1109, accuracy: 2e-8)
        XCTAssertEqual(try XCTUnwrap(report["lon"] as? Double), -8.6821, accuracy: 2e-8)
        // Quality 6: dead reckoning (gpsd_json(5)).
        XCTAssertEqual(report["status"] as? Int, 5)
        XCTAssertEqual(report["mode"] as? Int, 2)
        XCTAssertEqual(try XCTUnwrap(report["eph"] as? Double), 3.8, accuracy: 1e-9, "HDOP × 19 m is the radius")
        XCTAssertEqual(try XCTUnwrap(report["speed"] as? Double), 1, accuracy: 0.005)
        XCTAssertEqual(try XCTUnwrap(report["track"] as? Double), 45, accuracy: 0.05)
        let time = try XCTUnwrap(report["time"] as? String)
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        let age = Date().timeIntervalSince(try XCTUnwrap(formatter.date(from: time), time))
        XCTAssertTrue((-1...180).contains(age), "\(time)")
    }

    private static func isComplete(_ report: [String: Any]) -> Bool {
        report["class"] as? String == "TPV" && report["eph"] != nil && report["track"] != nil
    }

    func testGpspipeReportsThePositionsThatGpsdReceivesAsDatagrams() async throws {
        let port = try TestPort.freeForDatagrams()
        let device = "udp://127.0.0.1:\(port)"
        let gpsd = try GPSDServer(devices: [device])
        let clientPort = gpsd.port
        let (position, deviations) = try await feeding(.udp(host: "127.0.0.1", port: port)) { _ in
            (
                try JSONSerialization.data(
                    withJSONObject: GPSDServer.report(at: clientPort, "position", where: Self.isComplete)),
                try JSONSerialization.data(
                    withJSONObject: GPSDServer.report(at: clientPort, "GST") { $0["class"] as? String == "GST" })
            )
        }
        try assertPosition(
            try XCTUnwrap(JSONSerialization.jsonObject(with: position) as? [String: Any]), device: device)
        let gst = try XCTUnwrap(JSONSerialization.jsonObject(with: deviations) as? [String: Any])
        for (name, value) in [("major", 3.0), ("minor", 1), ("orient", 90), ("lat", 1), ("lon", 3)] {
            XCTAssertEqual(try XCTUnwrap(gst[name] as? Double), value, accuracy: 0.01, name)
        }
        withExtendedLifetime(gpsd) {}
    }

    func testGpsdReadsAServerOfPositions() async throws {
        let port = try TestPort.free()
        let device = "tcp://127.0.0.1:\(port)"
        let position = try await feeding(.tcpListener(host: "127.0.0.1", port: port)) { _ in
            let gpsd = try GPSDServer(devices: [device])
            let report = try GPSDServer.report(at: gpsd.port, "position", where: Self.isComplete)
            withExtendedLifetime(gpsd) {}
            return try JSONSerialization.data(withJSONObject: report)
        }
        try assertPosition(
            try XCTUnwrap(JSONSerialization.jsonObject(with: position) as? [String: Any]), device: device)
    }

    func testASessionRefusesTheGpsdThatItFeeds() async throws {
        let port = try TestPort.freeForDatagrams()
        let gpsd = try GPSDServer(devices: ["udp://127.0.0.1:\(port)"])
        var source = GPSDSource(host: "127.0.0.1", port: gpsd.port)
        source.greetingTime = Bounded.longest
        XCTAssertNoThrow(try source.checkDevices())
        source.ownDevices = ["udp://127.0.0.1:\(port + 1)", "/dev/null"]
        XCTAssertNoThrow(try source.checkDevices(), "another port")
        source.ownDevices.append("udp://localhost:\(port)")
        let expected = GPSDError.ownPositions(device: "udp://127.0.0.1:\(port)", host: "127.0.0.1", port: gpsd.port)
        XCTAssertThrowsError(try source.checkDevices()) { error in
            XCTAssertEqual(error as? GPSDError, expected)
            XCTAssertTrue("\(error)".contains("Remove that device from gpsd"), "\(error)")
        }
        // The stream repeats the check, so that a device that is added later is refused too.
        let fixes = source.fixes()
        do {
            let count = try await Bounded.wait(for: "an error") {
                var count = 0
                for try await _ in fixes { count += 1 }
                return count
            }
            XCTFail("the stream ended after \(count) positions")
        } catch { XCTAssertEqual(error as? GPSDError, expected) }
    }

    func testAGpsdThatIsNotReachableIsNoFeedback() throws {
        var source = GPSDSource(host: "127.0.0.1", port: try TestPort.free())
        source.ownDevices = ["udp://127.0.0.1:5000"]
        XCTAssertNoThrow(try source.checkDevices())
    }
}

/// The detection of own positions among satellite positions.
final class EchoWatchTests: XCTestCase {
    private func coordinate(_ number: Int) -> Coordinate {
        Coordinate(latitude: 50 + Double(number) * 1e-6, longitude: 8)
    }

    func testOwnPositionsAreAnEchoAtTheThird() {
        var watch = EchoWatch()
        var outcomes: [EchoWatch.Outcome] = []
        for number in 0..<4 {
            watch.send(coordinate(number))
            outcomes.append(watch.receive(coordinate(number)))
        }
        XCTAssertEqual(outcomes, [.suspect, .suspect, .echo, .echo])
    }

    func testARoundedOwnPositionIsRecognized() {
        var watch = EchoWatch()
        watch.send(Coordinate(latitude: 50.123_456_789, longitude: 8.987_654_321))
        XCTAssertEqual(watch.receive(Coordinate(latitude: 50.123_456_78, longitude: 8.987_654_33)), .suspect)
        XCTAssertEqual(watch.receive(Coordinate(latitude: 50.123_456_7, longitude: 8.987_654_321)), .foreign)
    }

    func testAReceiverNearbyIsNoEchoEvenAfterOneCoincidence() {
        var watch = EchoWatch()
        watch.send(coordinate(0))
        XCTAssertEqual(watch.receive(coordinate(0)), .suspect)
        for number in 1...20 { XCTAssertEqual(watch.receive(coordinate(number)), .foreign) }
        XCTAssertEqual(watch.receive(coordinate(0)), .suspect, "the first coincidence is forgotten")
    }

    func testOnlyTheLatestPositionsAreRemembered() {
        var watch = EchoWatch()
        for number in 0...128 { watch.send(coordinate(number)) }
        XCTAssertEqual(watch.receive(coordinate(0)), .foreign)
        XCTAssertEqual(watch.receive(coordinate(1)), .suspect)
    }
}
