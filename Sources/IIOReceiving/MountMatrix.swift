import IndoorVocabulary

/// How a sensor is built into a device: three rows by which its frame becomes the device's.
struct MountMatrix: Hashable, Sendable {
    /// Nine numbers, row by row.
    private let elements: [Double]

    static let identity = MountMatrix(elements: [1, 0, 0, 0, 1, 0, 0, 0, 1])

    private init(elements: [Double]) { self.elements = elements }

    /// Reads `1, 0, 0; 0, 1, 0; 0, 0, 1`; nil for anything else.
    init?(_ text: String) {
        let numbers = text.split { ",; \t".contains($0) }.map { Double($0) }
        let elements = numbers.compactMap { $0 }.filter(\.isFinite)
        guard numbers.count == 9, elements.count == 9 else { return nil }
        self.elements = elements
    }

    /// Finds the matrix of a sensor: its own, or that of the device; nil without one.
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
