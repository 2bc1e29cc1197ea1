import Glibc
import IndoorVocabulary

/// An error of the reception of sensor data from Linux's Industrial I/O.
public enum IIOError: Error, Hashable, Sendable {
    /// The folder has no accelerometer, gyroscope, magnetometer or barometer, or does not exist.
    case noDevice(folder: String)
    /// This process has no permission to read a file.
    case permissionDenied(path: String)
    /// Another program reads the device's buffer, so single values aren't readable.
    case busy(path: String)
    /// A device disappeared.
    case vanished(path: String)
    /// The content of a file differs from the kernel's documentation.
    case malformed(path: String, text: String)
    /// A system call on a file failed with this error number.
    case system(call: String, path: String, number: Int32)
}

extension IIOError: ClassifiedError {
    public var kind: LocalizationError.Kind {
        switch self {
        case .noDevice, .busy, .vanished, .system: .sensorFailed
        case .permissionDenied: .permissionDenied
        case .malformed: .badResponse
        }
    }

    public var status: LocalizationError.Status? {
        if case .system(_, _, let number) = self { .system(number) } else { nil }
    }
}

extension IIOError: CustomStringConvertible {
    /// A sentence that describes the error and a remedy.
    public var description: String {
        switch self {
        case .noDevice(let folder):
            "\(folder) has no accelerometer, gyroscope, magnetometer or barometer: load the sensor's driver, or remove "
                + "the inertial source."
        case .permissionDenied(let path):
            "\(path) is not readable: change its mode or group with a udev rule, or run as a user with read permission."
        case .busy(let path):
            "\(path) is busy: another program, such as iio-sensor-proxy, reads the device's buffer. Stop that program."
        case .vanished(let path):
            "\(path) disappeared: the sensor was unplugged, or its driver unloaded."
        case .malformed(let path, let text):
            "\(path) contains \"\(text)\", which differs from the kernel's documentation: report it with the name of "
                + "the driver."
        case .system(let call, let path, let number):
            "\(call) of \(path) failed: \(Self.text(ofSystemError: number)) (error \(number))."
        }
    }

    private static func text(ofSystemError number: Int32) -> String {
        guard let text = strerror(number) else { return "unknown error" }
        return String(cString: text)
    }

    /// Creates the error for a failed system call on a file of a device.
    init(_ call: String, _ path: String, number: Int32) {
        self =
            switch number {
            case EACCES, EPERM: .permissionDenied(path: path)
            case EBUSY: .busy(path: path)
            case ENOENT, ENODEV, ENXIO: .vanished(path: path)
            default: .system(call: call, path: path, number: number)
            }
    }
}
