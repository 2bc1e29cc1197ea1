import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

@testable import IIOReceiving

/// The source on a tree of files in the form of sysfs.
final class IIOSourceTests: XCTestCase {
    private func first(_ count: Int, of source: IIOSource) async throws -> [SensorReading] {
        try await Bounded.wait(for: "\(count) readings") {
            var readings: [SensorReading] = []
            for try await reading in source.readings() {
                readings.append(reading)
                if readings.count == count { break }
            }
            return readings
        }
    }

    private func failure(
        of source: IIOSource, whenReading act: @escaping @Sendable () throws -> Void = {}
    ) async throws -> IIOError? {
        try await Bounded.wait(for: "the end of the stream") {
            var hasActed = false
            do {
                for try await _ in source.readings() where !hasActed {
                    hasActed = true
                    try act()
                }
                return nil
            } catch { return error as? IIOError }
        }
    }

    func testAllSensorsArePolledWithInstantsSinceBoot() async throws {
        let devices = try FakeDevices(self)
        try devices.write(FakeDevices.accelerometer)
        try devices.write(FakeDevices.gyroscope, to: "iio:device1")
        try devices.write(FakeDevices.magnetometer, to: "iio:device2")
        try devices.write(FakeDevices.barometer, to: "iio:device3")
        let before = BootTime.now
        let readings = try await first(50, of: devices.source())
        let after = BootTime.now
        XCTAssertEqual(readings.map(\.instant), readings.map(\.instant).sorted())
        XCTAssertTrue(readings.allSatisfy { $0.instant >= before && $0.instant <= after })
        var pressures: [Double] = []
        // A tick reads the accelerometer first, so its instant is that of the tick.
        var (tick, ticksOfPressure) = (Instant.zero, [Instant]())
        for reading in readings {
            switch reading {
            case .motion(let sample):
                tick = sample.instant
                XCTAssertEqual(try XCTUnwrap(sample.acceleration).z, 9.80343, accuracy: 1e-5)
                XCTAssertEqual(try XCTUnwrap(sample.rotationRate).z, 0.152, accuracy: 1e-9)
                XCTAssertEqual(try XCTUnwrap(sample.magneticField).x, 20, accuracy: 1e-9)
                XCTAssertNil(sample.attitude)
            case .pressure(let sample):
                pressures.append(sample.hectopascals)
                ticksOfPressure.append(tick)
            default: XCTFail("\(reading)")
            }
        }
        XCTAssertEqual(pressures.first ?? 0, 1013.25, accuracy: 1e-9)
        for (earlier, later) in zip(ticksOfPressure, ticksOfPressure.dropFirst()) {
            XCTAssertGreaterThanOrEqual(earlier.duration(to: later), .milliseconds(100), "ten times a second at most")
        }
    }

    func testChangedValuesAreRead() async throws {
        let devices = try FakeDevices(self)
        try devices.write(FakeDevices.barometer)
        let latest = try await Bounded.wait(for: "another pressure") {
            for try await reading in devices.source().readings() {
                guard case .pressure(let sample) = reading else {
                    throw Bounded.Expired(awaited: "a pressure instead of \(reading)")
                }
                if sample.hectopascals < 1000 { return sample.hectopascals }
                try devices.write(["in_pressure_input": "99.5"])
            }
            throw Bounded.Expired(awaited: "another pressure")
        }
        XCTAssertEqual(latest, 995, accuracy: 1e-9)
    }

    func testInvertedAccelerationIsCorrected() async throws {
        let devices = try FakeDevices(self)
        try devices.write(FakeDevices.accelerometer)
        var source = devices.source()
        source.isAccelerationInverted = true
        guard case .motion(let sample) = try await first(1, of: source)[0] else { return XCTFail("no motion") }
        XCTAssertEqual(try XCTUnwrap(sample.acceleration).z, -9.80343, accuracy: 1e-5)
    }

    func testWithoutASensorTheStreamFails() async throws {
        let devices = try FakeDevices(self)
        let failure = try await failure(of: devices.source())
        XCTAssertEqual(failure, .noDevice(folder: devices.folder))
    }

    func testASensorThatIsUnpluggedEndsTheStream() async throws {
        let devices = try FakeDevices(self)
        try devices.write(FakeDevices.accelerometer)
        let failure = try await failure(of: devices.source()) { try devices.remove() }
        guard case .vanished(let path)? = failure else { return XCTFail("\(String(describing: failure))") }
        XCTAssertTrue(path.hasPrefix(devices.folder + "/iio:device0/in_accel_"), path)
    }

    func testAnUnreadableFileEndsTheStream() async throws {
        let devices = try FakeDevices(self)
        try devices.write(FakeDevices.barometer)
        let path = devices.folder + "/iio:device0/in_pressure_input"
        // Root may read any file except write-only files of the kernel.
        let unreadable = "/sys/bus/platform/uevent"
        if geteuid() != 0 {
            chmod(path, 0)
        } else {
            guard access(unreadable, F_OK) == 0 else {
                return print("\(unreadable) doesn't exist: the test does nothing")
            }
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: unreadable)
        }
        let failure = try await failure(of: devices.source())
        XCTAssertEqual(failure, .permissionDenied(path: path))
    }

    func testARateOutOfRangeIsClamped() {
        XCTAssertEqual(IIOSource(rate: 5000).rate, 200)
        XCTAssertEqual(IIOSource(rate: 0).rate, 1)
        XCTAssertEqual(IIOSource(rate: .nan).rate, 50)
        var source = IIOSource()
        source.rate = -3
        XCTAssertEqual(source.rate, 1)
    }

    func testASessionUsesTheSensorsTogetherWithItsRadio() async throws {
        let devices = try FakeDevices(self)
        try devices.write(FakeDevices.accelerometer)
        let radio = ScriptedSource()
        let beacon = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)
        let venue = Venue(
            id: 1, name: "hall", maps: [VenueMap(id: 10, name: "ground", level: 0, width: 20, height: 20)],
            beacons: [VenueBeacon(identity: beacon, mapID: 10, point: MapPoint(x: 5, y: 5))])
        let localizer = Localizer(
            source: CombinedSource(radio, with: [devices.source()]), venues: VenueLibrary([venue]))
        let (motion, states) = (localizer.motion, localizer.states)
        await localizer.start()
        // The device lies on its back: its upward axis is that of the world.
        let estimates = try await Bounded.first(2, of: motion)
        let up = try XCTUnwrap(estimates.last?.attitude).rotate(Vector3(x: 0, y: 0, z: 1))
        XCTAssertGreaterThan(up.z, 0.99, "\(up)")
        for tick in 0..<30 {
            radio.send(
                .sighting(
                    Sighting(
                        instant: BootTime.now.advanced(by: .milliseconds(100 * tick - 3000)), beacon: beacon, rssi: -60)
                ))
        }
        _ = try await Bounded.elements(of: states, until: "the venue of the radio") {
            if case .localizationRunning = $0 { true } else { false }
        }
        await localizer.stop()
    }
}
