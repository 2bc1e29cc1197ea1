import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest
@testable import IIOReceiving

/// A buffer whose node is a pipe.
final class IIOBufferTests: XCTestCase {
    /// Adds an accelerometer with a buffer and its own trigger, and returns a handle that writes to the node.
    private func accelerometer(_ devices: FakeDevices) throws -> FileHandle {
        try devices.write(FakeDevices.accelerometer)
        try devices.write(FakeDevices.buffer)
        try devices.write(["name": "other-dev1"], to: "trigger0")
        try devices.write(["name": "lis3dh-dev0"], to: "trigger1")
        let node = devices.nodes + "/iio:device0"
        guard mkfifo(node, 0o600) == 0 else { throw CocoaError(.fileWriteUnknown) }
        // For both directions, so that opening doesn't block.
        let descriptor = open(node, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Returns a scan: three axes, two padding bytes, and the timestamp.
    private func scan(_ x: Int16, _ y: Int16, _ z: Int16, at instant: Instant) -> Data {
        var data = Data()
        for axis in [x, y, z, 0] { withUnsafeBytes(of: axis.littleEndian) { data.append(contentsOf: $0) } }
        withUnsafeBytes(of: instant.nanoseconds.littleEndian) { data.append(contentsOf: $0) }
        return data
    }

    private func sensors(_ devices: FakeDevices) throws -> [IIOSensor] { try IIOSensor.all(in: devices.root) }

    private func buffer(_ devices: FakeDevices, rate: Double = 50) throws -> IIOBuffer? {
        IIOBuffer(try sensors(devices), among: devices.root, nodes: devices.nodes, rate: rate)
    }

    func testABufferIsSetUpAndRestoredAfterwards() throws {
        let devices = try FakeDevices(self)
        let writer = try accelerometer(devices)
        var buffer = try buffer(devices, rate: 30)
        XCTAssertNotNil(buffer)
        let set = [
            "scan_elements/in_accel_x_en": "1", "scan_elements/in_timestamp_en": "1", "scan_elements/in_temp_en": "0",
            "buffer/enable": "1", "buffer/length": "256", "trigger/current_trigger": "lis3dh-dev0",
            "current_timestamp_clock": "boottime", "sampling_frequency": "50",
        ]
        for (name, text) in set { XCTAssertEqual(try devices.read(name), text, name) }
        buffer = nil
        for name in set.keys { XCTAssertEqual(try devices.read(name), FakeDevices.buffer[name], name) }
        try writer.close()
    }

    func testScansAreReadWithTheirTimesEvenInPieces() throws {
        let devices = try FakeDevices(self)
        let writer = try accelerometer(devices)
        let buffer = try XCTUnwrap(try buffer(devices))
        let now = BootTime.now
        let (early, late) = (now.advanced(by: .milliseconds(-20)), now.advanced(by: .milliseconds(-10)))
        let scans = scan(-10, 0, 8190, at: early) + scan(0, 100, 0, at: late)
        try writer.write(contentsOf: scans.prefix(20))
        let first = try buffer.values(now: now)
        XCTAssertEqual(first.map(\.instant), [early])
        XCTAssertEqual(first[0].value.x, 0, accuracy: 1e-9, "the offset is 10")
        XCTAssertEqual(first[0].value.z, 9.80343, accuracy: 1e-5)
        try writer.write(contentsOf: scans.dropFirst(20))
        let second = try buffer.values(now: now)
        XCTAssertEqual(second.map(\.instant), [late])
        XCTAssertEqual(second[0].value.y, 0.1197, accuracy: 1e-9)
        XCTAssertTrue(try buffer.values(now: now).isEmpty)
    }

    func testATimestampOfAnotherClockIsIgnored() throws {
        let devices = try FakeDevices(self)
        let writer = try accelerometer(devices)
        let buffer = try XCTUnwrap(try buffer(devices))
        let now = BootTime.now
        try writer.write(contentsOf: scan(0, 0, 0, at: now.advanced(by: .seconds(-3600))))
        try writer.write(contentsOf: scan(0, 0, 0, at: now.advanced(by: .seconds(1))))
        XCTAssertEqual(
            try buffer.values(now: now).map(\.instant), [now, now],
            "timestamps an hour ago and in the future are ignored")
    }

    func testADeviceWithoutATriggerIsPolled() throws {
        let devices = try FakeDevices(self)
        let writer = try accelerometer(devices)
        try devices.write(["name": "other-dev2"], to: "trigger1")
        XCTAssertNil(try buffer(devices))
        XCTAssertEqual(try devices.read("buffer/enable"), "0")
        try writer.close()
    }

    func testABufferOfAnotherProgramIsNotChanged() throws {
        let devices = try FakeDevices(self)
        let writer = try accelerometer(devices)
        try devices.write(["buffer/enable": "1"])
        XCTAssertNil(try buffer(devices))
        XCTAssertEqual(try devices.read("buffer/length"), "2")
        try writer.close()
    }

    func testTheDeviceIsRestoredIfItsNodeIsMissing() throws {
        let devices = try FakeDevices(self)
        let writer = try accelerometer(devices)
        try FileManager.default.removeItem(atPath: devices.nodes + "/iio:device0")
        XCTAssertNil(try buffer(devices))
        for (name, text) in FakeDevices.buffer { XCTAssertEqual(try devices.read(name), text, name) }
        try writer.close()
    }

    func testTheSourceReadsTheBufferAndPollsTheRest() async throws {
        let devices = try FakeDevices(self)
        let writer = try accelerometer(devices)
        try devices.write(FakeDevices.barometer, to: "iio:device1")
        let stamp = BootTime.now
        try writer.write(contentsOf: scan(0, 0, 8190, at: stamp))
        let readings = try await Bounded.wait(for: "a sample and a pressure") {
            var readings: [SensorReading] = []
            for try await reading in devices.source(rate: 50, usesBuffers: true).readings() {
                readings.append(reading)
                let hasMotion = readings.contains { if case .motion = $0 { true } else { false } }
                let hasPressure = readings.contains { if case .pressure = $0 { true } else { false } }
                if hasMotion, hasPressure { break }
            }
            return readings
        }
        let samples = readings.compactMap { if case .motion(let sample) = $0 { sample } else { nil } }
        XCTAssertEqual(samples.count, 1, "one sample for each scan, regardless of polling")
        XCTAssertEqual(samples.first?.acceleration?.z ?? 0, 9.80343, accuracy: 1e-5)
        // The source releases the buffer soon after the stream ends.
        try await Bounded.poll(for: "the end of the buffer") { try devices.read("buffer/enable") == "0" }
        try writer.close()
    }

    /// Such as that of a session that starts right after the last one, or with other settings.
    func testAStreamThatBeginsBeforeTheEndOfAnotherOneGetsTheBuffer() async throws {
        let devices = try FakeDevices(self)
        let writer = try accelerometer(devices)
        let first = devices.source(rate: 50, usesBuffers: true).readings()
        let reader = Task { for try await _ in first {} }
        try await Bounded.poll(for: "the first buffer") { try devices.read("buffer/enable") == "1" }
        var source = devices.source(rate: 100, usesBuffers: true)
        source.turnLimit = Bounded.longest
        let second = source.readings()
        // Many more turns than a stream needs that doesn't wait, and finds the buffer on.
        for _ in 0..<1_000 {
            _ = try devices.read("buffer/enable")
            await Task.yield()
        }
        reader.cancel()
        try await Bounded.poll(for: "the second buffer") {
            try [devices.read("sampling_frequency"), devices.read("buffer/enable")] == ["100", "1"]
        }
        try writer.write(contentsOf: scan(0, 0, 4095, at: BootTime.now))
        let reading = try await Bounded.wait(for: "a sample") { try await second.first { _ in true } }
        guard case .motion(let sample)? = reading else { return XCTFail("\(String(describing: reading))") }
        XCTAssertEqual(sample.acceleration?.z ?? 0, 4.90171, accuracy: 1e-4, "the scan, not a polled value")
        try writer.close()
    }

    func testAStreamThatGetsNoTurnPollsTheSensors() async throws {
        let devices = try FakeDevices(self)
        let writer = try accelerometer(devices)
        let first = devices.source(rate: 50, usesBuffers: true).readings()
        let reader = Task { for try await _ in first {} }
        try await Bounded.poll(for: "the first buffer") { try devices.read("buffer/enable") == "1" }
        // As at the end of the first stream, which has turned the buffer off, but has not restored the rest yet.
        try devices.write(["buffer/enable": "0"])
        var source = devices.source(rate: 100, usesBuffers: true)
        source.turnLimit = .zero
        let reading = try await Bounded.wait(for: "a polled value") { [source] in
            try await source.readings().first { _ in true }
        }
        XCTAssertNotNil(reading)
        XCTAssertEqual(try [devices.read("buffer/enable"), devices.read("sampling_frequency")], ["0", "50"])
        reader.cancel()
        try writer.close()
    }

    /// A program that exits earlier leaves the buffer on, and the next one finds the sensor busy.
    func testTheBufferIsOffOnceTheSensorsAreReleased() async throws {
        let devices = try FakeDevices(self)
        let writer = try accelerometer(devices)
        try writer.write(contentsOf: scan(0, 0, 8190, at: BootTime.now))
        try await Bounded.wait(for: "a sample") {
            for try await _ in devices.source(rate: 50, usesBuffers: true).readings() { break }
        }
        try await Bounded.wait(for: "the release of the sensors") { await IIOSource.released() }
        for (name, text) in FakeDevices.buffer { XCTAssertEqual(try devices.read(name), text, name) }
        try writer.close()
    }
}

/// The decoding of a buffer's bytes.
final class IIOScanLayoutTests: XCTestCase {
    private func value(_ type: String, _ bytes: [UInt8]) throws -> Int64 {
        try XCTUnwrap(IIOScanElement(channel: "c", index: 0, type: type), type).value(of: bytes[...])
    }

    func testElementsOfAllKindsAreDecoded() throws {
        XCTAssertEqual(try value("le:s16/16>>0", [0xFE, 0xFF]), -2)
        XCTAssertEqual(try value("be:s16/16>>0", [0xFF, 0xFE]), -2)
        XCTAssertEqual(try value("le:u16/16>>0", [0xFE, 0xFF]), 65534)
        XCTAssertEqual(try value("be:s12/16>>4", [0x80, 0x0F]), -2048, "the shifted bits don't belong to the value")
        XCTAssertEqual(try value("be:u12/16>>4", [0x80, 0x0F]), 2048)
        XCTAssertEqual(try value("le:s24/32>>8", [0xAA, 0xFF, 0xFF, 0xFF]), -1)
        XCTAssertEqual(try value("le:s64/64>>0", [1, 0, 0, 0, 0, 0, 0, 0x80]), .min + 1)
        XCTAssertEqual(try value("le:u8/8X1>>0", [200]), 200)
    }

    func testInvalidTypesAreRefused() {
        for type in ["", "le:s16/16", "xx:s16/16>>0", "le:s16/12>>0", "le:s17/16>>0", "le:s16/16>>1", "le:s16/16X3>>0"]
        {
            XCTAssertNil(IIOScanElement(channel: "c", index: 0, type: type), type)
        }
    }

    func testElementsAreAlignedToTheirSizeInTheOrderOfTheirIndexes() throws {
        let time = try XCTUnwrap(IIOScanElement(channel: "t", index: 3, type: "le:s64/64>>0"))
        let short = try XCTUnwrap(IIOScanElement(channel: "x", index: 0, type: "le:s16/16>>0"))
        let long = try XCTUnwrap(IIOScanElement(channel: "y", index: 1, type: "le:s32/32>>0"))
        let layout = IIOScanLayout([time, short, long])
        XCTAssertEqual(layout.size, 16)
        let scan: [UInt8] = [9, 1, 0, 0xEE, 0xEE, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]
        XCTAssertEqual(layout.values(of: scan[1...]), ["x": 1, "y": 2, "t": 3], "also in a slice")
        let first = try XCTUnwrap(IIOScanElement(channel: "z", index: 0, type: "le:s32/32>>0"))
        let second = try XCTUnwrap(IIOScanElement(channel: "x", index: 1, type: "le:s16/16>>0"))
        XCTAssertEqual(
            IIOScanLayout([first, second]).size, 8, "the size of a scan is a multiple of its longest element")
    }
}
