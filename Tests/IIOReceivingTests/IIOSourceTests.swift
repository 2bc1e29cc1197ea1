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
                try devices.overwrite("in_pressure_input", with: "099.500000")
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
        // Before the session knows its venues, a reading identifies none.
        _ = try await Bounded.elements(of: states, until: "the search") { $0 == .searchVenue }
        // On a busy machine, readings can be too old when the session gets them: further ones follow.
        let sightings = Task {
            while !Task.isCancelled {
                for tick in 0..<30 {
                    let instant = BootTime.now.advanced(by: .milliseconds(100 * tick - 3000))
                    radio.send(.sighting(Sighting(instant: instant, beacon: beacon, rssi: -60)))
                }
                try? await Task.sleep(for: .seconds(3))
            }
        }
        defer { sightings.cancel() }
        _ = try await Bounded.elements(of: states, until: "the venue of the radio") {
            if case .localizationRunning = $0 { true } else { false }
        }
        await localizer.stop()
    }
}

/// The conversion of a device's files.
final class IIOSensorTests: XCTestCase {
    private func sensors(_ devices: FakeDevices) throws -> [IIOSensor.Kind: IIOSensor] {
        Dictionary(uniqueKeysWithValues: try IIOSensor.all(in: devices.root).map { ($0.kind, $0) })
    }

    func testRawValuesAreConvertedWithOffsetAndScale() throws {
        let devices = try FakeDevices(self)
        try devices.write(FakeDevices.accelerometer)
        try devices.write(FakeDevices.gyroscope, to: "iio:device1")
        try devices.write(FakeDevices.magnetometer, to: "iio:device2")
        try devices.write(FakeDevices.barometer, to: "iio:device10")
        let sensors = try sensors(devices)
        XCTAssertEqual(sensors.count, 4)
        let felt = try XCTUnwrap(sensors[.acceleration]).read()
        XCTAssertEqual(felt.x, -90 * 0.001197, accuracy: 1e-9, "the axis' own offset")
        XCTAssertEqual(felt.y, 200 * 0.001197, accuracy: 1e-9, "no offset")
        XCTAssertEqual(felt.z, 9.80343, accuracy: 1e-5)
        XCTAssertEqual(try XCTUnwrap(sensors[.rotation]).read().z, 0.152, accuracy: 1e-9)
        let field = try XCTUnwrap(sensors[.magnetism]).read()
        XCTAssertEqual(field.x, 20, accuracy: 1e-9, "0.2 gauss are 20 µT")
        XCTAssertEqual(field.z, -40, accuracy: 1e-9)
        XCTAssertEqual(try XCTUnwrap(sensors[.pressure]).read().x, 1013.25, accuracy: 1e-9, "kPa are 10 hPa")
    }

    func testTheScaleOfAnAxisOverridesTheSharedScale() throws {
        let devices = try FakeDevices(self)
        try devices.write(FakeDevices.accelerometer)
        try devices.write(["in_accel_y_scale": "2", "in_accel_offset": "1"])
        let felt = try XCTUnwrap(sensors(devices)[.acceleration]).read()
        XCTAssertEqual(felt.x, -90 * 0.001197, accuracy: 1e-9, "the axis' own offset")
        XCTAssertEqual(felt.y, 201 * 2, accuracy: 1e-9)
    }

    func testTheMountMatrixRotatesTheSensorsFrameToTheDevices() throws {
        let devices = try FakeDevices(self)
        try devices.write(FakeDevices.accelerometer)
        try devices.write(["in_mount_matrix": "0, 1, 0; -1, 0, 0; 0, 0, 1", "in_accel_x_offset": "0"])
        let turned = try XCTUnwrap(sensors(devices)[.acceleration]).read()
        XCTAssertEqual(turned.x, 200 * 0.001197, accuracy: 1e-9)
        XCTAssertEqual(turned.y, 100 * 0.001197, accuracy: 1e-9)
        try devices.write(["in_accel_mount_matrix": "-1, 0, 0; 0, -1, 0; 0, 0, 1"])
        let own = try XCTUnwrap(sensors(devices)[.acceleration]).read()
        XCTAssertEqual(own.x, 100 * 0.001197, accuracy: 1e-9, "the sensor's own matrix overrides the device's")
        try devices.write(["in_accel_mount_matrix": "1, 0; 0, 1"])
        XCTAssertThrowsError(try sensors(devices)) { error in
            let path = devices.folder + "/iio:device0/in_accel_mount_matrix"
            XCTAssertEqual(error as? IIOError, .malformed(path: path, text: "1, 0; 0, 1"))
        }
    }

    func testTheAccelerometerInTheScreenIsPreferred() throws {
        let devices = try FakeDevices(self)
        try devices.write(FakeDevices.accelerometer.merging(["label": "accel-base"]) { $1 })
        try devices.write(FakeDevices.accelerometer.merging(["label": "accel-display"]) { $1 }, to: "iio:device1")
        XCTAssertEqual(try sensors(devices)[.acceleration]?.device.path, devices.folder + "/iio:device1")
        try devices.remove("iio:device1")
        XCTAssertEqual(try sensors(devices)[.acceleration]?.device.path, devices.folder + "/iio:device0")
    }

    func testDevicesAreSearchedInTheOrderOfTheirNumbers() throws {
        let devices = try FakeDevices(self)
        for number in [10, 9] { try devices.write(FakeDevices.accelerometer, to: "iio:device\(number)") }
        XCTAssertEqual(try sensors(devices)[.acceleration]?.device.path, devices.folder + "/iio:device9")
    }

    func testTheErrorForAMissingSensorNamesTheFolder() throws {
        let devices = try FakeDevices(self)
        XCTAssertThrowsError(try IIOSensor.all(in: devices.root)) {
            XCTAssertEqual($0 as? IIOError, .noDevice(folder: devices.folder))
        }
        try devices.write(["name": "adc", "in_voltage0_raw": "7"])
        XCTAssertThrowsError(try IIOSensor.all(in: devices.root)) {
            XCTAssertEqual($0 as? IIOError, .noDevice(folder: devices.folder))
        }
        let nowhere = SysfsFolder(path: devices.folder + "/nowhere")
        XCTAssertThrowsError(try IIOSensor.all(in: nowhere)) {
            XCTAssertEqual($0 as? IIOError, .noDevice(folder: nowhere.path))
        }
    }

    func testANonNumericValueIsAnError() throws {
        let devices = try FakeDevices(self)
        try devices.write(FakeDevices.barometer)
        let sensor = try XCTUnwrap(sensors(devices)[.pressure])
        try devices.write(["in_pressure_input": "high"])
        XCTAssertThrowsError(try sensor.read()) { error in
            let path = devices.folder + "/iio:device0/in_pressure_input"
            XCTAssertEqual(error as? IIOError, .malformed(path: path, text: "high"))
        }
    }
}

final class IIOErrorTests: XCTestCase {
    /// A missing permission has its own error.
    func testSystemErrorsAreMappedToTheirMeaning() {
        XCTAssertEqual(IIOError("open", "f", number: EACCES), .permissionDenied(path: "f"))
        XCTAssertEqual(IIOError("open", "f", number: EPERM), .permissionDenied(path: "f"))
        XCTAssertEqual(IIOError("read", "f", number: EBUSY), .busy(path: "f"))
        XCTAssertEqual(IIOError("read", "f", number: ENODEV), .vanished(path: "f"))
        XCTAssertEqual(IIOError("open", "f", number: ENOENT), .vanished(path: "f"))
        XCTAssertEqual(IIOError("read", "f", number: EIO), .system(call: "read", path: "f", number: EIO))
    }

    func testEachErrorSaysWhatToDo() {
        let texts: [(IIOError, String)] = [
            (.noDevice(folder: "/sys"), "load the sensor's driver"), (.permissionDenied(path: "/f"), "udev rule"),
            (.busy(path: "/f"), "iio-sensor-proxy"), (.busy(path: "/f"), "write 0 to the device's buffer/enable"),
            (.vanished(path: "/f"), "unplugged"),
            (.malformed(path: "/f", text: "x"), "report it"),
            (.system(call: "read", path: "/f", number: EIO), "read of /f failed: Input/output error (error 5)."),
        ]
        for (error, text) in texts { XCTAssertTrue("\(error)".contains(text), "\(error)") }
    }
}

final class MotionAssemblerTests: XCTestCase {
    private func vector(_ x: Double) -> Vector3 { Vector3(x: x, y: 0, z: 0) }
    private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

    func testTheAccelerometerLeadsAndTheRotationRateIsAveraged() throws {
        var assembler = MotionAssembler([.acceleration, .rotation, .magnetism])
        XCTAssertNil(assembler.add(.rotation, vector(1), at: at(0)))
        XCTAssertNil(assembler.add(.rotation, vector(3), at: at(5)))
        XCTAssertNil(assembler.add(.magnetism, vector(50), at: at(5)))
        let first = assembler.add(.acceleration, vector(9), at: at(10))
        XCTAssertEqual(
            first,
            .motion(
                MotionSample(
                    instant: at(10), acceleration: vector(9), rotationRate: vector(2), magneticField: vector(50))),
            "the mean rotation rate since the last sample")
        let second = assembler.add(.acceleration, vector(8), at: at(20))
        XCTAssertEqual(
            second, .motion(MotionSample(instant: at(20), acceleration: vector(8), rotationRate: vector(3))),
            "the latest rate if there is no newer one, and each field only once")
        let late = assembler.add(.acceleration, vector(8), at: at(206))
        XCTAssertEqual(late, .motion(MotionSample(instant: at(206), acceleration: vector(8))), "the rate is too old")
    }

    func testTheRatesDoNotGrowWhileTheAccelerometerIsSilent() throws {
        var assembler = MotionAssembler([.acceleration, .rotation])
        for tick in 0..<10_000 {
            let rate = Vector3(x: tick < 8_000 ? 1 : 5, y: 0, z: 0)
            XCTAssertNil(assembler.add(.rotation, rate, at: Instant(nanoseconds: Int64(tick) * 5_000_000)))
        }
        let reading = assembler.add(.acceleration, Vector3(x: 0, y: 0, z: 9.8), at: Instant(seconds: 50))
        guard case .motion(let sample)? = reading else { return XCTFail("\(String(describing: reading))") }
        XCTAssertEqual(try XCTUnwrap(sample.rotationRate).x, 5, accuracy: 1e-9, "the old rates are in the mean")
    }

    func testTheNextSensorLeadsWithoutAnAccelerometer() {
        var gyroscope = MotionAssembler([.rotation, .magnetism])
        XCTAssertNil(gyroscope.add(.magnetism, vector(5), at: at(0)))
        XCTAssertEqual(
            gyroscope.add(.rotation, vector(1), at: at(1)),
            .motion(MotionSample(instant: at(1), rotationRate: vector(1), magneticField: vector(5))))
        var compass = MotionAssembler([.magnetism, .pressure])
        XCTAssertEqual(
            compass.add(.magnetism, vector(5), at: at(1)),
            .motion(MotionSample(instant: at(1), magneticField: vector(5))))
    }

    func testPressureIsASeparateReadingAndInstantsNeverRunBackwards() {
        var assembler = MotionAssembler([.acceleration, .pressure])
        _ = assembler.add(.acceleration, vector(1), at: at(20))
        XCTAssertEqual(
            assembler.add(.pressure, vector(1013), at: at(15)),
            .pressure(PressureSample(instant: at(20), hectopascals: 1013)))
        XCTAssertEqual(assembler.add(.acceleration, vector(2), at: at(18))?.instant, at(20))
    }

    func testNonFiniteValuesAreIgnored() {
        var assembler = MotionAssembler([.acceleration])
        XCTAssertNil(assembler.add(.acceleration, Vector3(x: .nan, y: 0, z: 0), at: at(1)))
        XCTAssertNil(assembler.add(.pressure, vector(.infinity), at: at(1)))
    }
}

/// A tree of files in the form of sysfs under `/sys/bus/iio/devices`, and a folder of device nodes.
///
/// Debian's kernels don't contain the kernel's dummy device, `iio_dummy`, because it needs CONFIG_IIO_SW_DEVICE.
struct FakeDevices {
    let folder: String
    let nodes: String

    init(_ test: XCTestCase) throws {
        let path = NSTemporaryDirectory() + "iio-\(UUID().uuidString)"
        folder = path + "/devices"
        nodes = path + "/dev"
        for each in [folder, nodes] {
            try FileManager.default.createDirectory(atPath: each, withIntermediateDirectories: true)
        }
        test.addTeardownBlock { try FileManager.default.removeItem(atPath: path) }
    }

    var root: SysfsFolder { SysfsFolder(path: folder) }

    func source(rate: Double = 200, usesBuffers: Bool = false) -> IIOSource {
        IIOSource(rate: rate, usesBuffers: usesBuffers, devices: folder, nodes: nodes)
    }

    /// Writes attributes of a device, and replaces existing ones.
    func write(_ attributes: [String: String], to device: String = "iio:device0") throws {
        for (name, text) in attributes {
            let path = "\(folder)/\(device)/\(name)"
            let parent = URL(filePath: path).deletingLastPathComponent().path
            try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
            // A line with its end, as the kernel writes it. Not atomically, which would replace the file.
            try Data((text + "\n").utf8).write(to: URL(filePath: path))
        }
    }

    /// Writes an attribute of the same length in one step, so that a source never reads a part of it.
    func overwrite(_ name: String, with text: String, of device: String = "iio:device0") throws {
        let file = try FileHandle(forUpdating: URL(filePath: "\(folder)/\(device)/\(name)"))
        try file.write(contentsOf: Data((text + "\n").utf8))
        try file.close()
    }

    func read(_ name: String, of device: String = "iio:device0") throws -> String {
        try root.folder(device).text(name)
    }

    func remove(_ device: String = "iio:device0") throws {
        try FileManager.default.removeItem(atPath: "\(folder)/\(device)")
    }
}

extension FakeDevices {
    /// A 16-bit accelerometer with a range of 4 g, in the form of the driver for ST chips, lying on its back.
    static let accelerometer = [
        "name": "lis3dh", "in_accel_x_raw": "-100", "in_accel_y_raw": "200", "in_accel_z_raw": "8190",
        "in_accel_scale": "0.001197", "in_accel_x_offset": "10",
    ]
    static let gyroscope = [
        "name": "l3g4200d", "in_anglvel_x_raw": "1", "in_anglvel_y_raw": "-2", "in_anglvel_z_raw": "1000",
        "in_anglvel_scale": "0.000152",
    ]
    static let magnetometer = [
        "name": "hmc5883l", "in_magn_x_raw": "200", "in_magn_y_raw": "0", "in_magn_z_raw": "-400",
        "in_magn_scale": "0.001",
    ]
    static let barometer = ["name": "bmp280", "in_pressure_input": "101.325000", "in_temp_input": "21500"]

    /// The attributes of a buffer with a trigger, in addition to the channels of an accelerometer.
    static let buffer = [
        "scan_elements/in_accel_x_en": "0", "scan_elements/in_accel_x_index": "0",
        "scan_elements/in_accel_x_type": "le:s16/16>>0", "scan_elements/in_accel_y_en": "0",
        "scan_elements/in_accel_y_index": "1", "scan_elements/in_accel_y_type": "le:s16/16>>0",
        "scan_elements/in_accel_z_en": "0", "scan_elements/in_accel_z_index": "2",
        "scan_elements/in_accel_z_type": "le:s16/16>>0", "scan_elements/in_temp_en": "1",
        "scan_elements/in_temp_index": "3", "scan_elements/in_temp_type": "be:u12/16>>4",
        "scan_elements/in_timestamp_en": "0", "scan_elements/in_timestamp_index": "4",
        "scan_elements/in_timestamp_type": "le:s64/64>>0", "buffer/enable": "0", "buffer/length": "2",
        "trigger/current_trigger": "", "current_timestamp_clock": "realtime", "sampling_frequency": "10",
        "sampling_frequency_available": "1 10 25 50 100 200 400",
    ]
}
