import BlueZScanning
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// A scan through a real message bus that the test starts.
final class DBusShellTests: XCTestCase {
    /// The time limit of each wait.
    private static let bound = Duration.seconds(20)

    private static func source(_ address: String) -> BlueZScanSource {
        BlueZScanSource(BlueZScanSettings(adapter: .first, content: .beacons), address: address)
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
            try await service.called.wait { $0.last == "answer of 1 value" }
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
            _ = try await first?.next(where: Self.isSighting)
            _ = try await Self.next(&second, where: Self.isSighting)
            first = nil
            try await service.called.wait { $0.last == "UnregisterMonitor" }
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
