import IndoorVocabulary

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
