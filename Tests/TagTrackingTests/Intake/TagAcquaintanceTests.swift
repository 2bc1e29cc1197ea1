import IndoorVocabulary
import XCTest

@testable import TagTracking

/// The rule by which a tag outside of the register is located.
final class TagAcquaintanceTests: XCTestCase {
    private let phone = TagKey.address(DeviceAddress(rawValue: 0x4A00_0000_0001))

    private func at(_ seconds: Double) -> Instant { Instant(seconds: 1_790_000_000 + seconds) }

    /// Returns whether each reading passes.
    private func passes(_ seconds: [Double], needed: Int = 3) -> [Bool] {
        var acquaintance = TagAcquaintance(needed: needed, limit: 100)
        return seconds.map { acquaintance.isLocated(phone, at: at($0)) }
    }

    func testATagIsLocatedInItsThirdMoment() {
        XCTAssertEqual(passes([0, 1, 2, 2.1]), [false, false, true, true])
        XCTAssertEqual(passes([0, 5, 10]), [false, false, true], "a gateway reports every 5 s")
        XCTAssertEqual(passes([0, 0.1, 0.3, 0.9]), [false, false, false, false], "one burst, or several gateways")
        XCTAssertEqual(passes([0, 0.5, 1, 1.5, 2]), [false, false, false, false, true])
        XCTAssertEqual(passes([0, 0], needed: 1), [true, true])
    }

    func testAStrangerThatReturnsAfterAMinuteBeginsAnew() {
        XCTAssertEqual(passes([0, 59, 119, 120, 121]), [false, false, true, true, true])
        XCTAssertEqual(passes([0, 30, 91, 92, 93]), [false, false, false, false, true])
    }

    func testALocatedTagStaysSoForTenMinutes() {
        XCTAssertEqual(passes([0, 1, 2, 601, 1_202, 1_203, 1_204]), [false, false, true, true, false, false, true])
    }

    func testTheLeastRecentlyHeardTagIsForgotten() {
        var acquaintance = TagAcquaintance(needed: 3, limit: 10)
        for second in 0..<2 { XCTAssertFalse(acquaintance.isLocated(phone, at: at(Double(second)))) }
        for number in 0..<9 { _ = acquaintance.isLocated(FleetHall.key(number), at: at(1.5)) }
        XCTAssertTrue(acquaintance.isLocated(phone, at: at(2)))
        for number in 0..<1_000 { _ = acquaintance.isLocated(FleetHall.key(number), at: at(2.5)) }
        XCTAssertEqual(acquaintance.count, 10)
        XCTAssertFalse(acquaintance.isLocated(phone, at: at(3)))
    }

    func testAnIntakePassesStrangersLaterAndTheRegisterAtOnce() {
        var settings = FleetSettings()
        settings.unknownTagMoments = FleetSettings.standardMoments
        let register = TagRegister([TagRegister.Entry(key: .name("cart"))])
        var intake = TagIntake(register: register, settings: settings)
        func readings(_ name: String, _ seconds: Double, rssi: Double) -> Int {
            let reading = GatewayReading(receiver: "hall", name: name, rssi: rssi)
            return intake.readings(of: [reading], arrival: at(seconds)).count
        }
        XCTAssertEqual(readings("cart", 0, rssi: -60), 1)
        XCTAssertEqual((0..<4).map { readings("phone", Double($0), rssi: -60 - Double($0)) }, [0, 0, 1, 1])
        XCTAssertEqual(intake.statistics.dropped[.stranger], 2)
        XCTAssertEqual(intake.counts.pairs, 2)
        intake.locate([.name("watch")], at: at(9))
        XCTAssertEqual(readings("watch", 9, rssi: -60), 1)
    }

    /// 200 new addresses a second for ten minutes.
    func testAFloodOfAddressesNeedsBoundedMemoryAndHidesNobody() {
        var settings = FleetSettings()
        settings.unknownTagMoments = FleetSettings.standardMoments
        var limits = TagIntake.Limits()
        limits.strangers = 1_000
        var intake = TagIntake(settings: settings, limits: limits)
        var (strangers, heard) = (0, 0)
        for index in 0..<12_000 {
            let arrival = at(Double(index) / 200)
            let invented = GatewayReading(receiver: "hall", name: "x\(index)", rssi: -60)
            strangers += intake.readings(of: [invented], arrival: arrival).count
            guard index % 200 == 0 else { continue }
            let phone = GatewayReading(receiver: "hall", name: "phone", rssi: -60 - Double(index / 200 % 7))
            heard += intake.readings(of: [phone], arrival: arrival).count
        }
        XCTAssertEqual(strangers, 0)
        XCTAssertEqual(heard, 58)
        XCTAssertEqual(intake.counts.pairs, 1)
    }
}
