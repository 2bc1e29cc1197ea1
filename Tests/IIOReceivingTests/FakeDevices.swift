import Foundation
import IndoorLocalization
import XCTest

@testable import IIOReceiving

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
