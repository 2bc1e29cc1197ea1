import IndoorLocalization
import NMEASending
import XCTest

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
