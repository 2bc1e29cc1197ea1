import IndoorLocalization
import XCTest

@testable import IIOReceiving

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
            (.busy(path: "/f"), "iio-sensor-proxy"), (.vanished(path: "/f"), "unplugged"),
            (.malformed(path: "/f", text: "x"), "report it"),
            (.system(call: "read", path: "/f", number: EIO), "read of /f failed: Input/output error (error 5)."),
        ]
        for (error, text) in texts { XCTAssertTrue("\(error)".contains(text), "\(error)") }
    }
}
