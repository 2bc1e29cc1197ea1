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
