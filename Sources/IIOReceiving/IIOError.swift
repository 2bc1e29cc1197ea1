import Glibc
import IndoorVocabulary

/// The reason that no sensor data comes from Linux's Industrial I/O.
public enum IIOError: Error, Hashable, Sendable {
    /// The folder has no accelerometer, gyroscope, magnetometer or barometer, or does not exist.
    case noDevice(folder: String)
    /// A file may not be read.
    case permissionDenied(path: String)
    /// Another program reads the device's buffer, so that single values cannot be read.
    case busy(path: String)
    /// A device was there and is gone.
    case vanished(path: String)
    /// A file holds something else than the kernel documents.
    case malformed(path: String, text: String)
    /// A system call failed, with its name and the error's number.
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
    /// What was wrong, and what to do about it.
    public var description: String {
        switch self {
        case .noDevice(let folder):
            "\(folder) has no accelerometer, gyroscope, magnetometer or barometer: load the sensor's driver, or leave the "
                + "inertial source out."
        case .permissionDenied(let path):
            "\(path) may not be read: change its mode or group by a udev rule, or run as a user that may read it."
        case .busy(let path):
            "\(path) is busy: another program, such as iio-sensor-proxy, reads the device's buffer; stop that program."
        case .vanished(let path):
            "\(path) is gone: the sensor was unplugged, or its driver unloaded."
        case .malformed(let path, let text):
            "\(path) holds \"\(text)\", which is not what the kernel's documentation describes: report it with the driver's "
                + "name."
        case .system(let call, let path, let number):
            "\(call) of \(path) failed: \(Self.text(ofSystemError: number)) (error \(number))."
        }
    }

    private static func text(ofSystemError number: Int32) -> String {
        guard let text = strerror(number) else { return "unknown error" }
        return String(cString: text)
    }

    /// The error of a failed system call on a file of a device that was there.
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
