import Glibc
import IndoorVocabulary

/// One sensor of an Industrial I/O device, with its channels and the conversion of their raw values.
///
/// A value is (raw + offset) × scale: acceleration in m/s², angular velocity in rad/s, magnetic field in gauss,
/// pressure in kilopascal. A mount matrix rotates the sensor's frame to the device's. Source: the Linux kernel,
/// Documentation/ABI/testing/sysfs-bus-iio.
struct IIOSensor: Hashable, Sendable {
    /// The quantity that a sensor measures.
    enum Kind: String, Hashable, Sendable, CaseIterable {
        case acceleration = "accel"
        case rotation = "anglvel"
        case magnetism = "magn"
        case pressure = "pressure"

        /// The factor from the kernel's unit to the package's: 100 µT for a gauss, 10 hPa for a kilopascal.
        var unit: Double {
            switch self {
            case .acceleration, .rotation: 1
            case .magnetism: 100
            case .pressure: 10
            }
        }
    }

    let kind: Kind
    /// The folder of the device, such as `/sys/bus/iio/devices/iio:device0`.
    let device: SysfsFolder
    /// The channels, such as `in_accel_x`: three, or one for pressure.
    let channels: [String]
    /// Whether the files contain values in units (`in_pressure_input`) instead of raw values.
    let isProcessed: Bool
    private let offsets: [Double]
    private let scales: [Double]
    private let mounting: MountMatrix

    /// Finds the sensor of a kind in a device; returns nil if the device has none.
    init?(_ kind: Kind, of device: SysfsFolder) throws(IIOError) {
        let names = device.names
        let prefix = "in_" + kind.rawValue
        let candidates: [[String]] =
            kind == .pressure
            ? names.filter { $0.hasPrefix(prefix) }.compactMap { name -> [String]? in
                for ending in ["_raw", "_input"] where name.hasSuffix(ending) {
                    return [String(name.dropLast(ending.count))]
                }
                return nil
            }
            : [["x", "y", "z"].map { "\(prefix)_\($0)" }]
        let there = Set(names)
        for ending in ["_raw", "_input"] {
            guard let channels = candidates.first(where: { $0.allSatisfy { there.contains($0 + ending) } }) else {
                continue
            }
            self.kind = kind
            self.device = device
            self.channels = channels
            isProcessed = ending == "_input"
            var (offsets, scales): ([Double], [Double]) = ([], [])
            for channel in channels {
                offsets.append(try device.number(firstOf: [channel + "_offset", prefix + "_offset"]) ?? 0)
                scales.append(try device.number(firstOf: [channel + "_scale", prefix + "_scale"]) ?? 1)
            }
            self.offsets = offsets
            self.scales = scales
            mounting = try MountMatrix(of: device, kind) ?? .identity
            return
        }
        return nil
    }

    /// Reads the sensor without its buffer.
    func read() throws(IIOError) -> Vector3 {
        var values: [Double] = []
        for channel in channels { values.append(try device.number(channel + (isProcessed ? "_input" : "_raw"))) }
        return value(of: values)
    }

    /// Converts raw numbers to the package's units and the device's frame. Pressure is the x component.
    func value(of raw: [Double]) -> Vector3 {
        let values = raw.indices.map { index in
            (isProcessed ? raw[index] : (raw[index] + offsets[index]) * scales[index]) * kind.unit
        }
        guard values.count == 3 else { return Vector3(x: values.first ?? 0, y: 0, z: 0) }
        return mounting.turn(Vector3(x: values[0], y: values[1], z: values[2]))
    }
}

extension IIOSensor {
    /// Returns the sensors of all devices, one of each kind: the first that isn't in the base of a laptop, if there is
    /// one.
    static func all(in folder: SysfsFolder) throws(IIOError) -> [IIOSensor] {
        let devices = folder.names.compactMap { name -> (number: Int, name: String)? in
            guard name.hasPrefix("iio:device") else { return nil }
            return Int(name.dropFirst("iio:device".count)).map { ($0, name) }
        }.sorted { $0.number < $1.number }.map { folder.folder($0.name) }
        var found: [IIOSensor] = []
        for kind in Kind.allCases {
            var second: IIOSensor?
            var first: IIOSensor?
            for device in devices where first == nil {
                guard let sensor = try IIOSensor(kind, of: device) else { continue }
                if try isInBase(device) { second = second ?? sensor } else { first = sensor }
            }
            if let sensor = first ?? second { found.append(sensor) }
        }
        if found.isEmpty { throw .noDevice(folder: folder.path) }
        return found
    }

    /// Returns whether the device is in the base of a laptop, under the keyboard, where its orientation differs from
    /// the screen's.
    private static func isInBase(_ device: SysfsFolder) throws(IIOError) -> Bool {
        for name in ["label", "location"] {
            if let place = try device.optionalText(name) { return place.hasSuffix("base") }
        }
        return false
    }
}

/// The orientation of a sensor in a device: a rotation from the sensor's frame to the device's.
struct MountMatrix: Hashable, Sendable {
    /// The nine elements in row order.
    private let elements: [Double]

    static let identity = MountMatrix(elements: [1, 0, 0, 0, 1, 0, 0, 0, 1])

    private init(elements: [Double]) { self.elements = elements }

    /// Parses a matrix such as `1, 0, 0; 0, 1, 0; 0, 0, 1`; returns nil for any other form.
    init?(_ text: String) {
        let numbers = text.split { ",; \t".contains($0) }.map { Double($0) }
        let elements = numbers.compactMap { $0 }.filter(\.isFinite)
        guard numbers.count == 9, elements.count == 9 else { return nil }
        self.elements = elements
    }

    /// Finds the matrix of a sensor: its own, or otherwise that of the device. Returns nil if there is none.
    init?(of device: SysfsFolder, _ kind: IIOSensor.Kind) throws(IIOError) {
        for name in ["in_\(kind.rawValue)_mount_matrix", "in_mount_matrix", "mount_matrix"] {
            guard let text = try device.optionalText(name) else { continue }
            guard let matrix = MountMatrix(text) else {
                throw .malformed(path: device.path + "/" + name, text: text)
            }
            self = matrix
            return
        }
        return nil
    }

    func turn(_ vector: Vector3) -> Vector3 {
        func row(_ first: Int) -> Double {
            elements[first] * vector.x + elements[first + 1] * vector.y + elements[first + 2] * vector.z
        }
        return Vector3(x: row(0), y: row(3), z: row(6))
    }
}

/// A folder of sysfs, in which each file contains one attribute as text.
struct SysfsFolder: Hashable, Sendable {
    let path: String

    /// The largest size of an attribute in bytes: one page.
    private static let longest = 4096

    func folder(_ name: String) -> SysfsFolder { SysfsFolder(path: path + "/" + name) }

    /// Returns whether the folder contains a file or folder with this name.
    func has(_ name: String) -> Bool { access(path + "/" + name, F_OK) == 0 }

    /// The names of all files and folders in alphabetical order; empty if the folder isn't readable.
    var names: [String] {
        guard let stream = opendir(path) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: tuple.pointee)) {
                    String(cString: $0)
                }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Returns the text of an attribute without surrounding whitespace.
    func text(_ name: String) throws(IIOError) -> String {
        let file = path + "/" + name
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw IIOError("open", file, number: errno) }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Self.longest)
        let count = read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw IIOError("read", file, number: errno) }
        var text = Substring(String(decoding: bytes.prefix(count), as: UTF8.self))
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text.drop { $0.isWhitespace })
    }

    /// Returns the text of an optional attribute; nil if the device doesn't have it.
    func optionalText(_ name: String) throws(IIOError) -> String? { has(name) ? try text(name) : nil }

    /// Returns the number in an attribute.
    func number(_ name: String) throws(IIOError) -> Double {
        let text = try text(name)
        guard let number = Double(text), number.isFinite else {
            throw .malformed(path: path + "/" + name, text: text)
        }
        return number
    }

    /// Returns the number in the first of several attributes that the device has; nil if it has none.
    func number(firstOf names: [String]) throws(IIOError) -> Double? {
        for name in names where has(name) { return try number(name) }
        return nil
    }

    /// Sets an attribute.
    func write(_ text: String, to name: String) throws(IIOError) {
        let file = path + "/" + name
        let descriptor = open(file, O_WRONLY | O_TRUNC | O_CLOEXEC)
        guard descriptor >= 0 else { throw IIOError("open", file, number: errno) }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw IIOError("write", file, number: errno)
        }
    }
}
