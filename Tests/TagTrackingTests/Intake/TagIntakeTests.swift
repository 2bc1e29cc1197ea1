import BeaconScanning
import IndoorVocabulary
import XCTest
@testable import TagTracking

final class TagIntakeTests: XCTestCase {
    private let beacon = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)
    private let address = DeviceAddress(rawValue: 0xAABB_CCDD_EEFF)

    private func reading(
        _ rssi: Double = -60, receiver: String = "hall", name: String = "cart", window: Duration = .zero,
        time: GatewayTime? = nil
    ) -> GatewayReading {
        GatewayReading(receiver: receiver, name: name, rssi: rssi, window: window, time: time)
    }

    private func at(_ seconds: Double) -> Instant { Instant(seconds: 1_790_000_000 + seconds) }

    /// A message of `indoorloc scan --publish`.
    private func message(
        _ advertisements: [Advertisement], topic: String = "site/gateways/hall/advertisements", arrival: Instant,
        isRetained: Bool = false
    ) -> GatewayMessage {
        GatewayMessage(
            topic: topic,
            payload: IndoorlocPayload(
                wallClock: WallClock(timeOfZero: .zero), readings: advertisements.map { .advertisement($0) }
            ).encoded(), arrival: arrival, isRetained: isRetained)
    }

    private func advertisement(_ instant: Instant, rssi: Double = -60) throws -> Advertisement {
        let frame = BeaconFrame(format: .iBeacon, beacon: beacon, measuredPower: -59)
        return Advertisement(instant: instant, address: address, rssi: rssi, data: try frame.advertisingData())
    }

    func testAMessageGivesKeyedReadingsInTheTimeOfArrival() throws {
        var intake = TagIntake()
        let message = message(
            [try advertisement(at(0)), try advertisement(at(0.1), rssi: -70)], arrival: at(0.25))
        let readings = intake.readings(of: message)
        XCTAssertEqual(readings.map(\.tag), [.beacon(beacon), .beacon(beacon)])
        XCTAssertEqual(readings.map(\.receiver), ["hall", "hall"])
        XCTAssertEqual(readings.map(\.rssi), [-60, -70])
        XCTAssertEqual(readings.map(\.measuredPower), [-59, -59])
        XCTAssertEqual(readings.last?.instant, at(0.25), "the smallest delay counts as none")
        // Times as floating-point seconds have a rounding error of some hundred nanoseconds.
        let offset = try XCTUnwrap(intake.clockOffset(of: "hall"))
        XCTAssertEqual(Double(offset), 150e6, accuracy: 1000)
        XCTAssertEqual(intake.statistics.messages, 1)
        XCTAssertEqual(intake.statistics.readings, 2)
    }

    func testABeaconThatSeveralAddressesSendIsReported() {
        func shared(
            _ addresses: [UInt64], register: TagRegister = TagRegister(), settings: FleetSettings = FleetSettings()
        ) -> [BeaconIdentity: [DeviceAddress]] {
            var intake = TagIntake(register: register, settings: settings)
            for (second, address) in addresses.enumerated() {
                var reading = GatewayReading(receiver: "hall", name: nil, rssi: -60)
                (reading.address, reading.beacon) = (DeviceAddress(rawValue: address), beacon)
                _ = intake.readings(of: [reading], arrival: at(Double(second)))
            }
            return intake.sharedBeacons
        }
        let (one, two, three) = (0xC300_0012_AB01 as UInt64, 0xC300_0012_AB02 as UInt64, 0xC300_0012_AB03 as UInt64)
        XCTAssertEqual(shared([one, two, one]), [beacon: [one, two].map { DeviceAddress(rawValue: $0) }])
        XCTAssertEqual(shared([two, one, three, one, two])[beacon]?.count, 3)
        XCTAssertEqual(shared([one, one, two, two, three]), [:], "a tag whose address changes")
        XCTAssertEqual(
            shared([0x4300_0012_AB01, 0x4300_0012_AB02, 0x4300_0012_AB01]), [:], "addresses that may change")
        let register = TagRegister([one, two].map { .init(key: .address(DeviceAddress(rawValue: $0))) })
        XCTAssertEqual(shared([one, two, one], register: register), [:])
        var settings = FleetSettings()
        settings.unknownTags = .none
        XCTAssertEqual(shared([one, two, one], settings: settings), [:], "tags that aren't located")
    }

    func testTheBeaconsAndAddressesThatAreComparedAreLimited() {
        var senders = BeaconSenders()
        func note(_ address: UInt64, _ number: Int) {
            senders.note(
                DeviceAddress(rawValue: address),
                sending: BeaconIdentity(uuid: beacon.uuid, major: 0, minor: UInt16(number)))
        }
        for number in 0..<100 {
            for address in (0xC300_0012_AB00 as UInt64)..<0xC300_0012_AB40 { note(address, number) }
            note(0xC300_0012_AB00, number)
        }
        XCTAssertEqual(senders.shared.count, BeaconSenders.mostShared)
        XCTAssertEqual(Set(senders.shared.values.map(\.count)), [BeaconSenders.mostAddresses])
    }

    func testOneTagHasOneKeyInTheFormatsOfAllGateways() throws {
        var intake = TagIntake()
        let hex = try advertisement(at(0)).data.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        let plain = "00000000000000010000000000000002"
        let manufacturer = hex.dropFirst(6 + 4)
        let messages = [
            (
                "espresense/devices/iBeacon:00000000-0000-0001-0000-000000000002-3-4/hall",
                #"{"mac":"aabbccddeeff","id":"iBeacon:00000000-0000-0001-0000-000000000002-3-4","rssi":-71.25}"#
            ),
            (
                "home/north/BTtoMQTT/AABBCCDDEEFF",
                #"{"id":"AA:BB:CC:DD:EE:FF","rssi":-78,"manufacturerdata":"\#(manufacturer)"}"#
            ),
            (
                "home/south/BTtoMQTT/\(plain)",
                #"{"id":"\#(plain)","mac":"AA:BB:CC:DD:EE:FF","rssi":-79,"uuid":"\#(plain)","major":3,"minor":4}"#
            ),
            // These contain the address alone, which is linked by now.
            ("home/TheengsGateway/BTtoMQTT/AABBCCDDEEFF", #"{"id":"AA:BB:CC:DD:EE:FF","rssi":-82,"name":"x"}"#),
            (
                "a",
                #"[{"gateway":"G","locator":"l"},{"mac":"AABBCCDDEEFF","no":37,"rssi":-64,"timestamp":"2026-11-22T10:00:00Z"}]"#
            ),
            ("ruuvi/G/AA:BB:CC:DD:EE:FF", #"{"gw_mac":"G","rssi":-26,"data":"\#(hex)","cnt":338}"#),
        ]
        for (topic, payload) in messages {
            let readings = intake.readings(
                of: GatewayMessage(topic: topic, payload: Array(payload.utf8), arrival: at(0)))
            XCTAssertEqual(readings.map(\.tag), [.beacon(beacon)], "\(topic): \(intake.problems)")
        }
    }

    func testOneTagWithAnIdentifierOfTheGatewayHasOneKeyWhileItsAddressChanges() {
        let key = "irk:00112233445566778899aabbccddeeff"
        let addresses = ["4a1122334455", "7b66778899aa", "5d0102030405", "02aabbccddee"]
        let messages: [(name: String, topic: String, payload: (String) -> String)] = [
            ("phone:zoe", "espresense/devices/phone:zoe/hall", { #"{"mac":"\#($0)","id":"phone:zoe","rssi":-60}"# }),
            ("zoe", "espresense/devices/zoe/hall", { #"{"mac":"\#($0)","id":"zoe","name":"Zoe","rssi":-60}"# }),
            (key, "espresense/devices/\(key)/hall", { #"{"mac":"\#($0)","id":"\#(key)","rssi":-60}"# }),
            ("zoe", "home/gw/BTtoMQTT/zoe", { #"{"id":"zoe","mac":"\#($0)","mac_type":1,"rssi":-60}"# }),
            ("zoe", "tele/gw/BLE", { #"{"DetailsBLE":{"mac":"\#($0)/1","a":"zoe","RSSI":-60}}"# }),
        ]
        for (name, topic, payload) in messages {
            var intake = TagIntake()
            let tags = addresses.enumerated().flatMap { index, address in
                let payload = Array(payload(address).utf8)
                let message = GatewayMessage(topic: topic, payload: payload, arrival: at(Double(index) * 900))
                return intake.readings(of: message).map(\.tag)
            }
            XCTAssertEqual(tags, Array(repeating: .name(name), count: 4), "\(topic): \(intake.problems)")
        }
    }

    func testAnAddressThatDoesNotChangeOutranksAnIdentifierOfTheGateway() {
        let messages = [
            ("espresense/devices/zoe/hall", #"{"mac":"c31122334455","id":"zoe","rssi":-60}"#, 0xC311_2233_4455),
            ("espresense/devices/zoe/hall", #"{"mac":"ac1122334455","id":"zoe","rssi":-60}"#, 0xAC11_2233_4455),
            ("tele/gw/BLE", #"{"DetailsBLE":{"mac":"401122334455/0","a":"zoe","RSSI":-60}}"#, 0x4011_2233_4455),
        ]
        for (topic, payload, address) in messages {
            var intake = TagIntake()
            let message = GatewayMessage(topic: topic, payload: Array(payload.utf8), arrival: at(0))
            let expected = TagKey.address(DeviceAddress(rawValue: UInt64(address)))
            XCTAssertEqual(intake.readings(of: message).map(\.tag), [expected], payload)
        }
    }

    func testWhatManyDevicesShareIsNoIdentifierOfAGateway() {
        // What ESPresense writes for a device that it hasn't resolved: kinds of devices, and names that devices advertise.
        for id in [
            "apple:1005:9-24", "apple:iphone14-2", "name:band", "md:0157:24", "sd:feaa", "ad:180f", "tile:4a1122334455",
        ] {
            var intake = TagIntake()
            let payload = #"{"mac":"4a1122334455","id":"\#(id)","rssi":-60}"#
            let message = GatewayMessage(
                topic: "espresense/devices/\(id)/hall", payload: Array(payload.utf8), arrival: at(0))
            let expected = TagKey.address(DeviceAddress(rawValue: 0x4A11_2233_4455))
            XCTAssertEqual(intake.readings(of: message).map(\.tag), [expected], id)
        }
    }

    func testTheAddressBesideAnIdentifierIsLinkedForGatewaysThatDoNotKnowTheIdentifier() {
        var intake = TagIntake()
        let messages = [
            ("espresense/devices/zoe/hall", #"{"mac":"4a1122334455","id":"zoe","rssi":-60}"#),
            ("home/gw/BTtoMQTT/4A1122334455", #"{"id":"4A:11:22:33:44:55","mac_type":1,"rssi":-60}"#),
        ]
        let tags = messages.flatMap { topic, payload in
            intake.readings(of: GatewayMessage(topic: topic, payload: Array(payload.utf8), arrival: at(0))).map(\.tag)
        }
        XCTAssertEqual(tags, [.name("zoe"), .name("zoe")])
    }

    func testATagWithItsBatteryInTheMinorIsOneTagByTheMaskOfTheRegister() throws {
        let uuid = "00000000-0000-0001-0000-000000000002"
        let files = [
            "key,mask\n\(uuid)-3-4608,0xFF00\n", "key,aliases,mask\n\(uuid)/3/4608,x \(uuid)-9-1,0xFF00\n",
            "key,mask\n\(uuid)-3-4660,0xFFFF/65280\n",
        ]
        for file in files {
            let register = try TagRegister(csv: Array(file.utf8))
            let key = try XCTUnwrap(register.entries.keys.first)
            var settings = FleetSettings()
            settings.unknownTags = .none
            var intake = TagIntake(register: register, settings: settings)
            var tags: [TagKey] = []
            for level in stride(from: 100, through: 0, by: -1) {
                // The battery is in the lower byte; the other tag has another upper byte.
                for (high, address, count) in [(0x1200, "c31122334455", 1), (0x1300, "c31122334466", 0)] {
                    let payload = #"{"mac":"\#(address)","id":"iBeacon:\#(uuid)-3-\#(high + level)","rssi":-60}"#
                    let message = GatewayMessage(
                        topic: "espresense/devices/a/hall", payload: Array(payload.utf8),
                        arrival: at(Double(100 - level) * 3600))
                    let readings = intake.readings(of: message)
                    tags += readings.map(\.tag)
                    XCTAssertEqual(readings.count, count, payload)
                }
            }
            XCTAssertEqual(tags, Array(repeating: key, count: 101), file)
        }
    }

    func testARetainedMessageIsDroppedBeforeItIsDecoded() throws {
        var intake = TagIntake()
        let retained = message([try advertisement(at(0))], arrival: at(0), isRetained: true)
        XCTAssertEqual(intake.readings(of: retained), [])
        var broken = retained
        broken.payload = [1]
        XCTAssertEqual(intake.readings(of: broken), [])
        XCTAssertEqual(intake.statistics.retained, 2)
        XCTAssertEqual(intake.statistics.invalid, [:])
        XCTAssertNil(intake.clockOffset(of: "hall"))
    }

    func testAnInvalidMessageIsReportedAndHarmsNoOther() throws {
        var intake = TagIntake()
        var broken = message([try advertisement(at(0))], arrival: at(0))
        broken.payload.removeLast()
        XCTAssertEqual(intake.readings(of: broken), [])
        broken.arrival = at(1)
        XCTAssertEqual(intake.readings(of: broken), [])
        XCTAssertEqual(intake.readings(of: message([try advertisement(at(2))], arrival: at(2))).count, 1)
        XCTAssertEqual(intake.statistics.invalid, ["indoorloc": 2])
        let problem = try XCTUnwrap(intake.problems.first)
        XCTAssertEqual(intake.problems.count, 1)
        XCTAssertEqual(problem.topic, "site/gateways/hall/advertisements")
        XCTAssertEqual(problem.arrival, at(1))
        XCTAssertEqual(problem.count, 2)
        XCTAssertEqual(problem.error.format, .indoorloc)
    }

    func testAMessageAboveTheLimitIsInvalid() {
        var limits = TagIntake.Limits()
        limits.payload = 10
        var intake = TagIntake(formats: [TopicFormat(filter: "a/#", format: .ruuvi)], limits: limits)
        let large = GatewayMessage(topic: "a/b", payload: Array(repeating: 0, count: 11), arrival: at(0))
        XCTAssertEqual(intake.readings(of: large), [])
        XCTAssertEqual(
            intake.problems.first?.error.description,
            "ruuvi message at byte 10: the message has 11 bytes; the limit is 10")
    }

    func testUnknownTagsAreDroppedByTheRuleOfTheSettings() {
        let register = TagRegister([.init(key: .name("cart"))])
        let others = [
            GatewayReading(receiver: "hall", beacon: beacon, rssi: -60),
            GatewayReading(
                receiver: "hall", beacon: BeaconIdentity(uuid: BeaconUUID(high: 9, low: 9), major: 3, minor: 4),
                rssi: -60),
            GatewayReading(receiver: "hall", address: address, rssi: -60),
        ]
        for (rule, count) in [
            (FleetSettings.UnknownTags.all, 4), (.beacons([beacon.uuid]), 2), (.none, 1),
        ] {
            var settings = FleetSettings()
            settings.unknownTags = rule
            var intake = TagIntake(register: register, settings: settings)
            XCTAssertEqual(intake.readings(of: [reading()] + others, arrival: at(0)).count, count, "\(rule)")
            XCTAssertEqual(intake.statistics.dropped[.unknownTag] ?? 0, 4 - count, "\(rule)")
        }
    }

    func testAReadingWithoutMeasurementOrNameIsDropped() {
        var intake = TagIntake()
        let readings = [
            reading(0), reading(127), reading(-128), reading(.nan), reading(-50, receiver: ""), reading(-50, name: ""),
            reading(-50, receiver: String(repeating: "r", count: 201)), reading(-50),
        ]
        XCTAssertEqual(intake.readings(of: readings, arrival: at(0)).count, 1)
        XCTAssertEqual(intake.statistics.dropped, [.withoutMeasurement: 4, .unnamed: 3])
    }

    // MARK: Duplicates and windows

    func testAnAdvertisementInSeveralMessagesCountsOnce() {
        var intake = TagIntake()
        XCTAssertEqual(intake.readings(of: [reading()], arrival: at(0)).count, 1)
        XCTAssertEqual(intake.readings(of: [reading()], arrival: at(0.05)).count, 0)
        XCTAssertEqual(intake.readings(of: [reading()], arrival: at(0.11)).count, 1, "the next advertisement")
        XCTAssertEqual(intake.readings(of: [reading(-61)], arrival: at(0.12)).count, 1, "another RSSI")
        XCTAssertEqual(intake.readings(of: [reading(-61, receiver: "b")], arrival: at(0.12)).count, 1)
        XCTAssertEqual(intake.readings(of: [reading(-61, name: "van")], arrival: at(0.12)).count, 1)
        XCTAssertEqual(intake.statistics.dropped, [.duplicate: 1])
    }

    func testReadingsOfOneMessageAreDifferentAdvertisements() {
        var intake = TagIntake()
        let second = GatewayTime(nanoseconds: at(0).nanoseconds, resolution: .seconds(1))
        XCTAssertEqual(intake.readings(of: [reading(), reading()], arrival: at(0)).count, 2)
        XCTAssertEqual(intake.readings(of: [reading(time: second), reading(time: second)], arrival: at(1)).count, 2)
    }

    func testAFineClockDeterminesWhatIsADuplicate() {
        var intake = TagIntake()
        func time(_ seconds: Double) -> GatewayTime {
            GatewayTime(nanoseconds: at(seconds).nanoseconds, resolution: .milliseconds(1))
        }
        let readings = [reading(time: time(0)), reading(time: time(0)), reading(time: time(0.02))]
        XCTAssertEqual(intake.readings(of: readings, arrival: at(0.1)).count, 2)
        XCTAssertEqual(intake.readings(of: [reading(time: time(0.02))], arrival: at(9)).count, 0, "sent again")
    }

    /// A Shelly device gives up to 16 advertisements in an event, whose time is the only one.
    func testAdvertisementsThatShareTheTimeOfTheirEventAreDifferentOnes() {
        var intake = TagIntake()
        func event(at seconds: Double, _ rssis: String..., arrival: Double) -> Int {
            let heard = rssis.map { #"["AA:BB:CC:DD:EE:FF",\#($0),"AgEG",""]"# }.joined(separator: ",")
            let payload =
                #"{"src":"shelly","params":{"events":[{"event":"ble.scan_result","data":[2,[\#(heard)]],"#
                + #""ts":\#(at(seconds).seconds)}]}}"#
            let message = GatewayMessage(
                topic: "shelly/events/rpc", payload: Array(payload.utf8), arrival: at(arrival), isRetained: false)
            return intake.readings(of: message).count
        }
        XCTAssertEqual(event(at: 0.25, "-61", "-61", "-60", arrival: 0.3), 3)
        XCTAssertEqual(event(at: 0.5, "-60", arrival: 0.31), 1, "another event, however soon it arrives")
        XCTAssertEqual(event(at: 0.5, "-60", arrival: 9), 0, "sent again")
        XCTAssertEqual(event(at: 0.7, "-61", "-61", arrival: 9.1), 2)
        XCTAssertEqual(event(at: 0.7, "-61", "-61", arrival: 9.2), 0, "sent again")
        XCTAssertEqual(intake.statistics.dropped, [.duplicate: 3])
        XCTAssertEqual(intake.statistics.invalid, [:])
    }

    func testFilteredReadingsPassWithTheirWindow() {
        var intake = TagIntake()
        // A gateway with a window of 15 s sends every 5 s; the engine weights the overlap.
        let passed = (0..<4).flatMap { index in
            let filtered = reading(-60 - Double(index), window: .seconds(15))
            return intake.readings(of: [filtered], arrival: at(5 * Double(index)))
        }
        XCTAssertEqual(passed.map(\.rssi), [-60, -61, -62, -63])
        XCTAssertEqual(passed.map(\.window), Array(repeating: .seconds(15), count: 4))
        XCTAssertEqual(intake.statistics.dropped, [:])
    }

    // MARK: Clocks

    func testAClockThatJumpsIsReportedAsAnEvent() {
        var intake = TagIntake()
        var events: [ReceiverEvent] = []
        for second in 0..<2000 {
            let ahead = second < 300 && second / 20 % 2 == 1 ? 600.0 : 0
            let time = GatewayTime(nanoseconds: at(Double(second) + ahead).nanoseconds, resolution: .seconds(1))
            let readings = intake.readings(
                of: [reading(-60 - Double(second % 2), time: time)], arrival: at(Double(second) + 0.1))
            XCTAssertTrue(readings.allSatisfy { $0.instant <= at(Double(second) + 0.1) })
            events += intake.drainEvents()
        }
        XCTAssertEqual(events.map(\.health), [.clockWrong, .healthy])
        XCTAssertEqual(events.map(\.receiver), ["hall", "hall"])
        XCTAssertGreaterThan(intake.statistics.withoutClock, 300)
    }

    func testALateReadingIsDropped() {
        var intake = TagIntake()
        for second in 0..<120 {
            let delay = second == 100 ? 60.0 : 0
            let time = GatewayTime(
                nanoseconds: at(Double(second) - delay).nanoseconds, resolution: .milliseconds(1))
            let readings = intake.readings(of: [reading(time: time)], arrival: at(Double(second) + 0.1))
            XCTAssertEqual(readings.count, second == 100 ? 0 : 1, "second \(second)")
        }
        XCTAssertEqual(intake.statistics.dropped, [.late: 1])
    }

    // MARK: Limits

    func testAFloodOfNamesNeedsLimitedMemory() {
        var limits = TagIntake.Limits()
        (limits.receivers, limits.links, limits.pairs, limits.problems) = (50, 50, 50, 5)
        var intake = TagIntake(limits: limits)
        let time = GatewayTime(nanoseconds: 0, resolution: .seconds(1))
        for index in 0..<2000 {
            let flood = GatewayReading(
                receiver: "r\(index)", address: DeviceAddress(rawValue: UInt64(index + 1)),
                beacon: BeaconIdentity(uuid: BeaconUUID(high: 0, low: UInt64(index)), major: 0, minor: 0), rssi: -60,
                time: time)
            XCTAssertEqual(intake.readings(of: [flood], arrival: at(0)).count, 1)
            _ = intake.readings(of: GatewayMessage(topic: "t\(index)", payload: [], arrival: at(0)))
        }
        XCTAssertEqual(intake.counts, TagIntake.Counts(receivers: 50, links: 50, pairs: 50, problems: 5))
        XCTAssertEqual(intake.problems.map(\.topic), ["t1995", "t1996", "t1997", "t1998", "t1999"])
    }

    // MARK: Figures

    func testTheStatisticsAreMetrics() throws {
        var intake = TagIntake()
        _ = intake.readings(of: message([try advertisement(at(0))], arrival: at(0)))
        _ = intake.readings(of: message([], arrival: at(0), isRetained: true))
        _ = intake.readings(of: GatewayMessage(topic: "a", payload: [], arrival: at(0)))
        _ = intake.readings(of: [reading(0)], arrival: at(0))
        let families = intake.statistics.families
        XCTAssertEqual(
            families.map(\.name),
            ["messages", "retained_messages", "invalid_messages", "readings", "dropped_readings", "arrival_times"].map {
                "indoorloc_intake_" + $0
            })
        XCTAssertEqual(families[0].samples, [.init(.number(3))])
        XCTAssertEqual(families[1].samples, [.init(.number(1))])
        XCTAssertEqual(families[2].samples, [.init(.number(1), labels: [.init("format", "unknown")])])
        XCTAssertEqual(families[3].samples, [.init(.number(1))])
        XCTAssertEqual(
            families[4].samples.first, .init(.number(1), labels: [.init("reason", "withoutMeasurement")]))
        XCTAssertEqual(families[4].samples.count, IntakeStatistics.Reason.allCases.count)
    }
}

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

final class TopicFormatTests: XCTestCase {
    func testAFilterMatchesTopicsAsInMQTT() {
        for (filter, topic, matches) in [
            ("a/b", "a/b", true), ("a/b", "a/b/c", false), ("a/b/c", "a/b", false), ("a/+", "a/b", true),
            ("a/+", "a", false), ("a/+", "a/", true), ("+/b", "a/b", true), ("a/+/c", "a/b/c", true),
            ("a/#", "a/b/c", true), ("a/#", "a", true), ("#", "", true), ("a/#", "b/a", false), ("", "a", false),
            ("a/+b", "a/xb", false),
        ] {
            XCTAssertEqual(TopicFormat(filter: filter, format: .ruuvi).matches(topic), matches, "\(filter) \(topic)")
        }
    }

    func testTheLevelsOfAFilterAreComparedOneByOne() {
        let words = ["", "a", "ab", "b", "+", "#", "a+"]
        var texts = words
        for _ in 0..<2 { texts += texts.flatMap { text in words.map { text + "/" + $0 } } }
        for filter in Set(texts).sorted() {
            let wanted = filter.split(separator: "/", omittingEmptySubsequences: false)
            for topic in ["", "a", "ab", "/", "a/", "/a", "a/b", "a/b/", "ab/a/b", "a//b", "b/a+/a"] {
                let levels = topic.split(separator: "/", omittingEmptySubsequences: false)
                let fixed = wanted.prefix { $0 != "#" }
                let isOpen = fixed.count < wanted.count
                let matches =
                    (isOpen ? levels.count >= fixed.count : levels.count == fixed.count)
                    && zip(fixed, levels).allSatisfy { $0 == "+" || $0 == $1 }
                XCTAssertEqual(
                    TopicFormat(filter: filter, format: .ruuvi).matches(topic), matches, "\(filter) and \(topic)")
            }
        }
    }
}
