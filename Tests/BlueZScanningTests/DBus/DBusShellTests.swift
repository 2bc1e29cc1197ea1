import BlueZScanning
import Glibc
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// A scan through a real message bus that the test starts.
final class DBusShellTests: XCTestCase {
    /// The time limit of each wait.
    private static let bound = Bounded.longest

    private static func source(_ address: String) -> BlueZScanSource {
        var settings = BlueZScanSettings(adapter: .first, content: .beacons)
        // On a busy machine, the service may take long to answer.
        settings.patience = 60
        return BlueZScanSource(settings, address: address)
    }

    /// Returns the first reading that matches. Fails if none matches within the time limit, or if the stream ends.
    private static func next(
        _ readings: inout AsyncThrowingStream<SensorReading, any Error>.Iterator,
        where fits: (SensorReading) -> Bool, file: StaticString = #filePath, line: UInt = #line
    ) async throws -> SensorReading? {
        while let reading = try await readings.next() {
            if fits(reading) { return reading }
        }
        XCTFail("the stream ended before a matching reading", file: file, line: line)
        return nil
    }

    private static func hasStatus(_ status: RadioEvent.Status) -> (SensorReading) -> Bool {
        { if case .radio(let event) = $0 { event.status == status } else { false } }
    }

    private static func isSighting(_ reading: SensorReading) -> Bool {
        if case .sighting = reading { true } else { false }
    }

    /// Runs the body of a test. Cancels it and fails if it exceeds the time limit.
    private func bounded(_ body: @escaping @Sendable () async throws -> Void) async throws {
        try await Bounded.wait(for: "the end of the test", within: Self.bound, body)
    }

    func testAMissingBusIsAnError() async throws {
        do {
            for try await _ in Self.source("unix:path=/nonexistent/bus").readings() {}
            XCTFail("the stream ended without an error")
        } catch let error as BluetoothError {
            guard case .busUnavailable(let reason) = error else { return XCTFail("\(error)") }
            XCTAssertFalse(reason.isEmpty)
        }
    }

    func testAMissingServiceIsReportedAndFoundWhenItStarts() async throws {
        try await bounded {
            let bus = try PrivateBus()
            defer { bus.remove() }
            var readings = Self.source(bus.address).readings().makeAsyncIterator()
            _ = try await Self.next(&readings, where: Self.hasStatus(.serviceLost))
            let service = try StandInService(address: bus.address)
            defer { service.end() }
            let scanning = try await Self.next(&readings, where: Self.hasStatus(.scanning))
            XCTAssertNotNil(scanning)
        }
    }

    func testTheServicesReportsAreSightingsAndTheEndStopsDiscovery() async throws {
        try await bounded {
            let bus = try PrivateBus()
            defer { bus.remove() }
            let service = try StandInService(address: bus.address)
            defer { service.end() }
            var readings: AsyncThrowingStream.Iterator? = Self.source(bus.address).readings().makeAsyncIterator()
            let sighting = try await readings?.next(where: Self.isSighting)
            guard case .sighting(let first)? = sighting else { return XCTFail("no sighting") }
            XCTAssertEqual(first.rssi, -58)
            XCTAssertEqual(first.beacon.minor, 7)
            service.hear(rssi: -77)
            guard case .sighting(let second)? = try await readings?.next(where: Self.isSighting) else {
                return XCTFail("no sighting")
            }
            XCTAssertEqual(second.rssi, -77)
            XCTAssertGreaterThanOrEqual(second.instant, first.instant)
            // Releasing the stream ends the scan.
            readings = nil
            try await service.called.wait { $0.last == "UnregisterMonitor" }
            XCTAssertEqual(
                service.called.value,
                [
                    "GetManagedObjects", "RegisterMonitor", "SetDiscoveryFilter", "StartDiscovery", "StopDiscovery",
                    "UnregisterMonitor",
                ])
        }
    }

    func testTheScanAnswersTheServicesCallForTheMonitor() async throws {
        try await bounded {
            let bus = try PrivateBus()
            defer { bus.remove() }
            let service = try StandInService(address: bus.address)
            defer { service.end() }
            var readings = Self.source(bus.address).readings().makeAsyncIterator()
            _ = try await Self.next(&readings, where: Self.hasStatus(.scanning))
            service.callBack(
                "GetManagedObjects", of: "org.freedesktop.DBus.ObjectManager", on: AdvertisementMonitor.rootPath)
            try await service.called.wait { $0.contains("answer of 1 value") }
        }
    }

    func testTheScanResumesAfterTheServiceIsKilledAndRestarted() async throws {
        try await bounded {
            let bus = try PrivateBus()
            defer { bus.remove() }
            let first = try StandInService(address: bus.address)
            var readings = Self.source(bus.address).readings().makeAsyncIterator()
            _ = try await Self.next(&readings, where: Self.hasStatus(.scanning))
            first.end()
            _ = try await Self.next(&readings, where: Self.hasStatus(.serviceLost))
            let second = try StandInService(address: bus.address)
            defer { second.end() }
            _ = try await Self.next(&readings, where: Self.hasStatus(.scanning))
        }
    }

    func testTheScanResumesAfterTheBusIsKilledAndRestarted() async throws {
        try await bounded {
            let bus = try PrivateBus()
            let service = try StandInService(address: bus.address)
            var readings = Self.source(bus.address).readings().makeAsyncIterator()
            _ = try await Self.next(&readings, where: Self.hasStatus(.scanning))
            let another = try bus.restarted()
            defer { another.remove() }
            service.end()
            _ = try await Self.next(&readings, where: Self.hasStatus(.serviceLost))
            let restarted = try StandInService(address: another.address)
            defer { restarted.end() }
            _ = try await Self.next(&readings, where: Self.hasStatus(.scanning))
        }
    }

    func testABusThatDeniesTheServiceIsAnErrorWithItsReason() async throws {
        try await bounded {
            let bus = try PrivateBus(
                policy: "<deny send_destination=\"org.bluez\" send_interface=\"org.freedesktop.DBus.ObjectManager\"/>")
            defer { bus.remove() }
            let service = try StandInService(address: bus.address)
            defer { service.end() }
            do {
                for try await _ in Self.source(bus.address).readings() {}
                XCTFail("the stream ended without an error")
            } catch let error as BluetoothError {
                guard case .busForbidden = error else { return XCTFail("\(error)") }
            }
        }
    }

    func testTwoScansOfOneSourceDoNotDisturbEachOther() async throws {
        try await bounded {
            let bus = try PrivateBus()
            defer { bus.remove() }
            let service = try StandInService(address: bus.address)
            defer { service.end() }
            let source = Self.source(bus.address)
            var first: AsyncThrowingStream.Iterator? = source.readings().makeAsyncIterator()
            var second = source.readings().makeAsyncIterator()
            // Each of them gets the sightings of the other's discovery, too, possibly before its own has begun.
            var (isScanning, hasHeard) = (false, false)
            func isUnderWay(_ reading: SensorReading) -> Bool {
                isScanning = isScanning || Self.hasStatus(.scanning)(reading)
                hasHeard = hasHeard || Self.isSighting(reading)
                return isScanning && hasHeard
            }
            _ = try await first?.next(where: isUnderWay)
            (isScanning, hasHeard) = (false, false)
            _ = try await Self.next(&second, where: isUnderWay)
            first = nil
            try await service.called.wait { $0.contains("UnregisterMonitor") }
            service.hear(rssi: -66)
            _ = try await Self.next(&second) {
                if case .sighting(let sighting) = $0 { sighting.rssi == -66 } else { false }
            }
        }
    }
}

extension AsyncThrowingStream<SensorReading, any Error>.Iterator {
    /// Returns the next reading that matches; nil when the stream ends.
    fileprivate mutating func next(where fits: (SensorReading) -> Bool) async throws -> SensorReading? {
        while let reading = try await next() {
            if fits(reading) { return reading }
        }
        return nil
    }
}

/// Messages that one connection writes and another reads, over a real bus.
final class DBusMessageTests: XCTestCase {
    /// A signal that the test subscribes to.
    private func signal(_ body: [BusValue]) -> BusMessage {
        var signal = BusMessage(kind: .signal)
        signal.path = "/org/example"
        signal.interface = "org.example.Test"
        signal.member = "Tell"
        signal.body = body
        return signal
    }

    /// Waits for data, with a limit.
    private func awaitArrival(_ connection: BusConnection) {
        var waiting = pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0)
        XCTAssertEqual(poll(&waiting, 1, Int32(Bounded.longest.seconds * 1000)), 1, "no data arrives")
    }

    /// Sends a value from one connection to itself, and returns the received value.
    private func roundTrip(_ body: [BusValue]) throws -> [BusValue] {
        let bus = try PrivateBus()
        defer { bus.remove() }
        let connection = try BusConnection(address: bus.address)
        defer { connection.close() }
        connection.subscribe("type='signal',interface='org.example.Test'")
        connection.send(signal(body))
        var received: BusMessage?
        while received == nil {
            awaitArrival(connection)
            guard connection.exchange({ if $0.member == "Tell" { received = $0 } }) != .gone else { break }
        }
        let message = try XCTUnwrap(received)
        XCTAssertEqual(message.path, "/org/example")
        XCTAssertEqual(message.kind, .signal)
        return message.body
    }

    func testMessagesSentBeforeTheBusWasKilledAreReadBeforeItsEnd() throws {
        let bus = try PrivateBus()
        defer { bus.remove() }
        let listener = try BusConnection(address: bus.address)
        defer { listener.close() }
        let talker = try BusConnection(address: bus.address)
        defer { talker.close() }
        // The answer follows the subscription on the same connection, so the bus has processed the subscription.
        listener.subscribe("type='signal',interface='org.example.Test'")
        try ask(listener)
        let count = 100
        for number in 0..<count {
            talker.send(signal([.int32(Int32(number)), .bytes([UInt8](repeating: 7, count: 200))]))
        }
        // The answer follows the signals, so they are in the listener's socket.
        try ask(talker)
        bus.kill()
        var received = 0
        var standing = BusConnection.Standing.waiting
        while standing == .waiting { standing = listener.exchange { if $0.member == "Tell" { received += 1 } } }
        XCTAssertEqual(standing, .gone)
        XCTAssertEqual(received, count)
    }

    /// Sends the bus a call, and waits for the answer.
    private func ask(_ connection: BusConnection) throws {
        connection.send(
            .call(
                "GetId", of: "org.freedesktop.DBus", on: "/org/freedesktop/DBus", at: "org.freedesktop.DBus", serial: 77
            ))
        var isAnswered = false
        while !isAnswered {
            awaitArrival(connection)
            guard connection.exchange({ isAnswered = isAnswered || $0.replySerial == 77 }) != .gone else {
                throw BusSetupError("the bus closed the connection")
            }
        }
    }

    func testEveryTypeIsReceivedAsItWasSent() throws {
        let values: [BusValue] = [
            .boolean(true), .byte(255), .int16(-32768), .uint16(65535), .int32(.min), .uint32(.max), .int64(.min),
            .uint64(.max), .double(-1.5), .string("Grüße"), .objectPath("/org/bluez"), .signature("a{sv}"),
            .bytes([0, 1, 255]), .bytes([]), .array([.string("a"), .string("b")], of: "s"), .array([], of: "(yyay)"),
            .structure([.byte(1), .bytes([2])]), .variant(.variant(.int16(-7))),
            .properties(["RSSI": .int16(-60), "Data": .bytes([1])]), .dictionary([:], of: "oa{sa{sv}}"),
            .array([.structure([.byte(0), .byte(0xFF), .bytes([0x4C])])], of: "(yyay)"),
        ]
        XCTAssertEqual(try roundTrip(values), values)
    }

    func testTheMonitorsPropertiesHaveTheSignaturesOfTheInterface() throws {
        var call = BusMessage.call(
            "GetManagedObjects", of: "org.freedesktop.DBus.ObjectManager", on: AdvertisementMonitor.rootPath,
            at: ":1.9", serial: 1)
        call.sender = ":1.7"
        let body = try XCTUnwrap(AdvertisementMonitor.answer(call)).body
        XCTAssertEqual(body.map(\.typeSignature), ["a{oa{sa{sv}}}"])
        XCTAssertEqual(try roundTrip(body), body)
        let monitor = body.first?.properties[AdvertisementMonitor.path]?.properties[AdvertisementMonitor.interface]
        XCTAssertEqual(monitor?.properties["Type"], .string("or_patterns"))
        XCTAssertEqual(monitor?.properties["Patterns"]?.typeSignature, "a(yyay)")
    }

    func testUnknownCallsAreRefusedAndCallsThatExpectNoReplyGetNone() {
        var call = BusMessage.call("Nonsense", of: "org.example", on: "/", at: ":1.9", serial: 1)
        XCTAssertEqual(
            AdvertisementMonitor.answer(call)?.errorName, "org.freedesktop.DBus.Error.UnknownMethod")
        call.expectsReply = false
        XCTAssertNil(AdvertisementMonitor.answer(call))
    }

    func testACallFromAnotherSenderIsDenied() {
        var stage = DBusStage()
        stage.begin()
        var call = BusMessage.call(
            "Release", of: AdvertisementMonitor.interface, on: AdvertisementMonitor.path, at: ":1.9", serial: 4)
        call.sender = ":1.666"
        stage.happen(.received(call))
        guard case .send(let answer)? = stage.directives.first else { return XCTFail("no answer") }
        XCTAssertEqual(answer.errorName, "org.freedesktop.DBus.Error.AccessDenied")
        XCTAssertEqual(stage.machine.memory.monitor, .untried)
    }
}
