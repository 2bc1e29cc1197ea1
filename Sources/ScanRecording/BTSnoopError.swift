import BeaconScanning
import IndoorVocabulary

/// What is wrong with a Bluetooth capture, where, and what to do about it.
public struct BTSnoopError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was wrong.
    public enum Problem: Error, Hashable, Sendable {
        /// The file could not be opened, read or unpacked; the text is the system's reason.
        case unreadable(String)
        /// The file could not be created or written; the text is the system's reason.
        case unwritable(String)
        /// The file does not begin as a capture does.
        case notACapture
        /// The file is of another version of the format than 1.
        case unsupportedVersion(UInt32)
        /// The packets are laid out in a way that this package doesn't read.
        case unsupportedDatalink(UInt32)
        /// The file ends within the header or a record; lengths in bytes.
        case cutOff(expected: Int, found: Int)
        /// A record says that it has more bytes than any packet can have.
        case recordTooLong(Int, limit: Int)
        /// A record says that it holds more of its packet than the packet had; lengths in bytes.
        case moreThanOriginal(included: Int, original: Int)
        /// An event with advertisements is malformed.
        case malformedEvent(AdvertisingReportError)
        /// The record is earlier than the one before it; both in seconds since the first record.
        case timeWentBackwards(from: Double, to: Double)
        /// The record is more than 292 years away from the first one, or from what the format can hold.
        case timeOutOfRange
        /// An RSSI in dBm that is no measurement.
        case notAMeasurement(rssi: Double)
        /// Advertising data of that many bytes are longer than Bluetooth allows.
        case tooMuchData(Int, limit: Int)
        /// A sighting has no place in advertising data.
        case unencodable(BeaconFrame.EncodingError)
    }

    /// Path of the file.
    public var file: String
    /// Where in the file, unpacked, the record or header begins; nil if the file as a whole is meant.
    public var offset: Int64?
    /// What was wrong.
    public var problem: Problem

    /// Creates an error.
    public init(file: String, offset: Int64? = nil, problem: Problem) {
        self.file = file
        self.offset = offset
        self.problem = problem
    }

    /// File and byte, what was wrong and what to do, in one line.
    public var description: String { "\(finding). \(problem.remedy)." }

    /// The same without what to do, for whoever did that already.
    package var finding: String {
        let place = offset.map { "\(file): record at byte \($0)" } ?? file
        return "\(place) \(problem.text)"
    }
}

extension BTSnoopError: ClassifiedError {
    public var kind: LocalizationError.Kind {
        switch problem {
        case .unreadable, .unwritable: .storage
        case .unsupportedVersion: .versionMismatch
        case .unsupportedDatalink: .notSupported
        case .notACapture, .cutOff, .recordTooLong, .moreThanOriginal, .malformedEvent, .timeWentBackwards,
            .timeOutOfRange, .notAMeasurement, .tooMuchData, .unencodable:
            .badResponse
        }
    }
}

extension BTSnoopError.Problem {
    /// What was wrong, without a full stop.
    var text: String {
        switch self {
        case .unreadable(let reason): "cannot be read: \(reason)"
        case .unwritable(let reason): "cannot be written: \(reason)"
        case .notACapture: "does not begin as a btsnoop capture"
        case .unsupportedVersion(let version): "is version \(version)"
        case .unsupportedDatalink(let number): "has packets of datalink type \(number)"
        case .cutOff(let expected, let found): "needs \(expected) bytes, \(found) are there"
        case .recordTooLong(let length, let limit): "claims \(length) bytes, above \(limit)"
        case .moreThanOriginal(let included, let original):
            "holds \(included) bytes of a packet that had \(original)"
        case .malformedEvent(let error): "holds a malformed event: \(error.description.dropLast())"
        case .timeWentBackwards(let from, let to): "goes back from \(from) s to \(to) s"
        case .timeOutOfRange: "has a time that is out of range"
        case .notAMeasurement(let rssi): "would hold an RSSI of \(rssi) dBm, which is no measurement"
        case .tooMuchData(let count, let limit): "would hold \(count) bytes of advertising data, above \(limit)"
        case .unencodable(let error): "would hold a beacon that cannot be encoded: \(error.description.dropLast())"
        }
    }

    /// What to do, without a full stop.
    var remedy: String {
        switch self {
        case .unreadable: "Check the path, its permissions, and that the file arrived whole"
        case .unwritable: "Check the folder, its permissions, and the free space"
        case .notACapture: "Give a file that `btmon -w` or Wireshark wrote as btsnoop"
        case .unsupportedVersion: "Version 1 is read: capture again with `btmon -w`"
        case .unsupportedDatalink:
            "Read are "
                + BTSnoopDatalink.allCases.map { "\($0.rawValue) (\($0.name))" }.joined(separator: ", ")
                + ": capture again with `btmon -w`"
        case .cutOff: "Read leniently to take what is before it, or copy the file again"
        case .recordTooLong: "The file is damaged from here on: read leniently to take what is before it"
        case .moreThanOriginal: "Read leniently to skip such records"
        case .malformedEvent: "Capture whole packets, or read leniently to skip such records"
        case .timeWentBackwards: "Sort the capture by time, or read leniently to skip such records"
        case .timeOutOfRange: "Correct the clock that stamped it, or read leniently to skip such records"
        case .notAMeasurement: "Leave it out: an RSSI lies within -127 to -1 dBm"
        case .tooMuchData: "Leave it out: no radio can have heard it"
        case .unencodable: "Correct the measured power, or leave it out"
        }
    }
}
